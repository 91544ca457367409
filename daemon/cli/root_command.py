"""The root of the ``millpond`` command: its options, and how errors leave it."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from daemon.cli.command_setup import FAILED, INTERRUPTED, LazyGroup, code_of, leaves, translated
from daemon.errors import MillpondError
from daemon.printable import printable
from daemon.version import __version__

HELP = {"-h", "--help"}

COMMANDS = {
    "init": "init_command:init",
    "run": "run_command:run",
    "page": "page_command:page",
    "chat": "chat_command:chat",
    "send": "chat_command:send",
    "session": "session_command:session",
    "memory": "memory_command:memory",
    "channel": "channel_command:channel",
    "person": "person_command:person",
    "reminder": "reminder_command:reminder",
    "transcript": "transcript_command:transcript",
    "trace": "trace_command:trace",
    "queue": "queue_command:queue",
    "worker": "usage_command:worker",
    "usage": "usage_command:usage",
    "data": "data_command:data",
    "config": "config_command:config",
    "redis-cli": "redis_command:redis_cli",
    "redis-acl": "redis_command:redis_acl",
    "doctor": "doctor.doctor_command:doctor",
    "version": "usage_command:version",
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options before the command's name; every command finds them as ``ctx.obj``."""

    config_path: Path | None = None
    """The configuration file that was named; None: the usual places."""


class Root(LazyGroup):
    """A group of commands that prints errors as ``millpond: <error and remedy>`` and exits with a code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; ``daemon.cli.command_setup`` maps its errors to exit codes."""
        if not HELP & set(sys.argv):
            _import_structlog()
        try:
            return super().invoke(ctx)
        except (MillpondError, TimeoutError, BrokenPipeError, ExceptionGroup) as error:
            ctx.exit(_told(leaves(error), error))
        except click.UsageError as error:
            raise click.UsageError(translated(error.format_message()), error.ctx) from error
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


def _import_structlog() -> None:
    """Import structlog without rich. With rich, it prepares tracebacks that Millpond never prints: 4 MB and 40 ms."""
    modules: dict[str, Any] = sys.modules
    if not {"structlog", "rich"} & modules.keys():
        modules["rich"] = None  # as if it were not installed
        import_module("structlog")
        del modules["rich"]


def _told(found: Sequence[BaseException], error: Exception) -> int:
    """Print the errors and return the exit code. Raises ``error`` again if part of it is a bug."""
    if isinstance(found[0], BrokenPipeError):
        raise found[0]  # whoever read our output left (`| head`): click ends quietly, outside of any group
    codes = [code_of(leaf) if isinstance(leaf, Exception) else None for leaf in found]
    if any(code is None for code in codes):
        raise error
    for text in dict.fromkeys(str(leaf) for leaf in found):
        click.echo(f"millpond: {printable(translated(text))}", err=True)
    return codes[0] or FAILED


@click.group(cls=Root, lazy=COMMANDS, context_settings={"help_option_names": sorted(HELP)})
@click.option(
    "--config",
    "config_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Configuration file. Default: the file in MILLPOND_CONFIG, or millpond.toml in the data directory.",
)
@click.version_option(__version__, prog_name="millpond")
@click.pass_context
def root(ctx: click.Context, config_path: Path | None) -> None:
    """Chat bots whose conversations never run out of context."""
    ctx.obj = Options(config_path=config_path)
