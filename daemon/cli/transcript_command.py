"""``millpond transcript``: shows, searches, exports and restores messages, including archived ones."""

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.command_setup import with_process
from daemon.cli.output.table_output import print_json, say, table, tell
from daemon.cli.output.transcript_source import TranscriptSource, part_of, pieces, spoken
from daemon.cli.session_command import key_of, unknown
from daemon.errors import ArchiveError, InboundError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence

    from daemon.process import Process
    from daemon.recall.index.indexes import MessageIndex

NAME = click.argument("name", metavar="NAME|SESSION")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def transcript() -> None:
    """Show all messages of a conversation, including archived messages.

    NAME is a transcript, as shown by `transcript list SESSION`, or the path of a transcript file. With SESSION, all
    messages in the session are shown.
    """


# Lists


@transcript.command("list")
@click.argument("name", metavar="[SESSION]", required=False)
@JSON
@click.pass_context
def list_(ctx: click.Context, *, name: str | None, as_json: bool) -> None:
    """List the transcripts of SESSION. Without SESSION, list the sessions that have transcripts."""
    if name is None:
        rows = with_process(ctx, _sessions, makes=False)
        heads = ["session", "transcripts", "messages", "bytes", "newest"]
    else:
        key = key_of(ctx, name)
        rows = with_process(ctx, lambda process: _of_session(process, key), makes=False)
        heads = ["messages", "bytes", "archived", "name"]
    if as_json:
        print_json({"transcripts": rows})
    else:
        table(heads, [[row[head] for head in heads] for row in rows])


async def _sessions(process: "Process") -> list[dict[str, Any]]:
    from daemon.bus import scan

    rows: list[dict[str, Any]] = []
    names = sorted([name async for found in scan(process.bus, "segments") for name in found])
    for session in names:
        segments = await process.transcripts.segments(session)
        if segments:
            rows.append(
                {
                    "session": session,
                    "transcripts": len(segments),
                    "messages": f"{segments[0].first}-{max(segment.upto for segment in segments) - 1}",
                    "bytes": sum(segment.bytes for segment in segments),
                    "newest": max(segment.time for segment in segments),
                }
            )
    return rows


async def _of_session(process: "Process", key: str) -> list[dict[str, Any]]:
    from daemon.session import SessionReader

    if not (await SessionReader(process.bus).state(key)).exists:
        raise InboundError(await unknown(process.bus, key))
    return [
        {
            "session": key,
            "messages": f"{segment.first}-{segment.upto - 1}",
            "first": segment.first,
            "upto": segment.upto,
            "bytes": segment.bytes,
            "archived": segment.time,
            "checksum": segment.checksum,
            "name": segment.name,
        }
        for segment in await process.transcripts.segments(key)
    ]


# Messages


@transcript.command()
@NAME
@click.option("--from", "first", type=click.IntRange(0), metavar="N", help="Index of the first message.")
@click.option("--upto", type=click.IntRange(1), metavar="N", help="Index of the last message plus one.")
@JSON
@click.pass_context
def show(ctx: click.Context, *, name: str, first: int | None, upto: int | None, as_json: bool) -> None:
    """Show messages, oldest first."""

    async def work(process: "Process") -> list[str]:
        wanted = part_of(await spoken(ctx, process, name), first, upto)
        return await (_show_json if as_json else _show)(process, wanted)

    _end(with_process(ctx, work, makes=False))


async def _show(process: "Process", wanted: TranscriptSource) -> list[str]:
    from daemon.cli.output.session_view import line_of, message_of

    gaps: list[str] = []
    async with aclosing(pieces(process, wanted)) as found:
        async for piece in found:
            if piece.reason:
                gaps.append(piece.reason)
                tell(f"──── messages {piece.first} to {piece.upto - 1} cannot be read")
            for index, entry in piece.entries():
                say(line_of(message_of(index, entry)))
    return gaps


async def _show_json(process: "Process", wanted: TranscriptSource) -> list[str]:
    """Prints piece by piece, because a session may be larger than the machine's memory."""
    import msgspec

    from daemon.cli.output.session_view import message_of
    from daemon.printable import printable_json

    def encoded(content: Any) -> str:
        return printable_json(msgspec.json.encode(content).decode())

    gaps: list[dict[str, Any]] = []
    head = {"session": wanted.session, "first": wanted.first, "upto": wanted.upto}
    click.echo(f'{encoded(head)[:-1]},"messages":[', nl=False)
    comma = ""
    async with aclosing(pieces(process, wanted)) as found:
        async for piece in found:
            if piece.reason:
                gaps.append({"first": piece.first, "upto": piece.upto, "reason": piece.reason})
            for index, entry in piece.entries():
                click.echo(f"{comma}\n{encoded(message_of(index, entry))}", nl=False)
                comma = ","
    click.echo(f'],\n"missing":{encoded(gaps)}}}')
    return [gap["reason"] for gap in gaps]


def _end(reasons: "Sequence[str]") -> None:
    """Raises an error for unreadable parts, after everything else was printed."""
    if reasons:
        raise ArchiveError("\nmillpond: ".join(dict.fromkeys(reasons)))


# Search


@transcript.command()
@click.argument("text")
@click.option("--session", "name", metavar="SESSION", help="Search only this session.")
@click.option("--scope", help="Search only sessions that use the memory with this name (scope).")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="Maximum number of recent hits to show.",
)
@click.option("--all", "reads_all", is_flag=True, help="Read all archive files instead of the search index.")
@JSON
@click.pass_context
def search(  # noqa: PLR0913 - the options of the command
    ctx: click.Context, *, text: str, name: str | None, scope: str | None, limit: int, reads_all: bool, as_json: bool
) -> None:
    """Find all stored messages that contain every word of TEXT, ignoring case.

    The results are ordered by the last activity of their sessions. The command also finds words inside longer words,
    because languages such as Chinese have no spaces between words. If the search index contains all messages of a
    session, it is used to search the session's archived messages. The index does not contain tool calls or long tool
    results.
    """
    if not text.split():
        raise click.UsageError("TEXT contains no word to search for")
    if name and scope:
        raise click.UsageError("use only one of --session and --scope")

    async def work(process: "Process") -> "tuple[list[Any], list[Any], MessageIndex]":
        from daemon.recall.index.indexes import MessageIndex
        from daemon.transcripts import Hit, SearchWords
        from daemon.transcripts import search as search_all

        found: list[Any] = []
        sessions = await _among(ctx, process, name, scope)
        index = MessageIndex(process.bus, process.data_dir)
        among = search_all(
            process.transcripts, sessions, SearchWords(text), limit=limit, index=None if reads_all else index
        )
        async with aclosing(among) as matches:
            async for match in matches:
                found.append(match)
        hits = [one for one in found if isinstance(one, Hit)]
        return hits, [one for one in found if not isinstance(one, Hit)], index

    hits, unread, index = with_process(ctx, work, makes=False)
    if as_json:
        print_json({"matches": hits, "missing": unread, "indexed": index.found, "not_indexed": index.missed})
    for note in () if as_json else _notes(index):
        click.echo(f"millpond: {note}", err=True)
    for hit in () if as_json else hits:
        who = hit.role + (f" {hit.sender}" if hit.sender else "")
        say(f"{hit.session} [{hit.index}] {hit.time} {who}: {hit.excerpt}")
    _end([one.reason for one in unread])


def _notes(index: "MessageIndex") -> "Iterator[str]":
    """Where the archived messages were searched."""
    if index.found:
        yield (
            f"archived messages were searched with the search index (sessions: {index.found:,}), which does not "
            "include tool calls or tool results of more than 2,000 characters. To search tool calls and long tool "
            "results too, add --all."
        )
    if index.missed:
        yield (
            "the search index does not contain all archived messages, so archive files were read (sessions: "
            f"{index.missed:,})."
        )


async def _among(ctx: click.Context, process: "Process", name: str | None, scope: str | None) -> list[str]:
    """The sessions that are searched, the one active last first."""
    from daemon.session import all_sessions

    if name is not None:
        return [(await spoken(ctx, process, key_of(ctx, name))).session]
    if scope is None:
        found = await all_sessions(process.bus)
    elif not (found := await _of_scope(process, scope)):
        raise InboundError(
            f"scope {scope} was not found: no session uses it. To see a session's scope, run `millpond "
            "session show SESSION`."
        )
    return await _by_activity(process, found)


async def _of_scope(process: "Process", scope: str) -> list[str]:
    """The sessions of a scope and of those that are linked with it."""
    from daemon.export import family
    from daemon.session import sessions_of

    scopes = await family(process.bus, scope)
    return [session for session, _ in await sessions_of(process.bus, scopes)]


async def _by_activity(process: "Process", sessions: "Sequence[str]") -> list[str]:
    score: dict[str, float] = {}
    for at in range(0, len(sessions), 1_000):
        part = sessions[at : at + 1_000]
        found = await process.bus.call("ZMSCORE", process.bus.keys.sessions, *part)
        score |= {session: float(number or 0) for session, number in zip(part, found, strict=True)}
    return sorted(sessions, key=lambda session: -score[session])


# Copies


@transcript.command()
@NAME
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="Path of a .jsonl or .jsonl.gz file, or - for standard output.",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@JSON
@click.pass_context
def export(ctx: click.Context, *, name: str, output: Path, force: bool, as_json: bool) -> None:
    """Write the messages to a file, one per line, exactly as they were stored.

    The file is compressed if its name ends in .gz.
    """
    from daemon.cli.output.output_file import written

    async def work(process: "Process") -> dict[str, Any]:
        wanted = await spoken(ctx, process, name)
        count = await written(output, _lines(process, wanted), replace=force)
        return {"session": wanted.session, "first": wanted.first, "upto": wanted.upto, "bytes": count}

    done = with_process(ctx, work, makes=False)
    if as_json:
        print_json(done | {"file": str(output)})
    elif str(output) != "-":
        tell(f"{output}: messages {done['first']} to {done['upto'] - 1} of {done['session']}, {done['bytes']:,} bytes")


async def _raws(process: "Process", wanted: TranscriptSource) -> "AsyncGenerator[Sequence[bytes]]":
    """All messages, or ArchiveError: an incomplete conversation must not look complete."""
    async with aclosing(pieces(process, wanted)) as found:
        async for piece in found:
            if piece.reason:
                raise ArchiveError(piece.reason)
            yield piece.raws


async def _lines(process: "Process", wanted: TranscriptSource) -> "AsyncGenerator[bytes]":
    from daemon.archive.segment import lines_of

    async with aclosing(_raws(process, wanted)) as found:
        async for raws in found:
            yield lines_of(raws)


@transcript.command()
@NAME
@JSON
@click.pass_context
def restore(ctx: click.Context, *, name: str, as_json: bool) -> None:
    """Create a new session named SESSION~1 (or SESSION~2, and so on) from the messages.

    You can continue the conversation in the new session. The messages keep their numbers (indexes). The command does
    not change the memory. If the new session's messages are summarized later, their content is added to the memory
    a second time.
    """

    async def work(process: "Process") -> dict[str, Any]:
        return await _restored(process, await spoken(ctx, process, name))

    done = with_process(ctx, work, makes=False)
    if as_json:
        print_json(done)
    else:
        tell(f"{done['session']}: messages {done['first']} to {done['upto'] - 1}, {done['tokens']:,} tokens")


async def _restored(process: "Process", wanted: TranscriptSource) -> dict[str, Any]:
    import msgspec

    from daemon.memory import Memories
    from daemon.transcripts import RestoreSource
    from daemon.transcripts import restore as make

    source = RestoreSource(session=wanted.session, scope=wanted.state.scope, first=wanted.first)
    done = await make(process.bus, Memories(process.bus), source, lambda: _raws(process, wanted))
    fields: dict[str, Any] = msgspec.to_builtins(done)
    return fields | {"of": wanted.session, "scope": source.scope}
