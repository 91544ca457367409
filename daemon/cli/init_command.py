"""``millpond init``: from nothing to a bot that answers."""

import os
import shutil
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.command_setup import INTERRUPTED
from daemon.printable import printable

if TYPE_CHECKING:
    from daemon.config import Config
    from daemon.setup.answers import Answers, Flags
    from daemon.setup.config_tables import SecretFile
    from daemon.setup.foreign_data import ForeignData
    from daemon.setup.questions import Asker
    from daemon.setup.setup_files import ConfigPlace


@click.command()
@click.option("--data-dir", metavar="DIR", help="Folder for all data. Default: ~/.millpond.")
@click.option("--bot", metavar="NAME", help="Name of the bot. Default: pond.")
@click.option("--language", type=click.Choice(["en", "zh"]), help="Language of the bot's built-in messages.")
@click.option("--time-zone", metavar="ZONE", help="IANA time zone, such as Europe/Berlin. Default: this machine's.")
@click.option(
    "--workspace",
    metavar="DIR",
    help="Folder for the bot's files. Default: bots/NAME in the data directory.",
)
@click.option("--offline", is_flag=True, help="Use the offline mock model instead of a language model.")
@click.option("--model-api", type=click.Choice(["openai", "anthropic"]), help="API type of the model server.")
@click.option("--model-url", metavar="URL", help="Server address, such as https://api.openai.com/v1.")
@click.option("--model", metavar="NAME", help="Name of the model.")
@click.option(
    "--model-key",
    metavar="KEY",
    help="API key for the model server. A file is safer because other users of this machine can see command lines.",
)
@click.option("--model-key-file", metavar="FILE", help="File with the model server's API key. Its content is copied.")
@click.option(
    "--telegram/--no-telegram", default=None, help="Connect the bot to Telegram (default if a Telegram token is set)."
)
@click.option("--telegram-token", metavar="TOKEN", help="Bot token from BotFather. A file is safer.")
@click.option(
    "--telegram-token-file", metavar="FILE", help="File with the Telegram bot's token. Its content is copied."
)
@click.option("--telegram-url", metavar="URL", help="Bot API server to use instead of https://api.telegram.org.")
@click.option(
    "--channel", metavar="NAME", help="Name of the channel's section in the configuration. Default: telegram."
)
@click.option("--owner", metavar="ID", help="Your Telegram user ID. If you set this option, pairing is not needed.")
@click.option("--slack/--no-slack", default=None, help="Connect the bot to Slack (default if a Slack token is set).")
@click.option("--slack-token", metavar="TOKEN", help="The Slack app's bot token (xoxb-…). A file is safer.")
@click.option("--slack-token-file", metavar="FILE", help="File with the Slack app's bot token. Its content is copied.")
@click.option("--slack-app-token", metavar="TOKEN", help="The Slack app's app-level token (xapp-…) for Socket Mode.")
@click.option(
    "--slack-app-token-file", metavar="FILE", help="File with the Slack app's app-level token. Its content is copied."
)
@click.option("--slack-events-url", metavar="URL", help="URL to which Slack sends events. Use - for Socket Mode.")
@click.option("--slack-signing-secret", metavar="SECRET", help="The Slack app's signing secret. A file is safer.")
@click.option(
    "--slack-signing-secret-file",
    metavar="FILE",
    help="File with the Slack app's signing secret. Its content is copied.",
)
@click.option("--slack-url", metavar="URL", help="Web API to use instead of https://slack.com/api, for tests.")
@click.option(
    "--slack-channel", metavar="NAME", help="Name of the channel's section in the configuration. Default: slack."
)
@click.option(
    "--slack-owner", metavar="ID", help="Your Slack member ID (U…). If you set this option, pairing is not needed."
)
@click.option("--slack-manifest", is_flag=True, help="Print the app manifest for Slack and exit.")
@click.option(
    "--discord/--no-discord", default=None, help="Connect the bot to Discord (default if a Discord token is set)."
)
@click.option("--discord-token", metavar="TOKEN", help="Discord bot token. A file is safer.")
@click.option("--discord-token-file", metavar="FILE", help="File with the Discord bot token. Its content is copied.")
@click.option("--discord-url", metavar="URL", help="API to use instead of https://discord.com/api/v10, for tests.")
@click.option(
    "--discord-channel", metavar="NAME", help="Name of the channel's section in the configuration. Default: discord."
)
@click.option("--discord-owner", metavar="ID", help="Your Discord user ID. Default: the app owner's ID.")
@click.option("--feishu/--no-feishu", default=None, help="Connect the bot to Feishu or Lark.")
@click.option("--feishu-app-id", metavar="ID", help="The Feishu app's App ID (cli_…).")
@click.option("--feishu-app-secret", metavar="SECRET", help="The Feishu app's App Secret. A file is safer.")
@click.option(
    "--feishu-app-secret-file", metavar="FILE", help="File with the Feishu app's App Secret. Its content is copied."
)
@click.option("--feishu-events-url", metavar="URL", help="URL to which Feishu sends events. Use - for none.")
@click.option("--feishu-encrypt-key", metavar="KEY", help="The Feishu app's Encrypt Key. A file is safer.")
@click.option(
    "--feishu-encrypt-key-file", metavar="FILE", help="File with the Feishu app's Encrypt Key. Its content is copied."
)
@click.option("--feishu-url", metavar="URL", help="API server to use: feishu, lark, or an address. Default: feishu.")
@click.option(
    "--feishu-channel", metavar="NAME", help="Name of the channel's section in the configuration. Default: feishu."
)
@click.option(
    "--feishu-owner",
    metavar="ID",
    help="Your open_id in the Feishu app (ou_…). If you set this option, pairing is not needed.",
)
@click.option("--web-search", metavar="PROVIDER", help="Web search provider: brave, tavily, searxng or none.")
@click.option("--web-key", metavar="KEY", help="API key for the web search provider. A file is safer.")
@click.option("--web-key-file", metavar="FILE", help="File with the search provider's API key. Its content is copied.")
@click.option("--web-url", metavar="URL", help="Address of the SearXNG server or the search provider.")
@click.option("--web-fetch/--no-web-fetch", default=None, help="Let the bot read public web pages.")
@click.option(
    "--voice-url",
    metavar="URL",
    help="Speech server for voice messages, with an OpenAI-compatible audio API. Use - for none.",
)
@click.option("--voice-key", metavar="KEY", help="API key of the speech server. A file is safer.")
@click.option("--voice-key-file", metavar="FILE", help="File with the speech server's API key. Its content is copied.")
@click.option(
    "--transcription-model",
    "transcription",
    metavar="NAME",
    help="Speech-to-text model for voice messages. Use - for none.",
)
@click.option(
    "--speech-model", "speech", metavar="NAME", help="Text-to-speech model for spoken answers. Use - for none."
)
@click.option("--voice", metavar="NAME", help="Voice of the spoken answers. Default: alloy.")
@click.option(
    "--pair/--no-pair",
    default=None,
    help="Wait until you identify yourself as the owner in a chat with the bot. Default: only in a terminal.",
)
@click.option("--access", type=click.Choice(["pairing", "private", "open"]), help="People who may talk to the bot.")
@click.option(
    "--from",
    "source",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Import a nanobot or OpenClaw installation.",
)
@click.option(
    "--memory-of", metavar="CHANNEL:ID", help="Person who receives the imported memory. Default: the bot's owner."
)
@click.option("--no-test", "test", flag_value=False, default=True, help="Do not test the model and the tokens.")
@click.option(
    "--yes",
    is_flag=True,
    help="Do not ask questions. Use flags, existing values and defaults, and change existing files.",
)
@click.pass_context
def init(ctx: click.Context, /, *, slack_manifest: bool, **given: Any) -> None:
    """Set up a bot: ask for a model and for tokens, test both, identify the owner, and write the configuration.

    Every question can be answered with a flag. Without a terminal, no questions are asked. Existing settings are
    offered as default answers, and are kept unless you change them. Existing files are copied before they are
    changed. The flags --slack, --discord and --feishu set up Slack, Discord and Feishu. Without these three flags,
    init sets up Telegram. If you skip Telegram, init offers Slack, or Feishu for a bot that speaks Chinese.
    """
    from daemon.cli.command_setup import language
    from daemon.setup.answers import Flags
    from daemon.setup.platforms.slack_scopes import manifest
    from daemon.setup.questions import FlagAnswers, TerminalAnswers

    flags = Flags(**given)
    if slack_manifest:
        url = flags.slack_events_url
        click.echo(manifest("" if url in (None, "-") else url), nl=False)
        return
    asks = not flags.yes and sys.stdin.isatty() and sys.stdout.isatty()
    try:
        _set_up(ctx, flags, TerminalAnswers(language()) if asks else FlagAnswers(language()))
    except (click.Abort, KeyboardInterrupt):
        click.echo(
            "\nmillpond: stopped. The program was stopped. Only the changes that you confirmed were written.", err=True
        )
        ctx.exit(INTERRUPTED)


def _set_up(ctx: click.Context, flags: "Flags", asker: "Asker") -> None:
    from daemon import log
    from daemon.setup.config_tables import with_answers
    from daemon.setup.foreign_data import find
    from daemon.setup.foreign_settings import Settings
    from daemon.setup.interview import Interview
    from daemon.setup.model_apis import language_here
    from daemon.setup.setup_files import checked, place_of
    from daemon.setup.voice_interview import set_voice

    log.configure("error")
    environ = dict(os.environ)
    config_path: Path | None = getattr(ctx.obj, "config_path", None)
    place = place_of(config_path, flags.data_dir, environ)
    if flags.language or not place.text.strip():
        asker.language = "zh" if (flags.language or language_here(environ)) == "zh" else "en"
    if not _may_change(place, flags, asker):
        asker.say("Nothing was changed.")
        return
    found = find(flags.source, environ) if flags.source else None
    if found:
        _tell_found(asker, found)
    answers = Interview(asker, flags, place, found.settings if found else Settings(), environ).answers()
    tables, files = with_answers(place.tables, answers)
    files += set_voice(tables, answers.bot, answers.voice) if answers.voice else []
    config = checked(place.path, tables, files, environ)
    scope = _whose(flags, asker, answers, config, found) if found else ""
    if place.text and asker.asks and not asker.confirm(f"\nWrite this to {place.path}", default=True):
        asker.say("Nothing was changed.")
        return
    with _undisturbed():
        _write(asker, place, tables, files)
    _fill_workspace(asker, answers, config, found)
    if found and scope:
        _remember(asker, config, answers, scope, found)
    _tell_next(asker, ctx, place, answers)


@contextmanager
def _undisturbed() -> Generator[None]:
    """Ctrl-C waits until the block is over: secrets and the configuration that names them belong together."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _may_change(place: "ConfigPlace", flags: "Flags", asker: "Asker") -> bool:
    from daemon.errors import ConfigError

    if not place.text.strip():
        asker.say(f"The configuration will be saved in {place.path}.\n")
        return True
    bots, channels = ", ".join(place.bots) or "none", ", ".join(place.section("channels")) or "the default ones"
    asker.say(f"Found a configuration: {place.path} (bots: {printable(bots)}; channels: {printable(channels)}).")
    if asker.asks:
        return asker.confirm("Change the configuration (a copy of the old file is kept)", default=True)
    if not flags.yes:
        raise ConfigError(
            f"{place.path} exists already. Add --yes to change the file (a copy of the old file is kept)."
        )
    return True


def _write(asker: "Asker", place: "ConfigPlace", tables: dict[str, object], files: "list[SecretFile]") -> None:
    from daemon.clock import SystemClock
    from daemon.setup.setup_files import write

    written = write(place.path, place.text, tables, files, stamp=f"{SystemClock().now():%Y%m%dT%H%M%S}")
    if not written.changed:
        asker.say(f"\n{place.path} already contains exactly these settings.")
        return
    names = "".join(f", {place.path.with_name(file.name)}" for file in files)
    asker.say(f"\nWritten: {place.path}{names}")
    if written.backup:
        asker.say(f"Copy of the previous configuration: {written.backup}")


def _fill_workspace(asker: "Asker", answers: "Answers", config: "Config", found: "ForeignData | None") -> None:
    from daemon.config import bot_workspace
    from daemon.setup.data_import import copy_files
    from daemon.setup.setup_files import write_templates

    workspace = bot_workspace(config, answers.bot)
    if found:
        copied = copy_files(found, workspace)
        skills = sorted({name.split("/")[1] for name in copied.taken if name.startswith("skills/")})
        plain = [name for name in copied.taken if not name.startswith("skills/")]
        _tell(asker, "Imported into the workspace", [*plain, *(f"skill {name}" for name in skills)])
        _tell(asker, "Not imported, because the bot's workspace already contains files with these names", copied.there)
    owner = answers.owner
    values = {
        "bot": answers.bot,
        "owner": owner.name if owner and owner.name else "?",
        "time_zone": answers.time_zone,
        "language": {"en": "English", "zh": "中文"}[answers.language],
    }
    _tell(asker, f"New in {workspace}", write_templates(workspace, language=answers.language, values=values))


def _whose(flags: "Flags", asker: "Asker", answers: "Answers", config: "Config", found: "ForeignData") -> str:
    """The scope that receives the imported memory; empty: none."""
    from daemon.errors import MillpondError
    from daemon.setup.data_import import scope_in

    remembered = found.remembered
    if not (remembered.memory or remembered.history or remembered.notes):
        return ""
    usual = answers.admins[0] if answers.admins else ""
    identity = flags.memory_of or usual
    if not identity and asker.asks:

        def check(text: str) -> str:
            try:
                if text != "-":
                    scope_in(config, answers.bot, text)
            except MillpondError as error:
                return str(error)
            return ""

        question = "Person who owns the imported memory (<channel>:<sender>, as shown by /whoami; - for no one)"
        identity = asker.text(question, flag="--memory-of", given=None, default="-", check=check)
    if identity in ("", "-"):
        asker.say("The old bot's memory was not imported. Specify the memory's owner with --memory-of CHANNEL:ID.")
        return ""
    return scope_in(config, answers.bot, identity)


def _remember(asker: "Asker", config: "Config", answers: "Answers", scope: str, found: "ForeignData") -> None:
    import anyio

    from daemon.setup.data_import import remember

    done = anyio.run(remember, config, answers.bot, scope, found)
    what = [
        *([f"MEMORY.md, version {done.version}"] if done.memory else []),
        *([f"{done.history:,} entries of HISTORY.md"] if done.history else []),
        *([f"{done.notes:,} daily notes"] if done.notes else []),
    ]
    _tell(asker, f"Imported into the memory of {scope}", what or ["nothing new"])


def _tell_found(asker: "Asker", found: "ForeignData") -> None:
    remembered = found.remembered
    asker.say(f"Found {found.program}: {printable(str(found.workspace))}")
    what = [
        *found.bootstrap,
        *([f"{len({path.split('/')[0] for path in found.skills})} skills"] if found.skills else []),
        *([f"MEMORY.md, {len(remembered.memory):,} characters"] if remembered.memory else []),
        *([f"{len(remembered.history):,} entries of history"] if remembered.history else []),
        *([f"{len(remembered.notes):,} daily notes"] if remembered.notes else []),
    ]
    _tell(asker, "  can be imported", what)
    _tell(asker, "  cannot be imported", found.left)
    if found.settings.token:
        asker.say(
            "  Stop the old bot before you start Millpond, because only one program at a time can use a Telegram token."
        )
    asker.say("")


def _tell(asker: "Asker", what: str, names: "list[str] | tuple[str, ...]") -> None:
    if names:
        asker.say(f"{what}: {printable(', '.join(names))}")


def _tell_next(asker: "Asker", ctx: click.Context, place: "ConfigPlace", answers: "Answers") -> None:
    from daemon.config.config_file import FILE_NAME

    named = getattr(ctx.obj, "config_path", None) or place.path != Path(os.path.realpath(_usual(FILE_NAME)))
    command = f"{_own_name()} --config {place.path} run" if named else f"{_own_name()} run"
    asker.say(f"\nStart it with: {command}")
    if answers.telegram and answers.telegram.username:
        asker.say(f"Afterwards, send a message to the bot: https://t.me/{answers.telegram.username}")
    if answers.slack and answers.slack.name:
        link = f", or here: {answers.slack.link}" if answers.slack.link else ""
        asker.say(f"Then send a message to {printable(answers.slack.name)}, under Apps in Slack{link}")
    if answers.discord and answers.discord.link:
        asker.say(f"Then add the bot to a Discord server, or send it a direct message: {answers.discord.link}")
    if answers.model is None:
        asker.say("Without a model, the offline mock model answers. Run `millpond init` again when you have a model.")
    if answers.telegram and answers.telegram.owner is None:
        asker.say(
            "The bot has no administrator yet. Approve people with `millpond channel pair`, or identify yourself "
            "with --owner ID."
        )
    if answers.slack and answers.slack.owner is None:
        asker.say(
            "The bot has no administrator on Slack yet. Identify yourself with --slack-owner ID, or run `millpond init "
            "--slack` again to identify yourself in a chat."
        )
    if answers.discord and answers.discord.owner is None:
        asker.say("The bot has no administrator on Discord yet. Identify yourself with --discord-owner ID.")


def _own_name() -> str:
    """How this command is called again from here."""
    called = Path(sys.argv[0])
    if shutil.which("millpond"):
        return "millpond"
    return str(called) if called.name == "millpond" else f"{sys.executable} -m millpond"


def _usual(name: str) -> Path:
    """The default path of the configuration, which every command uses."""
    from daemon.config import Config
    from daemon.config.config_file import expanded
    from daemon.config.environment import variable

    if told := variable(os.environ, "MILLPOND_CONFIG"):
        return expanded(told)
    return expanded(variable(os.environ, "MILLPOND_DATA_DIR") or Config().data_dir) / name
