"""``millpond page``: a link that opens the page of a web channel."""

from typing import TYPE_CHECKING

import click

from daemon.cli.command_setup import loaded, with_bus
from daemon.errors import ConfigError

if TYPE_CHECKING:
    from daemon.bus import Bus


PERSON_MAX_CHARS = 64


def _person(ctx: click.Context, option: click.Parameter, value: str) -> str:
    if len(value) > PERSON_MAX_CHARS or not value.isprintable():
        raise click.BadParameter(f"a name can have at most {PERSON_MAX_CHARS} printable characters.")
    return value.strip()


@click.command()
@click.option("--channel", metavar="NAME", help="Name of the web channel, if several web channels are running.")
@click.option(
    "--as",
    "person",
    metavar="PERSON",
    default="",
    callback=_person,
    help="Log in as PERSON. The name does not have to be in the [people] section. All conversations of a person "
    "share one memory.",
)
@click.pass_context
def page(ctx: click.Context, channel: str | None, person: str) -> None:
    """Print a link that logs a browser in to the web page. The login link works once and expires after ten minutes.

    Anyone who opens the link can read every conversation and use all of the page's functions. The browser stays logged
    in for 30 days. If the channel has other host names (allowed_hosts), you can replace the host in the link with one
    of them.
    """
    for shown in with_bus(ctx, lambda bus: _links(ctx, bus, channel, person)):
        click.echo(shown)


async def _links(ctx: click.Context, bus: "Bus", channel: str | None, person: str) -> list[str]:
    """A link for each address of the channel, of those processes that said lately that they live."""
    from daemon.operators import LoginCodes, link
    from daemon.overview import web_addresses
    from daemon.people import operator_sender

    name, addresses = _chosen(await web_addresses(bus), channel)
    operator_sender(loaded(ctx).config, name, person)  # refuses a person without an identity on the channel
    return [link(address, await LoginCodes(bus).offer(name, person)) for address in addresses]


def _chosen(found: dict[str, list[str]], channel: str | None) -> tuple[str, list[str]]:
    """The chosen channel and its addresses.

    Raises:
        ConfigError: it is not running, or which one is meant cannot be known.
    """
    if channel is None and len(found) == 1:
        [(name, addresses)] = found.items()
        return name, addresses
    if channel in found:
        return channel, found[channel]
    if not found:
        raise ConfigError("no web channel is running. Start `millpond run`, which serves the page.")
    running = ", ".join(sorted(found))
    if channel is None:
        raise ConfigError(f"several web channels are running. Choose one with --channel: {running}.")
    raise ConfigError(f"web channel {channel} is not running. Running web channels: {running}.")
