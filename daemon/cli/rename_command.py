"""``millpond session rename``: gives a session a title."""

from typing import TYPE_CHECKING

import click

from daemon.cli.command_setup import with_bus
from daemon.cli.session_command import key_of, unknown
from daemon.cli.table_output import print_json, say
from daemon.errors import InboundError

if TYPE_CHECKING:
    from daemon.bus import Bus


@click.command("rename")
@click.argument("name", metavar="SESSION")
@click.argument("title")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def rename_session(ctx: click.Context, name: str, title: str, *, as_json: bool) -> None:
    """Set the title of SESSION that is shown in lists of sessions. An empty TITLE removes the title."""
    key = key_of(ctx, name)
    given = with_bus(ctx, lambda bus: _renamed(bus, key, title))
    if as_json:
        print_json({"session": key, "title": given})
    else:
        say(f"{key}: {given or 'the title was removed'}")


async def _renamed(bus: "Bus", key: str, title: str) -> str:
    from daemon.session import Labels, SessionReader

    if not (await SessionReader(bus).state(key)).exists:
        raise InboundError(await unknown(bus, key))
    labels = Labels(bus)
    await labels.rename(key, title)
    return (await labels.of(key)).title
