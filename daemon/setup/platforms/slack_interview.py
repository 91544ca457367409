"""The questions about Slack, each with the test of its answer."""

import re
from collections.abc import Callable
from typing import cast

from msgspec.structs import replace

from daemon.config import Secret, SlackConfig
from daemon.config.address import PUBLIC, is_public
from daemon.config.channel_rules import (
    WHERE_APP_TOKEN,
    WHERE_BOT_TOKEN,
    WHERE_SECRET,
    app_token_problem,
    bot_token_problem,
    signing_secret_problem,
)
from daemon.config.config_keys import NAME_RULE, is_name
from daemon.errors import ConfigError
from daemon.printable import printable
from daemon.setup.answers import ACCESS, Access, Flags, Owner, SlackAnswer
from daemon.setup.platforms.slack_api import Me, SlackSaysNo, slack_api
from daemon.setup.platforms.slack_pairing import WAIT_S, greet, wait_for_owner
from daemon.setup.platforms.slack_scopes import missing_of
from daemon.setup.platforms.telegram_pairing import new_code
from daemon.setup.questions import AnswerRefused, Asker, SecretQuestion, address_problem, ask_secret, run
from daemon.setup.setup_files import ConfigPlace, strings
from daemon.wording import Language
from daemon.wording import text as sentence

_MEMBER = re.compile(r"[UW][A-Z0-9]{2,30}")
"""As Slack calls people."""
_APP = re.compile(r"xapp-[0-9]+-(A[A-Z0-9]+)-.*")
"""An app token, which names its app."""
WHERE_MEMBER = "in your Slack profile, open the menu with three dots and choose Copy member ID"

STEPS = """
Slack: create an app from a manifest, which lists its permissions.
`millpond init --slack-manifest` prints the manifest.
  1. Open https://api.slack.com/apps and choose Create New App > From a manifest.
     Choose the workspace, paste the manifest, and choose Create.
  2. Choose Install App > Install to Workspace > Allow. Copy the Bot User OAuth Token, xoxb-…"""
STEP_SOCKET = (
    "  3. Under Basic Information > App-Level Tokens, generate a token with the connections:write scope. Copy the "
    "token, xapp-…"
)
STEP_HTTP = "  3. Copy the Signing Secret from Basic Information > App Credentials."


class SlackInterview:
    """Asks for everything that the configuration needs for Slack. Nothing is written."""

    def __init__(self, asker: Asker, flags: Flags, place: ConfigPlace) -> None:
        self._asker = asker
        self._flags = flags
        self._place = place
        self._me: Me | None = None

    def answer(self, bot: str, language: Language, *, offered: bool) -> SlackAnswer | None:
        """Ask all questions; None if Slack is not to be set up.

        ``offered``: a person is asked although no flag speaks of Slack. Errors as for ``Interview.answers``.
        """
        flags, asker, place = self._flags, self._asker, self._place
        there = list(place.channels("slack", bot))
        channel = flags.slack_channel or (there[0] if there else place.free_channel("slack", bot))
        if not is_name(channel):
            raise AnswerRefused("--slack-channel", channel, NAME_RULE)
        unsaid = not (flags.for_telegram or flags.for_feishu)
        known = bool(place.secret("bot_token", "channels", channel)) and unsaid
        wanted = flags.for_slack or known or (offered and asker.asks)
        if flags.slack is False or not wanted:
            return None
        begun = SlackAnswer(
            channel=channel,
            base_url=self._base_url(channel),
            bot_token=Secret(""),
            app_token=Secret(""),
            signing_secret=Secret(""),
            events_url=self._events_url(channel),
        )
        if asker.asks:
            self._asker.say(STEPS)
            self._asker.say(STEP_HTTP if begun.events_url else STEP_SOCKET)
        with_bot = self._with_bot(begun)
        heard = self._heard(with_bot) if with_bot else None
        return self._with_people(bot, heard, language) if heard else None

    def _base_url(self, channel: str) -> str:
        base_url = self._flags.slack_url or self._place.word("base_url", "channels", channel) or SlackConfig().base_url
        if wrong := address_problem(base_url):
            raise AnswerRefused("--slack-url", "", wrong)
        return base_url

    def _events_url(self, channel: str) -> str:
        url = self._flags.slack_events_url or self._place.word("url", "channels", channel, "events")
        if url == "-":
            return ""
        if url and not is_public(url):
            raise AnswerRefused("--slack-events-url", "", PUBLIC)
        return url

    # Secrets

    def _with_bot(self, answer: SlackAnswer) -> SlackAnswer | None:
        def problem(token: Secret) -> str:
            others = (name for name in self._place.channels("slack") if name != answer.channel)
            other = next((name for name in others if self._place.secret("bot_token", "channels", name) == token), "")
            if other:
                return f"the app is already used by channels.{other}. Choose that channel with --slack-channel {other}"
            return bot_token_problem(token)

        def tried(token: Secret) -> None:
            self._me = me = run(lambda: me_at(answer.base_url, token))
            self._asker.say(f"  The bot is {printable(me.user)} in {printable(me.team)}: {printable(me.url)}")
            if me.scopes and (missing := missing_of(me.scopes)):
                self._asker.say(f"  The app lacks permissions: {', '.join(missing)}.")
                self._asker.say(
                    "  Paste the manifest again (App Manifest in the app's settings), and install the app again."
                )

        token = self._asked(
            SecretQuestion(
                refusal=SlackSaysNo,
                platform="Slack",
                question="Bot token (press Enter to skip Slack)",
                flag="--slack-token",
                given=self._flags.bot_token(),
                known=self._place.secret("bot_token", "channels", answer.channel),
                problem=problem,
                tried=tried,
            )
        )
        if token is None and self._flags.for_slack:
            self._go_without(f"--slack-token is not set: {WHERE_BOT_TOKEN}.")
        me = self._me
        named = replace(answer, name=me.user, link=link_of(me)) if me else answer
        return replace(named, bot_token=token) if token else None

    def _heard(self, answer: SlackAnswer) -> SlackAnswer | None:
        """With the means to receive events: the token for Socket Mode, or the signing secret for an address."""

        def tried(token: Secret) -> None:
            run(lambda: check_socket(answer.base_url, token, self._me))
            self._asker.say("  The app can receive messages over Socket Mode.")

        where = ("channels", answer.channel)
        if answer.events_url:
            secret = self._asked(
                SecretQuestion(
                    refusal=SlackSaysNo,
                    platform="Slack",
                    question="Signing secret",
                    flag="--slack-signing-secret",
                    given=self._flags.signing_secret(),
                    known=self._place.secret("signing_secret", *where),
                    problem=signing_secret_problem,
                    tried=lambda _: None,
                )
            )
            if secret is None:
                self._go_without(f"--slack-signing-secret is not set: {WHERE_SECRET}.")
            return replace(answer, signing_secret=secret) if secret else None
        token = self._asked(
            SecretQuestion(
                refusal=SlackSaysNo,
                platform="Slack",
                question="App token",
                flag="--slack-app-token",
                given=self._flags.app_token(),
                known=self._place.secret("app_token", *where),
                problem=app_token_problem,
                tried=tried,
            )
        )
        if token is None:
            self._go_without(f"--slack-app-token is not set: {WHERE_APP_TOKEN}.")
        return replace(answer, app_token=token) if token else None

    def _go_without(self, text: str) -> None:
        """Lets a person continue; a script gets an error with the missing values."""
        if not self._asker.asks:
            raise ConfigError(text)
        self._asker.say("  Continuing without Slack.")

    def _asked(self, what: SecretQuestion) -> Secret | None:
        return ask_secret(self._asker, what, test=self._flags.test)

    # People

    def _with_people(self, bot: str, answer: SlackAnswer, language: Language) -> SlackAnswer:
        answer = replace(answer, owner=self._owner(bot, answer, language))
        known = self._place.word("policy", "channels", answer.channel, "access")
        usual = {"allow": "private", "open": "open"}.get(known, "pairing")
        access = self._asker.choice("Allowed people on Slack", ACCESS, given=self._flags.access, default=usual)
        return replace(answer, access=cast("Access", access))

    def _owner(self, bot: str, answer: SlackAnswer, language: Language) -> Owner | None:
        flags, asker = self._flags, self._asker
        if flags.slack_owner is not None:
            if wrong := member_problem(flags.slack_owner):
                raise AnswerRefused("--slack-owner", flags.slack_owner, wrong)
            return Owner(id=flags.slack_owner)
        admins = strings(self._place.section("bots", bot).get("admins"))
        there = next((admin for admin in admins if admin.startswith(f"{answer.channel}:")), "")
        if there and flags.pair is None:
            self._asker.say(f"  The bot's owner is {there}.")
            if not asker.confirm("Add another owner", default=False):
                return Owner(id=there.partition(":")[2])
        if flags.pair is False or not (flags.pair or asker.asks):
            return None
        if answer.app_token and self._me is not None:
            return self._paired(answer, self._me, language)
        if not asker.asks:
            raise ConfigError(
                "--pair requires Socket Mode to receive your message. Identify yourself with --slack-owner ID instead."
            )
        question = f"Your member ID ({WHERE_MEMBER}; press Enter to skip)"
        member = asker.text(
            question, flag="--slack-owner", given=None, check=lambda text: text and member_problem(text)
        )
        return Owner(id=member) if member else None

    def _paired(self, answer: SlackAnswer, me: Me, language: Language) -> Owner | None:
        code = new_code()
        self._asker.say("\nSend this code to the app as a direct message, so that the bot can identify you:")
        self._asker.say(f"  {code}")
        self._asker.say(f"The app is listed under Apps in Slack{(f', or here: {answer.link}' if answer.link else '')}")
        try:
            self._asker.say(
                "Waiting for your message for at most five minutes.\nPress Ctrl-C to continue without an owner …"
            )
            owner = run(lambda: pair(answer, me, code, language, say=lambda text: self._asker.say(f"  {text}")))
        except KeyboardInterrupt:
            owner = None
        except SlackSaysNo as error:
            if not self._asker.asks:
                raise
            self._asker.say(f"  {printable(str(error))}")
            owner = None
        if owner is None:
            self._asker.say(
                "  Continuing without an owner. Run `millpond init --slack` again later, or use --slack-owner ID."
            )
        else:
            self._asker.say(f"  You are {printable(owner.name) or 'there'} ({owner.id}).")
        return owner


def member_problem(text: str) -> str:
    """The problem with a person's ID; empty: none."""
    return "" if _MEMBER.fullmatch(text) else f"a Slack member ID looks like U0123ABCD: {WHERE_MEMBER}"


def link_of(me: Me) -> str:
    """Opens a direct message to the app; empty when its id is not known."""
    return f"https://slack.com/app_redirect?app={me.app_id}&team={me.team_id}" if me.app_id else ""


async def me_at(base_url: str, token: Secret) -> Me:
    """The app's identity; errors as for ``SlackApi.me``."""
    async with slack_api(base_url) as api:
        return await api.me(token)


async def check_socket(base_url: str, token: Secret, me: Me | None) -> None:
    """Try the token for Socket Mode of the app that ``me`` belongs to.

    Raises:
        SlackSaysNo: it is another app's, or Slack refuses it or cannot be asked.
    """
    app = _APP.fullmatch(token.reveal())
    if app and me and me.app_id and app[1] != me.app_id:
        raise SlackSaysNo(f"this app-level token belongs to app {app[1]}, but the bot token belongs to app {me.app_id}")
    async with slack_api(base_url) as api:
        await api.socket_url(token)


async def pair(
    answer: SlackAnswer, me: Me, code: str, language: Language, *, say: Callable[[str], None], wait_s: float = WAIT_S
) -> Owner | None:
    """The person who sends ``code`` to the app, greeted; errors as for ``wait_for_owner``."""
    async with slack_api(answer.base_url) as api:
        said = await wait_for_owner(api, answer.app_token, me, code, say=say, wait_s=wait_s)
        if said is None:
            return None
        owner = replace(said.owner, name=await api.name_of(answer.bot_token, said.owner.id))
        name = owner.name or f"<@{owner.id}>"  # which Slack shows as the name
        await greet(api, answer.bot_token, said, sentence("owner_welcome_slack", language, name=name))
        return owner
