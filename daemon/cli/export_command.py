"""``millpond session export``: everything that is kept of a person, a group or another scope, as one file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.command_setup import with_process
from daemon.cli.output.output_file import opened
from daemon.cli.output.table_output import print_json, say
from daemon.cli.session_command import key_of, unknown
from daemon.errors import ArchiveError, InboundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.export import ExportResult
    from daemon.memory import Memories
    from daemon.process import Process
    from daemon.wording import Language


@click.command()
@click.argument("name", metavar="[SESSION]", required=False)
@click.option(
    "--person",
    metavar="ID",
    help="Export the data of this person from every bot. ID has the form <channel>:<sender>, as shown by /whoami.",
)
@click.option(
    "--scope", metavar="SCOPE", help=("Export the memory with this scope, as shown by `millpond session show`.")
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.zip", help="Path of the zip file."
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def export(ctx: click.Context, /, *, output: Path, force: bool, as_json: bool, **whose: str | None) -> None:
    """Export all stored data of a person or group into a zip file.

    The file contains memory with all versions, all conversations, files, and usage. SESSION selects the person or
    group whose memory the session uses. The option --person also includes the person's messages in groups.
    """
    name, person, scope = (whose[option] or "" for option in ("name", "person", "scope"))
    if sum(map(bool, (name, person, scope))) != 1:
        raise click.UsageError("use exactly one of SESSION, --person and --scope")
    key = key_of(ctx, name) if name else ""

    async def work(process: "Process") -> "ExportResult":
        from daemon.export import ZipWriter, person_in, subject_of
        from daemon.export import export as write

        scopes = await _scopes(process, key, person, scope)
        who = _person(person) if person else ""
        subject = await (person_in(process.bus, who, scopes) if who else subject_of(process.bus, scopes))
        sources, now = process.export_sources(_memories(process)), process.clock.now()
        with opened(output, replace=force) as file:
            done = await write(sources, subject, ZipWriter(file, now=now), language=_language(process, scopes))
            if not (done.scopes or done.sessions or done.groups):
                raise InboundError(
                    f"{person}: nothing is stored about this person. Check the ID. /whoami shows the ID in a chat."
                )
            return done

    done = with_process(ctx, work, makes=False)
    if as_json:
        print_json({"file": str(output), **_fields(done)})
    else:
        say(
            f"{output}: {len(done.scopes)} scopes, {len(done.sessions)} sessions, {done.messages:,} messages, "
            f"{done.files:,} files"
        )
    if done.missing:
        raise ArchiveError("some data could not be read. These parts are missing: " + "\nmillpond: ".join(done.missing))


def _language(process: "Process", scopes: "Sequence[str]") -> "Language":
    from daemon.memory.memory_files import bot_of

    bots = process.config.bots
    named = [bots[bot_of(scope)] for scope in scopes if bot_of(scope) in bots]
    return next(iter(named or bots.values())).language


def _person(name: str) -> str:
    """A person's ID in its canonical spelling.

    Raises:
        BadSessionKey: it is none.
    """
    from daemon.errors import BadSessionKey
    from daemon.sessionkey import SessionKey

    key = SessionKey.parse(name)
    if key.thread:
        raise BadSessionKey(f"{name[:80]!r} is not a person's ID. Write <channel>:<sender>, as shown by /whoami.")
    return str(key)


def _memories(process: "Process") -> "Memories":
    from daemon.memory import Memories

    return Memories(process.bus, process.archive)


def _fields(done: "ExportResult") -> dict[str, Any]:
    from msgspec import to_builtins

    fields: dict[str, Any] = to_builtins(done)
    return fields


async def _scopes(process: "Process", key: str, person: str, scope: str) -> "Sequence[str]":
    """The scopes that are meant, with those that are linked with them.

    Raises:
        InboundError: nothing is kept of them.
    """
    from daemon.export import family, person_scopes
    from daemon.session import SessionReader, sessions_of

    if key:
        state = await SessionReader(process.bus).state(key)
        if not state.scope:
            raise InboundError(await unknown(process.bus, key))
        found = [state.scope]
    elif person:
        found = await person_scopes(process.bus, _person(person))
    else:
        is_there = await process.bus.call("EXISTS", process.bus.keys.memory(scope))
        if not is_there and not await sessions_of(process.bus, [scope]):
            raise InboundError(
                f"scope {scope} was not found: no session uses it. To see a session's scope, run `millpond session "
                "show SESSION`."
            )
        found = [scope]
    families = [await family(process.bus, one) for one in found]
    return list(dict.fromkeys(one for several in families for one in several))
