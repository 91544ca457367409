"""``millpond memory search``: searches a scope's memory as turns and tools do."""

from typing import TYPE_CHECKING, Any

import click

from daemon.cli.command_setup import with_process
from daemon.cli.memory_command import scope_named
from daemon.cli.table_output import print_json, say

if TYPE_CHECKING:
    from daemon.process import Process
    from daemon.recall import Found, Mode


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

    async def search(process: "Process") -> tuple[str, "Found"]:
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


def _shown(scope: str, found: "Found") -> dict[str, Any]:
    return {"scope": scope, "note": found.note, "hits": list(found.hits)}
