"""The questions in order, each with the test of its answer."""

from collections.abc import Callable, Mapping
from typing import Literal, cast

from msgspec.structs import replace

from daemon.config import BotConfig, Secret, TelegramConfig
from daemon.config.config_keys import NAME_RULE, is_name
from daemon.config.config_rules import zone_problem
from daemon.errors import MillpondError, ModelError
from daemon.printable import printable
from daemon.services import PROBE, load
from daemon.setup.answers import ACCESS, Access, Answers, Flags, ModelAnswer, Owner, TelegramAnswer
from daemon.setup.foreign_settings import Settings
from daemon.setup.model_apis import APIS, Api, language_here, time_zone_here, usual_api
from daemon.setup.model_trial import model_config, models_at, try_model
from daemon.setup.platforms.discord_interview import DiscordInterview
from daemon.setup.platforms.feishu_interview import FeishuInterview
from daemon.setup.platforms.slack_interview import SlackInterview
from daemon.setup.platforms.telegram_pairing import (
    CONFLICT,
    WAIT_S,
    Me,
    TelegramSaysNo,
    bot_api,
    greet,
    new_code,
    wait_for_owner,
)
from daemon.setup.questions import AnswerRefused, Asker, address_problem, run
from daemon.setup.setup_files import ConfigPlace, strings
from daemon.setup.voice_interview import VoiceInterview
from daemon.setup.web_interview import WebInterview
from daemon.wording import Language
from daemon.wording import text as sentence

SHOWN = 12
"""Names of models that are shown at once."""


class Interview:
    """Asks everything that the configuration needs. Nothing is written."""

    def __init__(
        self, asker: Asker, flags: Flags, place: ConfigPlace, settings: Settings, environ: Mapping[str, str]
    ) -> None:
        """Nothing is asked yet.

        Args:
            asker: who answers.
            flags: what is answered already.
            place: the configuration that there is, whose values are offered first.
            settings: of another program, offered next.
            environ: where the variables of OpenAI and Anthropic are looked up, offered last.
        """
        self._asker = asker
        self._flags = flags
        self._place = place
        self._settings = settings
        self._environ = environ

    def answers(self) -> Answers:
        """Ask all of it.

        Raises:
            ConfigError: an answer will not do, or is missing.
            ModelError, MillpondError: a trial failed, and there is nobody to ask about it.
            click.Abort: the person does not want to go on.
        """
        bot = self._bot()
        language, zone = self._language(bot), self._time_zone(bot)
        model, telegram = self.model(bot), self.telegram(bot, language)
        # Slack is asked for when a person does without Telegram, and Feishu of who speaks Chinese; else flags say so.
        unsaid = self._flags.telegram is None and not (self._flags.for_discord or self._flags.for_feishu)
        offered = telegram is None and unsaid
        slack = SlackInterview(self._asker, self._flags, self._place).answer(bot, language, offered=offered)
        offered = offered and slack is None and self._flags.slack is None and language == "zh"
        feishu = FeishuInterview(self._asker, self._flags, self._place).answer(bot, language, offered=offered)
        return Answers(
            bot=bot,
            language=language,
            time_zone=zone,
            workspace=self._flags.workspace or "",
            data_dir=self._place.data_dir,
            model=model,
            telegram=telegram,
            slack=slack,
            discord=DiscordInterview(self._asker, self._flags, self._place).answer(bot),
            feishu=feishu,
            web=WebInterview(self._asker, self._flags, self._place).answer(bot),
            voice=VoiceInterview(self._asker, self._flags, self._place, model).answer(bot),
        )

    # The bot

    def _bot(self) -> str:
        there = self._place.bots
        usual = "pond" if not there or "pond" in there else there[0]

        def check(name: str) -> str:
            return "" if is_name(name) else NAME_RULE

        return self._asker.text("Bot name", flag="--bot", given=self._flags.bot, default=usual, check=check)

    def _language(self, bot: str) -> Language:
        known = self._place.word("language", "bots", bot) or language_here(self._environ)
        of = (("en", "English"), ("zh", "中文"))
        question = "Language of the bot's built-in messages"
        chosen = cast("Language", self._asker.choice(question, of, given=self._flags.language, default=known))
        self._asker.language = chosen
        return chosen

    def _time_zone(self, bot: str) -> str:
        known = self._place.word("time_zone", "bots", bot) or self._settings.time_zone or time_zone_here(self._environ)
        known = "UTC" if zone_problem(known) else known
        flag, given = "--time-zone", self._flags.time_zone
        return self._asker.text("Time zone", flag=flag, given=given, default=known, check=zone_problem)

    # The model

    def model(self, bot: str) -> ModelAnswer | None:
        """The bot's model; None: the offline mock model. Errors as for ``answers``."""
        if self._flags.offline:
            return None
        flags, environ = self._flags, self._environ
        self._asker.say(
            "\nModel: a server with OpenAI's or Anthropic's API. "
            "Without an address and a key, the offline mock model answers."
        )
        api = self._api(bot)
        theirs = APIS[api]
        # What is known for the other API is for other servers.
        settings = self._settings if api == "openai" else Settings()
        usual = self._known(bot, "base_url", api) or settings.model_url or theirs.variable(environ, "BASE_URL")
        if not (usual or flags.model_url or self._asker.asks or flags.key() or self._known_key(bot, theirs.url, api)):
            return None
        usual = usual or theirs.url
        name = self._known(bot, "name", api) or settings.model_name or theirs.variable(environ, "MODEL")
        while True:
            url = self._asker.text(
                "Server address (type - to use the offline mock model)",
                flag="--model-url",
                given=flags.model_url,
                default=usual,
                check=address_problem,
            )
            if url == "-":
                return None
            key = self._asker.secret(
                "API key (optional)", flag="--model-key", given=flags.key(), default=self._known_key(bot, url, api)
            )
            named = self._model_name(ModelAnswer(base_url=url, name=name, key=key, api=api), flags)
            answer = ModelAnswer(base_url=url, name=named, key=key, api=api)
            tried = self._tried_model(answer)
            if tried != "again":
                return tried
            usual, name = answer.base_url, answer.name
            # What was given will not do: from here on everything is asked.
            flags = Flags(yes=flags.yes)

    def _api(self, bot: str) -> Api:
        """The model's API; asked for if the configuration uses Anthropic's, or the environment has a key for it."""
        known = self._place.word("api", "bots", bot, "model")
        if self._flags.model_api:
            return cast("Api", self._flags.model_api)
        if known != "anthropic" and not APIS["anthropic"].key(self._environ):
            return "openai"
        # An address that is there, or in another program, is not replaced by a variable.
        settled = self._place.word("base_url", "bots", bot, "model") or self._settings.model_url
        usual = known or ("openai" if settled else usual_api(self._environ))
        of = [(name, each.about) for name, each in APIS.items()]
        return cast("Api", self._asker.choice("API of the model", of, given=None, default=usual))

    def _known(self, bot: str, key: str, api: Api) -> str:
        """A text of the bot's model, if that has this API; empty when there is none."""
        where = ("bots", bot, "model")
        return self._place.word(key, *where) if (self._place.word("api", *where) or "openai") == api else ""

    def _model_name(self, asked: ModelAnswer, flags: Flags) -> str:
        offered: tuple[str, ...] = ()
        if self._asker.asks and self._flags.test and flags.model is None:
            offered = run(lambda: models_at(asked.base_url, asked.key, asked.api))
        if offered:
            more = f" and {len(offered) - SHOWN:,} more" if len(offered) > SHOWN else ""
            self._asker.say(f"  Models on this server: {printable(', '.join(offered[:SHOWN]))}{more}.")
        only, theirs = offered[0] if len(offered) == 1 else "", APIS[asked.api]
        return self._asker.text(
            "Model name",
            flag="--model",
            given=flags.model,
            default=asked.name or only or (theirs.model if asked.base_url == theirs.url else ""),
            check=lambda text: "" if text else "enter the name of a model that this server offers",
        )

    def _known_key(self, bot: str, url: str, api: Api) -> Secret | None:
        """The key that is known for a server; no other server is to get it."""
        where, environ, theirs = ("bots", bot, "model"), self._environ, APIS[api]
        known = (
            (self._known(bot, "base_url", api), self._place.secret("api_key", *where)),
            (self._settings.model_url, self._settings.model_key),
            (theirs.variable(environ, "BASE_URL") or theirs.url, theirs.key(environ)),
        )
        return next((key for server, key in known if key and server == url), None)

    def _tried_model(self, answer: ModelAnswer) -> "ModelAnswer | Literal['again'] | None":
        if not self._flags.test:
            return answer
        self._asker.say(f"Testing {answer.name} at {answer.base_url} …")
        try:
            tried = run(lambda: try_model(answer))
        except ModelError as error:
            if not self._asker.asks:
                raise
            self._asker.say(f"  The model did not respond: {error}")
        else:
            where = "" if tried.base_url == answer.base_url else f", at {tried.base_url}"
            self._asker.say(f"  The model answers{where}.")
            for finding in self._found_out(tried):
                self._asker.say(f"  {finding[0].upper()}{finding[1:].removesuffix('.')}.")
            return tried
        of = (
            ("again", "enter the model's address, name and key again"),
            ("keep", "keep these settings anyway"),
            ("offline", "none"),
        )
        chosen = self._asker.choice("Next step", of, given=None, default="again")
        return "again" if chosen == "again" else answer if chosen == "keep" else None

    @staticmethod
    def _found_out(answer: ModelAnswer) -> list[str]:
        """Findings of a test with tools and a picture. The model answers, so none of them is an error."""
        try:
            return cast("list[str]", run(lambda: load(PROBE)(BotConfig(), model_config(answer))))
        except MillpondError as error:
            return [f"the model failed in a test with tools: {error}"]

    # Telegram

    def telegram(self, bot: str, language: Language) -> TelegramAnswer | None:
        """The bot at Telegram; None: no channel is added or changed. Errors as for ``answers``."""
        flags, asker = self._flags, self._asker
        there = list(self._place.channels("telegram", bot))
        usual = there[0] if there else self._place.free_channel("telegram", bot)
        channel = flags.channel or usual
        if not is_name(channel):
            raise AnswerRefused("--channel", channel, NAME_RULE)
        where = ("channels", channel)
        known = self._place.secret("token", *where) or self._settings.token
        given = flags.token()
        # Whoever names another platform is not asked for Telegram as well; what there is of it stays as it is.
        unsaid = flags.telegram is None and not given
        elsewhere = flags.for_slack or flags.for_discord or flags.for_feishu
        if flags.telegram is False or (unsaid and (elsewhere or not (asker.asks or known))):
            return None
        base_url = flags.telegram_url or self._place.word("base_url", *where) or TelegramConfig().base_url
        if wrong := address_problem(base_url):
            raise AnswerRefused("--telegram-url", "", wrong)
        if asker.asks:
            self._asker.say("\nTelegram: open https://t.me/BotFather, send /newbot, and copy the token.")
        while True:
            question = "Bot token (press Enter to skip Telegram)" if not known else "Bot token"
            token = asker.secret(question, flag="--telegram-token", given=given, default=known)
            if not token:
                if flags.telegram:
                    text = "a token is needed. Get a token from BotFather (https://t.me/BotFather)"
                    raise AnswerRefused("--telegram-token", "", text)
                return None
            answer = TelegramAnswer(channel=channel, token=token, base_url=base_url, allow=self._settings.allow)
            tried = "again" if self._is_another_s(answer) else self._tried_telegram(answer)
            if tried != "again":
                return self._with_people(bot, tried, language) if tried else None
            given, known = None, None

    def _is_another_s(self, answer: TelegramAnswer) -> bool:
        """Whether a bot of another channel has the token already; said to a person.

        Raises:
            ConfigError: the same, when there is nobody to ask for another one.
        """
        others = (name for name in self._place.channels("telegram") if name != answer.channel)
        other = next((name for name in others if self._place.secret("token", "channels", name) == answer.token), "")
        text = f"this token is already used by channels.{other}. Create another bot: each channel needs its own token"
        if other and not self._asker.asks:
            raise AnswerRefused("--telegram-token", "", f"{text}, or choose that channel with --channel {other}")
        if other:
            self._asker.say(f"  {text}")
        return bool(other)

    def _tried_telegram(self, answer: TelegramAnswer) -> "TelegramAnswer | Literal['again'] | None":
        if not self._flags.test:
            return answer
        try:
            me = run(lambda: _me(answer))
        except TelegramSaysNo as error:
            if not self._asker.asks:
                raise
            self._asker.say(f"  {error}")
        else:
            self._asker.say(f"  The bot is {me.first_name or me.username}: {me.link}")
            return replace(answer, username=me.username)
        keep = ("keep", "keep this token anyway")
        of = (("again", "enter the token again"), keep, ("skip", "continue without Telegram"))
        chosen = self._asker.choice("Next step", of, given=None, default="again")
        return "again" if chosen == "again" else answer if chosen == "keep" else None

    def _with_people(self, bot: str, answer: TelegramAnswer, language: Language) -> TelegramAnswer:
        answer = replace(answer, owner=self._owner(bot, answer, language))
        known = self._place.word("policy", "channels", answer.channel, "access")
        usual = {"allow": "private", "open": "open"}.get(known, "pairing")
        access = self._asker.choice("Allowed people", ACCESS, given=self._flags.access, default=usual)
        # Alone means alone: whoever might talk to the other program has to be let in anew.
        allow = () if access == "private" else answer.allow
        return replace(answer, access=cast("Access", access), allow=allow)

    def _owner(self, bot: str, answer: TelegramAnswer, language: Language) -> Owner | None:
        flags, asker = self._flags, self._asker
        if flags.owner is not None:
            if not flags.owner.isdecimal():
                raise AnswerRefused("--owner", flags.owner, "a Telegram user ID is a number")
            return Owner(id=flags.owner)
        admins = strings(self._place.section("bots", bot).get("admins"))
        there = next((admin for admin in admins if admin.startswith(f"{answer.channel}:")), "")
        if there and flags.pair is None:
            self._asker.say(f"  The bot's owner is {there}.")
            if not asker.confirm("Add another owner", default=False):
                return Owner(id=there.partition(":")[2])
        if flags.pair is False or not (flags.pair or asker.asks) or not answer.username:
            return None
        return self._paired(answer, language)

    def _paired(self, answer: TelegramAnswer, language: Language) -> Owner | None:
        code = new_code()
        self._asker.say("\nOpen this link in Telegram and press Start, so that the bot can identify you:")
        self._asker.say(f"  https://t.me/{answer.username}?start={code}")
        try:
            self._asker.say(
                "Waiting for your message for at most five minutes.\nPress Ctrl-C to continue without an owner …"
            )
            owner = run(lambda: pair(answer, code, language, say=lambda text: self._asker.say(f"  {text}")))
        except KeyboardInterrupt:
            owner = None
        except TelegramSaysNo as error:
            if not self._asker.asks:
                raise
            if error.code == CONFLICT and self._took_webhook_away(answer):
                return self._paired(answer, language)
            self._asker.say(f"  {error}")
            owner = None
        if owner is None:
            self._asker.say(
                "  Continuing without an owner. Run `millpond init` again later, or name the owner with --owner ID."
            )
        else:
            self._asker.say(f"  You are {printable(owner.name) or 'there'} ({owner.id}).")
        return owner

    def _took_webhook_away(self, answer: TelegramAnswer) -> bool:
        """Whether a webhook existed and the person had it deleted; pending messages of the bot stay."""
        try:
            if not (url := run(lambda: _webhook(answer))):
                return False
            self._asker.say(
                f"  A webhook is set for this bot ({printable(url)}), so this program cannot receive messages."
            )
            if not self._asker.confirm("Delete that webhook", default=False):
                return False
            run(lambda: _without_webhook(answer))
        except TelegramSaysNo as error:
            self._asker.say(f"  {error}")
            return False
        return True


async def _me(answer: TelegramAnswer) -> Me:
    async with bot_api(answer.token, answer.base_url) as api:
        return await api.me()


async def _webhook(answer: TelegramAnswer) -> str:
    async with bot_api(answer.token, answer.base_url) as api:
        return await api.webhook()


async def _without_webhook(answer: TelegramAnswer) -> None:
    async with bot_api(answer.token, answer.base_url) as api:
        await api.call("deleteWebhook", {"drop_pending_updates": False})


async def pair(
    answer: TelegramAnswer, code: str, language: Language, *, say: Callable[[str], None], wait_s: float = WAIT_S
) -> Owner | None:
    """The person who sends ``code`` to the bot, greeted; errors as for ``wait_for_owner``."""
    async with bot_api(answer.token, answer.base_url) as api:
        owner = await wait_for_owner(api, code, say=say, wait_s=wait_s)
        if owner is not None:
            await greet(api, owner, sentence("owner_welcome", language, name=owner.name))
        return owner
