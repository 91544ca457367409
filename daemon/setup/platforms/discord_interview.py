"""The questions about Discord, each with the test of its answer."""

from typing import cast

from msgspec.structs import replace

from daemon.config import DiscordConfig, Secret
from daemon.config.channel_rules import WHERE_TOKEN, discord_token_problem
from daemon.config.config_keys import NAME_RULE, is_name
from daemon.errors import ConfigError
from daemon.printable import printable
from daemon.setup.answers import ACCESS, Access, DiscordAnswer, Flags, Owner
from daemon.setup.platforms.discord_api import NO_INTENT, App, DiscordSaysNo, app_at
from daemon.setup.questions import AnswerRefused, Asker, SecretQuestion, address_problem, ask_secret, run, tell
from daemon.setup.setup_files import ConfigPlace, strings

WHERE_USER = (
    "turn on Developer Mode in Discord's settings under Advanced, right-click your name, and choose Copy User ID"
)

STEPS = """
Discord: create an app, and copy the token of its bot.
  1. Open https://discord.com/developers/applications and choose New Application.
  2. Under Bot, turn on Message Content Intent, choose Reset Token, and copy the token."""


class DiscordInterview:
    """Asks for everything that the configuration needs for Discord. Nothing is written."""

    def __init__(self, asker: Asker, flags: Flags, place: ConfigPlace) -> None:
        self._asker = asker
        self._flags = flags
        self._place = place
        self._app: App | None = None

    def answer(self, bot: str) -> DiscordAnswer | None:
        """Ask all questions; None if Discord is not to be set up. Errors as for ``Interview.answers``."""
        flags, place = self._flags, self._place
        there = list(place.channels("discord", bot))
        channel = flags.discord_channel or (there[0] if there else place.free_channel("discord", bot))
        if not is_name(channel):
            raise AnswerRefused("--discord-channel", channel, NAME_RULE)
        if not flags.for_discord:
            return None
        base_url = flags.discord_url or place.word("base_url", "channels", channel) or DiscordConfig().base_url
        if wrong := address_problem(base_url):
            raise AnswerRefused("--discord-url", "", wrong)
        if self._asker.asks:
            self._asker.say(STEPS)
        token = self._token(channel, base_url)
        if token is None:
            return None
        answer = DiscordAnswer(channel=channel, token=token, base_url=base_url)
        if self._app:
            answer = replace(answer, name=self._app.name, link=self._app.invitation)
        return self._with_people(bot, answer)

    def _token(self, channel: str, base_url: str) -> Secret | None:
        def problem(token: Secret) -> str:
            others = (name for name in self._place.channels("discord") if name != channel)
            other = next((name for name in others if self._place.secret("token", "channels", name) == token), "")
            if other:
                return (
                    f"the bot is already used by channels.{other}. Choose that channel with --discord-channel {other}"
                )
            return discord_token_problem(token)

        def tried(token: Secret) -> None:
            self._app = app = run(lambda: app_at(base_url, token))
            self._asker.say(f"  The bot is {printable(app.name)}. To add the bot to a server, open {app.invitation}")
            if not app.may_read_content:
                tell(self._asker, NO_INTENT)

        question = SecretQuestion(
            question="Bot token (press Enter to skip Discord)",
            flag="--discord-token",
            given=self._flags.discord_bot_token(),
            known=self._place.secret("token", "channels", channel),
            problem=problem,
            tried=tried,
            refusal=DiscordSaysNo,
            platform="Discord",
        )
        token = ask_secret(self._asker, question, test=self._flags.test)
        if token is None and not self._asker.asks:
            raise ConfigError(f"--discord-token is not set: {WHERE_TOKEN}.")
        if token is None:
            self._asker.say("  Continuing without Discord.")
        return token

    def _with_people(self, bot: str, answer: DiscordAnswer) -> DiscordAnswer:
        answer = replace(answer, owner=self._owner(bot, answer))
        known = self._place.word("policy", "channels", answer.channel, "access")
        usual = {"allow": "private", "open": "open"}.get(known, "pairing")
        access = self._asker.choice("Allowed people on Discord", ACCESS, given=self._flags.access, default=usual)
        return replace(answer, access=cast("Access", access))

    def _owner(self, bot: str, answer: DiscordAnswer) -> Owner | None:
        """The owner: as given, as configured, or the owner of the app."""
        flags, asker = self._flags, self._asker
        if flags.discord_owner is not None:
            if wrong := user_problem(flags.discord_owner):
                raise AnswerRefused("--discord-owner", flags.discord_owner, wrong)
            return Owner(id=flags.discord_owner)
        admins = strings(self._place.section("bots", bot).get("admins"))
        there = next((admin for admin in admins if admin.startswith(f"{answer.channel}:")), "")
        if there:
            asker.say(f"  The bot's owner is {there}.")
            return Owner(id=there.partition(":")[2])
        if flags.pair is False:
            return None
        app = self._app
        if app and app.owner_id:
            named = f"{printable(app.owner_name)} ({app.owner_id})" if app.owner_name else app.owner_id
            asker.say(f"  The app's owner is {named}.")
            if asker.confirm("Are you this person", default=True):
                return Owner(id=app.owner_id, name=app.owner_name)
        if not asker.asks:
            return None
        question = f"Your user ID ({WHERE_USER}; press Enter to skip)"
        user = asker.text(question, flag="--discord-owner", given=None, check=lambda text: text and user_problem(text))
        return Owner(id=user) if user else None


def user_problem(text: str) -> str:
    """The problem with a person's ID; empty: none."""
    is_id = text.isascii() and text.isdecimal() and 15 <= len(text) <= 20
    return "" if is_id else f"a Discord user ID is a number with 17 to 19 digits: {WHERE_USER}"
