"""The questions about Feishu and Lark, each with the test of its answer."""

import re
from collections.abc import Callable
from typing import cast

from msgspec.structs import replace

from daemon.config import FeishuConfig, Secret
from daemon.config.address import PUBLIC, is_public
from daemon.config.config_keys import NAME_RULE, is_name
from daemon.config.feishu_rules import WHERE_APP, WHERE_KEY, app_id_problem, app_secret_problem, encrypt_key_problem
from daemon.errors import ConfigError
from daemon.printable import printable
from daemon.setup.answers import ACCESS, Access, FeishuAnswer, Flags, Owner
from daemon.setup.platforms.feishu_api import FeishuSaysNo, Me, feishu_api
from daemon.setup.platforms.feishu_pairing import WAIT_S, greet, wait_for_owner
from daemon.setup.platforms.feishu_scopes import CALLBACK, EVENTS, SCOPES
from daemon.setup.platforms.telegram_pairing import new_code
from daemon.setup.questions import AnswerRefused, Asker, SecretQuestion, address_problem, ask_secret, run
from daemon.setup.setup_files import ConfigPlace, strings
from daemon.wording import Language
from daemon.wording import text as sentence

LARK = "https://open.larksuite.com"

_OPEN_ID = re.compile(r"ou_[A-Za-z0-9]{2,64}")
WHERE_OPEN_ID = "send /whoami to the running bot"

STEPS = f"""
Feishu: create an app for your company. docs/feishu.md and docs/feishu.zh-CN.md show each step.
  1. Open https://open.feishu.cn/app (Lark: {LARK}/app), and create a custom app.
  2. Under Features, add the bot. Under Permissions & Scopes, import these scopes:
     {", ".join(SCOPES)}
  3. Copy the App ID and the App Secret from Credentials & Basic Info."""
STEP_HEARD = f"""  4. Leave this program running. Under Events & Callbacks, choose the long-lived connection,
     and add the events {" and ".join(EVENTS)}.
     Under Callback Configuration, also choose the long-lived connection, and add {CALLBACK}.
  5. Under Version Management & Release, publish a version of the app."""


class FeishuInterview:
    """Asks for everything that the configuration needs for Feishu. Nothing is written."""

    def __init__(self, asker: Asker, flags: Flags, place: ConfigPlace) -> None:
        self._asker = asker
        self._flags = flags
        self._place = place

    def answer(self, bot: str, language: Language, *, offered: bool) -> FeishuAnswer | None:
        """Ask all questions; None if Feishu is not to be set up.

        ``offered``: a person is asked although no flag speaks of Feishu. Errors as for ``Interview.answers``.
        """
        flags, asker, place = self._flags, self._asker, self._place
        there = list(place.channels("feishu", bot))
        channel = flags.feishu_channel or (there[0] if there else place.free_channel("feishu", bot))
        if not is_name(channel):
            raise AnswerRefused("--feishu-channel", channel, NAME_RULE)
        known = bool(place.word("app_id", "channels", channel)) and not (flags.for_telegram or flags.for_slack)
        if flags.feishu is False or not (flags.for_feishu or known or (offered and asker.asks)):
            return None
        begun = FeishuAnswer(
            channel=channel,
            base_url=self._base_url(channel),
            app_id="",
            app_secret=Secret(""),
            events_url=self._events_url(channel),
        )
        if asker.asks:
            asker.say(STEPS)
        app = self._with_app(begun)
        heard = self._heard(app) if app else None
        return self._with_people(bot, heard, language) if heard else None

    def _base_url(self, channel: str) -> str:
        given = {"feishu": FeishuConfig().base_url, "lark": LARK}.get(self._flags.feishu_url or "")
        base_url = given or self._flags.feishu_url or self._place.word("base_url", "channels", channel)
        if base_url and (wrong := address_problem(base_url)):
            raise AnswerRefused("--feishu-url", "", wrong)
        return base_url or FeishuConfig().base_url

    def _events_url(self, channel: str) -> str:
        url = self._flags.feishu_events_url or self._place.word("url", "channels", channel, "events")
        if url == "-":
            return ""
        if url and not is_public(url):
            raise AnswerRefused("--feishu-events-url", "", PUBLIC)
        return url

    # The app

    def _with_app(self, answer: FeishuAnswer) -> FeishuAnswer | None:
        flags, asker = self._flags, self._asker
        where = ("channels", answer.channel)
        app_id = asker.text(
            "App ID (press Enter to skip Feishu)",
            flag="--feishu-app-id",
            given=flags.feishu_app_id,
            default=self._place.word("app_id", *where),
            check=lambda text: text and app_id_problem(text),
        )
        if not app_id:
            if flags.for_feishu:
                self._go_without(f"--feishu-app-id is not set: {WHERE_APP}.")
            return None

        def tried(secret: Secret) -> None:
            me = run(lambda: me_at(answer.base_url, app_id, secret))
            asker.say(f"  The bot is {printable(me.name) or app_id}.")
            if me.missing:
                asker.say(f"  The app lacks permissions: {', '.join(me.missing)}.")
                asker.say("  Add the permissions in the developer console, and publish a new version of the app.")

        secret = self._asked("App Secret", "--feishu-app-secret", flags.feishu_secret(), "app_secret", answer, tried)
        if secret is None:
            self._go_without(f"--feishu-app-secret is not set: {WHERE_APP}.")
            return None
        return replace(answer, app_id=app_id, app_secret=secret)

    def _heard(self, answer: FeishuAnswer) -> FeishuAnswer | None:
        """With the means to receive events: a long connection, or the Encrypt Key for an address."""
        if answer.events_url:
            flag, given = "--feishu-encrypt-key", self._flags.encrypt_key()
            key = self._asked("Encrypt Key", flag, given, "encrypt_key", answer, lambda _: None)
            if key is None:
                self._go_without(f"--feishu-encrypt-key is not set: {WHERE_KEY}.")
                return None
            return replace(answer, encrypt_key=key)
        if self._asker.asks:
            self._asker.say(STEP_HEARD)
        return answer

    def _asked(
        self,
        question: str,
        flag: str,
        given: Secret | None,
        key: str,
        answer: FeishuAnswer,
        tried: Callable[[Secret], None],
    ) -> Secret | None:
        problem = encrypt_key_problem if key == "encrypt_key" else app_secret_problem
        what = SecretQuestion(
            question=question,
            flag=flag,
            given=given,
            known=self._place.secret(key, "channels", answer.channel),
            problem=problem,
            tried=tried,
            refusal=FeishuSaysNo,
            platform="Feishu",
        )
        return ask_secret(self._asker, what, test=self._flags.test)

    def _go_without(self, text: str) -> None:
        """Lets a person continue; a script gets an error with the missing values."""
        if not self._asker.asks:
            raise ConfigError(text)
        self._asker.say("  Continuing without Feishu.")

    # People

    def _with_people(self, bot: str, answer: FeishuAnswer, language: Language) -> FeishuAnswer:
        answer = replace(answer, owner=self._owner(bot, answer, language))
        known = self._place.word("policy", "channels", answer.channel, "access")
        usual = {"allow": "private", "open": "open"}.get(known, "pairing")
        access = self._asker.choice("Allowed people on Feishu", ACCESS, given=self._flags.access, default=usual)
        return replace(answer, access=cast("Access", access))

    def _owner(self, bot: str, answer: FeishuAnswer, language: Language) -> Owner | None:
        flags, asker = self._flags, self._asker
        if flags.feishu_owner is not None:
            if not _OPEN_ID.fullmatch(flags.feishu_owner):
                text = f"a Feishu open_id looks like ou_0123abcd: {WHERE_OPEN_ID}"
                raise AnswerRefused("--feishu-owner", flags.feishu_owner, text)
            return Owner(id=flags.feishu_owner)
        admins = strings(self._place.section("bots", bot).get("admins"))
        there = next((admin for admin in admins if admin.startswith(f"{answer.channel}:")), "")
        if there and flags.pair is None:
            asker.say(f"  The bot's owner is {there}.")
            if not asker.confirm("Add another owner", default=False):
                return Owner(id=there.partition(":")[2])
        if flags.pair is False or not (flags.pair or asker.asks):
            return None
        if answer.events_url:
            if not asker.asks:
                raise ConfigError(
                    "--pair requires a long-lived connection to receive your message. Identify yourself with "
                    "--feishu-owner ID instead."
                )
            asker.say(f"  Your open_id is unknown. To find it, {WHERE_OPEN_ID}.")
            return None
        return self._paired(answer, language)

    def _paired(self, answer: FeishuAnswer, language: Language) -> Owner | None:
        code, asker = new_code(), self._asker
        asker.say(f"\nSend this code to the bot as a direct message, so that the bot can identify you:\n  {code}")
        asker.say("Waiting for your message for at most five minutes.\nPress Ctrl-C to continue without an owner …")
        owner: Owner | None = None
        try:
            owner = run(lambda: pair(answer, code, language, say=lambda text: asker.say(f"  {text}")))
        except KeyboardInterrupt:
            pass
        except FeishuSaysNo as error:
            if not asker.asks:
                raise
            asker.say(f"  {printable(str(error))}")
        if owner is None:
            asker.say(
                "  Continuing without an owner. Run `millpond init --feishu` again later, or use --feishu-owner ID."
            )
        else:
            asker.say(f"  You are {printable(owner.name) or 'there'} ({owner.id}).")
        return owner


async def me_at(base_url: str, app_id: str, app_secret: Secret) -> Me:
    """The app's identity. Raises: FeishuSaysNo."""
    async with feishu_api(base_url) as api:
        return await api.me(await api.token(app_id, app_secret))


async def pair(
    answer: FeishuAnswer, code: str, language: Language, *, say: Callable[[str], None], wait_s: float = WAIT_S
) -> Owner | None:
    """The person who sends ``code`` to the app, greeted; errors as for ``wait_for_owner``."""
    async with feishu_api(answer.base_url) as api:
        written = await wait_for_owner(api, answer, code, say=say, wait_s=wait_s)
        if written is None:
            return None
        token = await api.token(answer.app_id, answer.app_secret)
        owner = replace(written.owner, name=await api.name_of(token, written.owner.id))
        await greet(api, token, written, sentence("owner_welcome", language, name=owner.name or owner.id))
        return owner
