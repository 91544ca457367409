"""``millpond memory``: a bot's memory of a person, a group or a session, its versions, and changes by hand."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from daemon.cli.command_setup import LazyGroup, loaded, with_bus
from daemon.cli.output.output_file import edited_draft, text_of
from daemon.cli.output.table_output import print_json, say, table, tell
from daemon.cli.session_command import key_of, unknown
from daemon.errors import BadSessionKey, ConfigError, InboundError

if TYPE_CHECKING:
    from daemon.bus import Bus
    from daemon.config import Config
    from daemon.memory import Memories, MemoryFiles, Recall, VersionChanges

_T = TypeVar("_T")

NAME = click.argument("name", metavar="SCOPE|SESSION")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
REASON_CHARS = 60
"""Characters of a reason that the list shows."""


@dataclass(frozen=True, kw_only=True)
class NamedMemory:
    """The memory that a command is about."""

    memories: "Memories"
    scope: str


MORE = {
    "audit": "memory_search_command:audit_memory",
    "forget": "forget_command:forget_memory",
    "search": "memory_search_command:search_memory",
}
"""Commands of the group that have modules of their own."""


@click.group(cls=LazyGroup, lazy=MORE)
def memory() -> None:
    """Show and change the bots' memories.

    SCOPE names a memory, as shown by `millpond session show`. SESSION selects the memory that the session uses.
    """


@memory.command()
@NAME
@click.option("--version", type=click.IntRange(1), metavar="N", help="Show an older or rejected version of MEMORY.md.")
@click.option(
    "--history",
    is_flag=True,
    help="Show HISTORY.md instead. The history contains one entry for each consolidated part of a conversation.",
)
@click.option("--notes", is_flag=True, help="Show the daily notes instead of MEMORY.md.")
@JSON
@click.pass_context
def show(ctx: click.Context, name: str, *, version: int | None, history: bool, notes: bool, as_json: bool) -> None:
    """Show MEMORY.md, which is part of every prompt."""
    if (version is not None) + history + notes > 1:
        raise click.UsageError("use only one of --version, --history and --notes")
    if history or notes:
        _print_entries(_with_memory(ctx, name, _history if history else _notes), as_json=as_json)
        return
    shown = _with_memory(ctx, name, lambda named: _shown(named, version))
    if as_json:
        print_json(shown)
        return
    text = shown.pop("text")
    table(("memory", "value"), list(shown.items()))
    click.echo()
    say(text)


@memory.command("log")
@NAME
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Maximum number of recent versions to show.",
)
@JSON
@click.pass_context
def log_(ctx: click.Context, name: str, *, limit: int, as_json: bool) -> None:
    """List the versions of MEMORY.md and the cause of each version.

    An asterisk (*) marks the current version. "+" and "-" show the number of characters in added and removed lines.
    """
    rows = _with_memory(ctx, name, lambda named: _log(named, limit))
    if as_json:
        print_json({"versions": rows})
        return
    heads = ("version", "kind", "time", "session", "messages", "model", "by", "+", "-", "reason")
    table(heads, [[_short(row, head) for head in heads] for row in rows])


@memory.command()
@NAME
@click.argument("first", metavar="A", type=click.IntRange(0))
@click.argument("second", metavar="[B]", type=click.IntRange(0), required=False)
@JSON
@click.pass_context
def diff(ctx: click.Context, name: str, *, first: int, second: int | None, as_json: bool) -> None:
    """Show the changes to MEMORY.md from version A to version B, or to the current version. Version 0 is empty."""
    shown = _with_memory(ctx, name, lambda named: _diff(named, first, second))
    if as_json:
        print_json(shown)
    elif shown["diff"]:
        say(shown["diff"])


@memory.command()
@NAME
@click.argument("version", metavar="N", type=click.IntRange(1))
@JSON
@click.pass_context
def restore(ctx: click.Context, name: str, *, version: int, as_json: bool) -> None:
    """Make version N of MEMORY.md the current version, even if version N was rejected. The text gets a new version
    number."""

    async def change(named: NamedMemory) -> int:
        by, time = author()
        return await named.memories.restore(named.scope, version=version, by=by, time=time)

    _print_stored(_stored(ctx, name, change), as_json=as_json)


@memory.command()
@NAME
@click.option(
    "--file", "path", type=click.Path(path_type=Path), help="Read the text from this file (- for standard input)."
)
@click.option(
    "--of", type=click.IntRange(0), metavar="N", help="Version that the edit is based on. Default: the current one."
)
@JSON
@click.pass_context
def edit(ctx: click.Context, name: str, *, path: Path | None, of: int | None, as_json: bool) -> None:
    """Edit MEMORY.md in $VISUAL or $EDITOR.

    If the memory changes while you are editing, your text is kept and lines that newer versions added are appended.
    """
    seen = _with_memory(ctx, name, lambda named: _seen(named, of))
    if path is not None:
        stored = _stored(ctx, name, _edit(seen, text_of(path)))
    else:
        with edited_draft(seen.text) as text:
            stored = _stored(ctx, name, _edit(seen, text))
    _print_stored(stored, as_json=as_json)


# Which memory


def _with_memory(ctx: click.Context, name: str, work: Callable[[NamedMemory], Awaitable[_T]]) -> _T:
    config = loaded(ctx).config

    async def named(bus: "Bus") -> _T:
        from daemon.archive import Archive
        from daemon.config import data_path
        from daemon.memory import Memories

        memories = Memories(bus, Archive(bus, data_path(config), config=config.archive))
        # Of one that was joined with another, what is remembered is the other's.
        return await work(NamedMemory(memories=memories, scope=await memories.home(await scope_named(ctx, bus, name))))

    return with_bus(ctx, named)


async def scope_named(ctx: click.Context, bus: "Bus", name: str) -> str:
    """The scope that a name means: one that has a memory, a session's own, or that of a person as a channel names them.

    Raises:
        InboundError: it is none of them.
    """
    from daemon.session import SessionReader

    # Nothing keeps people from naming a channel like a bot: what has a memory is a scope.
    if await bus.call("EXISTS", bus.keys.memory(name)):
        return name
    try:
        session = key_of(ctx, name)
    except BadSessionKey as error:
        raise InboundError(
            f"no memory (scope) or session is named {name}. To list all sessions, run `millpond session list`."
        ) from error
    state = await SessionReader(bus).state(session)
    scope = state.scope or await _scope_of_person(bus, [f"{bot}:person:{session}" for bot in loaded(ctx).config.bots])
    if not scope:
        raise InboundError(await unknown(bus, session))
    return scope


async def _scope_of_person(bus: "Bus", scopes: "Sequence[str]") -> str:
    """The first of the scopes that has a memory or a session; else empty. A session may have another name."""
    from daemon.recall import SessionBook

    book = SessionBook(bus)
    for scope in scopes:
        if await bus.call("EXISTS", bus.keys.memory(scope)) or await book.of([scope]):
            return scope
    return ""


# What is shown


async def _shown(named: NamedMemory, version: int | None) -> dict[str, Any]:
    current = await named.memories.current(named.scope)
    number = version or current.version
    shown: dict[str, Any] = {"scope": named.scope, "version": number, "current": current.version}
    if not number:
        return shown | {"text": ""}
    found = await named.memories.version(named.scope, number)
    return shown | {"kind": found.kind, "time": found.time, "characters": len(found.text), "text": found.text}


async def _history(named: NamedMemory) -> "Sequence[tuple[str, object]]":
    return [(entry.text, entry) for entry in await named.memories.history(named.scope)]


async def _notes(named: NamedMemory) -> "Sequence[tuple[str, object]]":
    return [(f"{note.date}: {note.text}", note) for note in await named.memories.notes(named.scope)]


def _print_entries(entries: "Sequence[tuple[str, object]]", *, as_json: bool) -> None:
    if as_json:
        print_json({"entries": [entry for _, entry in entries]})
        return
    say("\n\n".join(text.strip("\n") for text, _ in entries))


async def _log(named: NamedMemory, limit: int) -> list[dict[str, Any]]:
    from daemon.memory import changes_of

    return [_row(changed) for changed in await changes_of(named.memories, named.scope, limit=limit)]


def _row(changed: "VersionChanges") -> dict[str, Any]:
    version = changed.version
    return {
        "version": version.version,
        "current": changed.is_current,
        "kind": version.kind,
        "time": version.time,
        "session": version.session,
        "messages": f"{version.first}-{version.upto - 1}" if version.upto else "",
        "model": version.model,
        "by": version.by,
        "of": version.of,
        "+": changed.came,
        "-": changed.went,
        "reason": version.reason or (f"version {version.of}" if version.of else ""),
    }


def _short(row: dict[str, Any], head: str) -> str:
    text = " ".join(str(row[head]).split())
    if head == "version" and row["current"]:
        return f"{text}*"
    return text if len(text) <= REASON_CHARS or head != "reason" else f"{text[: REASON_CHARS - 1]}…"


async def _diff(named: NamedMemory, first: int, second: int | None) -> dict[str, Any]:
    from daemon.memory import seen
    from daemon.memory.text_diff import unified

    old, new = await seen(named.memories, named.scope, first), await seen(named.memories, named.scope, second)
    names = {"old_name": f"version {old.version}", "new_name": f"version {new.version}"}
    changes = unified(old.text, new.text, **names)
    return {"scope": named.scope, "from": old.version, "to": new.version, "diff": changes}


async def _seen(named: NamedMemory, number: int | None) -> "Recall":
    from daemon.memory import seen

    return await seen(named.memories, named.scope, number)


# What is changed


def _edit(seen: "Recall", text: str) -> Callable[[NamedMemory], Awaitable[int]]:
    async def change(named: NamedMemory) -> int:
        by, time = author()
        return await named.memories.edit(named.scope, of=seen.version, text=text, by=by, time=time)

    return change


def author() -> tuple[str, str]:
    """The author and the time of a change by hand."""
    import getpass

    from daemon.clock import SystemClock, stamp

    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, as in containers
        name = "somebody"
    return name, stamp(SystemClock().now())


def _stored(ctx: click.Context, name: str, change: Callable[[NamedMemory], Awaitable[int]]) -> dict[str, Any]:
    config = loaded(ctx).config

    async def work(named: NamedMemory) -> dict[str, Any]:
        from daemon.memory import written

        done = await written(named.memories, _files(named, config), named.scope, lambda: change(named))
        return {"scope": named.scope, "version": done.version, "changed": done.changed}

    return _with_memory(ctx, name, work)


def _files(named: NamedMemory, config: "Config") -> "MemoryFiles":
    from daemon.config import bot_workspace
    from daemon.memory import MemoryFiles

    def workspace_of(bot: str) -> Path:
        if bot not in config.bots:
            raise ConfigError(
                f"bots.{bot} was not found in this configuration, but the memory belongs to this bot. Add the bot."
            )
        return bot_workspace(config, bot)

    return MemoryFiles(named.memories, workspace_of=workspace_of)


def _print_stored(stored: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(stored)
    elif stored["changed"]:
        tell(f"the memory of {stored['scope']} is now at version {stored['version']}")
    else:
        tell(f"no changes: the memory of {stored['scope']} stays at version {stored['version']}")
