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

from daemon.cli.exits import INTERRUPTED
from daemon.printable import printable

if TYPE_CHECKING:
    from daemon.config import Config
    from daemon.setup.answers import Answers
    from daemon.setup.asking import Asker
    from daemon.setup.flags import Flags
    from daemon.setup.foreign import Elsewhere
    from daemon.setup.place import Place
    from daemon.setup.tables import SecretFile


@click.command()
@click.option("--data-dir", metavar="DIR", help="Where everything is kept; default: ~/.millpond.")
@click.option("--bot", metavar="NAME", help="Name of the bot; default: pond.")
@click.option("--language", type=click.Choice(["en", "zh"]), help="Of what the bot says itself.")
@click.option("--time-zone", metavar="ZONE", help="IANA name, as Europe/Berlin; default: this machine's.")
@click.option("--workspace", metavar="DIR", help="The bot's folder; default: bots/NAME in the data directory.")
@click.option("--offline", is_flag=True, help="No model: the labelled stand-in answers.")
@click.option("--model-api", type=click.Choice(["openai", "anthropic"]), help="API of the model's server.")
@click.option("--model-url", metavar="URL", help="Address of the server, as https://api.openai.com/v1.")
@click.option("--model", metavar="NAME", help="Name of the model.")
@click.option("--model-key", metavar="KEY", help="Its key; better in a file, others can see what you type here.")
@click.option("--model-key-file", metavar="FILE", help="File that holds the key; it is copied.")
@click.option("--telegram/--no-telegram", default=None, help="Whether it talks at Telegram; default: with a token.")
@click.option("--telegram-token", metavar="TOKEN", help="What BotFather gave; better in a file.")
@click.option("--telegram-token-file", metavar="FILE", help="File that holds the token; it is copied.")
@click.option("--telegram-url", metavar="URL", help="Another Bot API server than https://api.telegram.org.")
@click.option("--channel", metavar="NAME", help="Name of the channel's section; default: telegram.")
@click.option("--owner", metavar="ID", help="Your id at Telegram, instead of pairing.")
@click.option("--slack/--no-slack", default=None, help="Whether it talks at Slack; default: with a token.")
@click.option("--slack-token", metavar="TOKEN", help="The app's bot token, xoxb-…; better in a file.")
@click.option("--slack-token-file", metavar="FILE", help="File that holds it; it is copied.")
@click.option("--slack-app-token", metavar="TOKEN", help="The app token, xapp-…, to hear over a socket.")
@click.option("--slack-app-token-file", metavar="FILE", help="File that holds it; it is copied.")
@click.option("--slack-events-url", metavar="URL", help="Where Slack brings what is said; -: over a socket.")
@click.option("--slack-signing-secret", metavar="SECRET", help="What Slack signs that with; better in a file.")
@click.option("--slack-signing-secret-file", metavar="FILE", help="File that holds it; it is copied.")
@click.option("--slack-url", metavar="URL", help="Another Web API than https://slack.com/api.")
@click.option("--slack-channel", metavar="NAME", help="Name of the channel's section; default: slack.")
@click.option("--slack-owner", metavar="ID", help="Your member ID at Slack, U…, instead of pairing.")
@click.option("--slack-manifest", is_flag=True, help="Print what Slack makes the app from, and do nothing else.")
@click.option("--pair/--no-pair", default=None, help="Wait for you to say who you are; default: on a terminal.")
@click.option("--access", type=click.Choice(["pairing", "private", "open"]), help="Who may talk to it.")
@click.option(
    "--from", "source", metavar="DIR", type=click.Path(path_type=Path), help="Take over a nanobot or OpenClaw."
)
@click.option("--memory-of", metavar="CHANNEL:ID", help="Whose memory that becomes; default: the owner's.")
@click.option("--no-test", "test", flag_value=False, default=True, help="Try neither model nor tokens.")
@click.option("--yes", is_flag=True, help="Ask nothing: flags, what is there, and defaults; change what is there.")
@click.pass_context
def init(ctx: click.Context, /, *, slack_manifest: bool, **given: Any) -> None:
    """Set a bot up: ask for a model and for tokens, try them, find out who you are, and write the configuration.

    Every question has a flag. Without a terminal nothing is asked. What is there already is offered as the answer,
    kept otherwise, and copied before it is changed. With --slack it is a bot at Slack, else one at Telegram.
    """
    from daemon.setup.asking import Nobody, Person
    from daemon.setup.flags import Flags
    from daemon.setup.slack_scopes import manifest

    flags = Flags(**given)
    if slack_manifest:
        url = flags.slack_events_url
        click.echo(manifest("" if url in (None, "-") else url), nl=False)
        return
    asks = not flags.yes and sys.stdin.isatty() and sys.stdout.isatty()
    try:
        _set_up(ctx, flags, Person() if asks else Nobody())
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nmillpond: stopped; what was not said to be written was not", err=True)
        ctx.exit(INTERRUPTED)


def _set_up(ctx: click.Context, flags: "Flags", asker: "Asker") -> None:
    from daemon import log
    from daemon.setup.foreign import find
    from daemon.setup.foreign_settings import Settings
    from daemon.setup.interview import Interview
    from daemon.setup.place import place_of
    from daemon.setup.tables import with_answers
    from daemon.setup.writing import checked

    log.configure("error")
    environ = dict(os.environ)
    config_path: Path | None = getattr(ctx.obj, "config_path", None)
    place = place_of(config_path, flags.data_dir, environ)
    if not _may_change(place, flags, asker):
        click.echo("Nothing has changed.")
        return
    found = find(flags.source, environ) if flags.source else None
    if found:
        _tell_found(found)
    answers = Interview(asker, flags, place, found.settings if found else Settings(), environ).answers()
    tables, files = with_answers(place.tables, answers)
    config = checked(place.path, tables, files, environ)
    scope = _whose(flags, asker, answers, config, found) if found else ""
    if place.text and asker.asks and not asker.confirm(f"\nWrite this to {place.path}", default=True):
        click.echo("Nothing has changed.")
        return
    with _undisturbed():
        _write(place, tables, files)
    _fill_workspace(answers, config, found)
    if found and scope:
        _remember(config, answers, scope, found)
    _tell_next(ctx, place, answers)


@contextmanager
def _undisturbed() -> Generator[None]:
    """Ctrl-C waits until the block is over: secrets and the configuration that names them belong together."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _may_change(place: "Place", flags: "Flags", asker: "Asker") -> bool:
    from daemon.errors import ConfigError

    if not place.text.strip():
        click.echo(f"Everything goes into {place.path}.\n")
        return True
    bots, channels = ", ".join(place.bots) or "none", ", ".join(place.section("channels")) or "the usual ones"
    click.echo(f"There is a configuration: {place.path} (bots: {printable(bots)}; channels: {printable(channels)}).")
    if asker.asks:
        return asker.confirm("Change it (a copy is kept)", default=True)
    if not flags.yes:
        raise ConfigError(f"{place.path} is there already; add --yes to change it (a copy is kept)")
    return True


def _write(place: "Place", tables: dict[str, object], files: "list[SecretFile]") -> None:
    from daemon.clock import SystemClock
    from daemon.setup.writing import write

    written = write(place.path, place.text, tables, files, stamp=f"{SystemClock().now():%Y%m%dT%H%M%S}")
    if not written.changed:
        click.echo(f"\n{place.path} says all of this already.")
        return
    names = "".join(f", {place.path.with_name(file.name)}" for file in files)
    click.echo(f"\nWritten: {place.path}{names}")
    if written.backup:
        click.echo(f"What was there before: {written.backup}")


def _fill_workspace(answers: "Answers", config: "Config", found: "Elsewhere | None") -> None:
    from daemon.config import bot_workspace
    from daemon.setup.taking import copy_files
    from daemon.setup.writing import write_templates

    workspace = bot_workspace(config, answers.bot)
    if found:
        copied = copy_files(found, workspace)
        skills = sorted({name.split("/")[1] for name in copied.taken if name.startswith("skills/")})
        plain = [name for name in copied.taken if not name.startswith("skills/")]
        _tell("Taken over into the workspace", [*plain, *(f"skill {name}" for name in skills)])
        _tell("Left alone, since there is another one already", copied.there)
    owner = answers.owner
    values = {
        "bot": answers.bot,
        "owner": owner.name if owner and owner.name else "?",
        "time_zone": answers.time_zone,
        "language": {"en": "English", "zh": "中文"}[answers.language],
    }
    _tell(f"New in {workspace}", write_templates(workspace, language=answers.language, values=values))


def _whose(flags: "Flags", asker: "Asker", answers: "Answers", config: "Config", found: "Elsewhere") -> str:
    """The scope that what another program remembered goes to; empty: nowhere."""
    from daemon.errors import MillpondError
    from daemon.setup.taking import scope_in

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

        question = "Whose memory is it (<channel>:<sender>, as /whoami shows it; - for nobody's)"
        identity = asker.text(question, flag="--memory-of", given=None, default="-", check=check)
    if identity in ("", "-"):
        click.echo("What it remembered was not taken over: say whose it is with --memory-of CHANNEL:ID.")
        return ""
    return scope_in(config, answers.bot, identity)


def _remember(config: "Config", answers: "Answers", scope: str, found: "Elsewhere") -> None:
    import anyio

    from daemon.setup.taking import remember

    done = anyio.run(remember, config, answers.bot, scope, found)
    what = [
        *([f"MEMORY.md, version {done.version}"] if done.memory else []),
        *([f"{done.history:,} entries of HISTORY.md"] if done.history else []),
        *([f"{done.notes:,} daily notes"] if done.notes else []),
    ]
    _tell(f"Taken over into the memory of {scope}", what or ["nothing new"])


def _tell_found(found: "Elsewhere") -> None:
    remembered = found.remembered
    click.echo(f"Found {found.program}: {printable(str(found.workspace))}")
    what = [
        *found.bootstrap,
        *([f"{len({path.split('/')[0] for path in found.skills})} skills"] if found.skills else []),
        *([f"MEMORY.md, {len(remembered.memory):,} characters"] if remembered.memory else []),
        *([f"{len(remembered.history):,} entries of history"] if remembered.history else []),
        *([f"{len(remembered.notes):,} daily notes"] if remembered.notes else []),
    ]
    _tell("  to be taken over", what)
    _tell("  not taken over", found.left)
    if found.settings.token:
        click.echo("  End it before Millpond starts: a token of Telegram's is for one program at a time.")
    click.echo()


def _tell(what: str, names: "list[str] | tuple[str, ...]") -> None:
    if names:
        click.echo(f"{what}: {printable(', '.join(names))}")


def _tell_next(ctx: click.Context, place: "Place", answers: "Answers") -> None:
    from daemon.config.paths import FILE_NAME

    named = getattr(ctx.obj, "config_path", None) or place.path != Path(os.path.realpath(_usual(FILE_NAME)))
    command = f"{_own_name()} --config {place.path} run" if named else f"{_own_name()} run"
    click.echo(f"\nStart it with: {command}")
    if answers.telegram and answers.telegram.username:
        click.echo(f"Then write to it: https://t.me/{answers.telegram.username}")
    if answers.slack and answers.slack.name:
        link = f", or here: {answers.slack.link}" if answers.slack.link else ""
        click.echo(f"Then write to it: {printable(answers.slack.name)}, under Apps in Slack{link}")
    if answers.model is None:
        click.echo("Without a model a stand-in answers; run `millpond init` again when you have one.")
    if answers.telegram and answers.telegram.owner is None:
        click.echo("Nobody is its administrator yet: `millpond channel pair` lets people in, --owner ID names you.")
    if answers.slack and answers.slack.owner is None:
        click.echo("Nobody is its administrator at Slack yet: --slack-owner ID names you, or pair with `init --slack`.")


def _own_name() -> str:
    """How this command is called again from here."""
    called = Path(sys.argv[0])
    if shutil.which("millpond"):
        return "millpond"
    return str(called) if called.name == "millpond" else f"{sys.executable} -m millpond"


def _usual(name: str) -> Path:
    """Where every command looks for the configuration by itself."""
    from daemon.config import Config
    from daemon.config.environment import variable
    from daemon.config.paths import expanded

    if told := variable(os.environ, "MILLPOND_CONFIG"):
        return expanded(told)
    return expanded(variable(os.environ, "MILLPOND_DATA_DIR") or Config().data_dir) / name
