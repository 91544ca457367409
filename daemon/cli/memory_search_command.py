"""``millpond memory search`` and ``millpond memory audit``."""

from typing import TYPE_CHECKING, Any

import click

from daemon.cli.command_setup import with_process
from daemon.cli.memory_command import scope_named
from daemon.cli.output.table_output import print_json, say, table, tell

if TYPE_CHECKING:
    from daemon.process import Process
    from daemon.recall import Mode, SearchResults


# ``millpond memory search``: searches a scope's memory as turns and tools do.


@click.command("search")
@click.argument("name", metavar="SCOPE|SESSION")
@click.argument("query")
@click.option(
    "--mode",
    type=click.Choice(("search", "vsearch", "query")),
    help="Search by words, by vectors, or by both. Default: memory_search.mode.",
)
@click.option(
    "--limit", type=click.IntRange(1, 100), help="Maximum number of hits. Default: memory_search.max_results."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def search_memory(
    ctx: click.Context, name: str, query: str, *, mode: "Mode | None", limit: int | None, as_json: bool
) -> None:
    """Search memory, history, daily notes and messages for QUERY.

    Not every word has to match. If QUERY names a day or month, that period is searched first.
    """

    async def search(process: "Process") -> tuple[str, "SearchResults"]:
        from daemon.memory import Memories

        home = await Memories(process.bus).home(await scope_named(ctx, process.bus, name))
        try:
            return home, await process.recaller.search(home, query, mode=mode, limit=limit)
        finally:
            await process.recaller.aclose()

    scope, found = with_process(ctx, search, makes=False)
    if as_json:
        print_json(_shown(scope, found))
        return
    from daemon.recall import found_text

    say(found_text(found))


def _shown(scope: str, found: "SearchResults") -> dict[str, Any]:
    return {"scope": scope, "note": found.note, "hits": list(found.hits)}


# ``millpond memory audit``: what each consolidation kept of the messages.

COUNTS = ("memory", "history", "recall", "archive", "unsearched", "pinned")


@click.command("audit")
@click.argument("name", metavar="SCOPE|SESSION")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Maximum number of recent consolidations to show.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def audit_memory(ctx: click.Context, name: str, *, limit: int, as_json: bool) -> None:
    """Show which facts and statements each consolidation kept, and where they are stored.

    "kept" is the share of items that are still found in MEMORY.md, in the history or by a search. The items below the
    table were found only in archived messages. "quiz" shows the number of correct answers and the number of questions.
    If SESSION is given, only this session's consolidations are shown.
    """

    async def audits(process: "Process") -> list[dict[str, Any]]:
        from daemon.memory import Memories
        from daemon.recall import lost_of

        memories = Memories(process.bus, process.archive)
        scope = await scope_named(ctx, process.bus, name)
        session = "" if scope == name else _session(ctx, name)
        entries = [each for each in await memories.history(await memories.home(scope)) if each.audit and not each.lost]
        chosen = [each for each in entries if session in ("", each.session)][-limit:]
        return [
            {
                "session": each.session,
                "first": each.first,
                "upto": each.upto,
                "time": each.time,
                "kind": each.kind,
                **(each.audit.told if each.audit else {}),
                "lost": [
                    {"kind": lost.kind, "message": lost.index, "text": lost.text}
                    for lost in await lost_of(process.transcripts, each)
                ],
            }
            for each in chosen
        ]

    found = with_process(ctx, audits, makes=False)
    if as_json:
        print_json({"audits": found})
        return
    table(("time", "session", "messages", "kept", *COUNTS, "quiz"), [_row(each) for each in found])
    for each in found:
        for lost in each["lost"]:
            tell(
                f"found only in the archive: {lost['kind']}, message {lost['message']}: {lost['text'] or '[forgotten]'}"
            )


def _session(ctx: click.Context, name: str) -> str:
    from daemon.cli.session_command import key_of

    return key_of(ctx, name)


def _row(audit: dict[str, Any]) -> list[str]:
    score = "" if audit["score"] is None else f"{audit['score']:.0%}"
    messages = f"{audit['first']}-{audit['upto'] - 1}"
    quiz = f"{audit['correct']}/{audit['questions']}" if audit["questions"] else ""
    return [audit["time"], audit["session"], messages, score, *(str(audit[count]) for count in COUNTS), quiz]
