"""``millpond channel``: the channels, and the people who may or may not talk to the bot on them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.command_setup import loaded, with_bus, with_process
from daemon.cli.memory_command import author
from daemon.cli.output.table_output import print_json, say, table, tell
from daemon.errors import ConfigError, InboundError

if TYPE_CHECKING:
    from daemon.bus import Bus
    from daemon.config import Config, PushConfig
    from daemon.process import Process

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

CHECK_TIMEOUT_S = 20.0
"""Limit for a platform's answer about its state."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One channel."""

    name: str
    type: str
    bot: str
    enabled: bool
    access: str
    """The access policy, or ``everybody`` if the channel has none."""
    paired: int = 0
    """People and groups that were let in; those that the configuration lists are not counted."""
    banned: int = 0
    codes: int = 0
    """Strangers with a code that can be used just now."""
    waiting: int = 0
    """Replies that are not yet delivered."""
    leaders: tuple[str, ...] = ()
    """Processes that send its replies."""
    receiver: str = ""
    """The process that polls the platform, if one does."""
    health: str = ""
    """The platform's answer, if it was asked."""
    ok: bool | None = None


@click.group()
def channel() -> None:
    """Show the channels, and approve or ban people.

    ID is the ID of a person or group on the platform. In the bot's reply to /whoami, the ID is the part after the
    colon.
    """


@channel.command("list")
@click.option("--check", is_flag=True, help="Check the status of each platform.")
@JSON
@click.pass_context
def list_(ctx: click.Context, *, check: bool, as_json: bool) -> None:
    """List the channels, and show the access policy, pending replies and sending process of each channel."""
    rows = with_process(ctx, lambda process: read_channels(process, check=check), makes=False)
    if as_json:
        print_json(rows)
        return
    heads = [
        "name",
        "type",
        "bot",
        "enabled",
        "access",
        "approved",
        "banned",
        "open codes",
        "waiting",
        "sent by",
        "polled by",
    ]
    cells = [
        [
            *(row.name, row.type, row.bot, "yes" if row.enabled else "no", row.access),
            *(row.paired, row.banned, row.codes, row.waiting, ", ".join(row.leaders) or "-", row.receiver or "-"),
        ]
        for row in rows
    ]
    table(heads, cells)
    for row in rows:
        if row.health:
            say(f"{row.name}: {row.health}")
    if any(row.ok is False for row in rows):
        ctx.exit(1)


@channel.command()
@click.argument("name")
@click.argument("code", required=False)
@click.option("--id", "wanted", metavar="ID", help="Approve the person who has this ID on the platform.")
@JSON
@click.pass_context
def pair(ctx: click.Context, name: str, code: str | None, *, wanted: str | None, as_json: bool) -> None:
    """Approve the person who received CODE on channel NAME. The bot notifies the person that they have been
    approved."""
    if bool(code) == bool(wanted):
        raise click.UsageError(
            "use either CODE (the pairing code that the person received) or --id (the person's ID on the platform)"
        )
    config = _push(ctx, name)
    if wanted:
        _decide(ctx, name, wanted, "paired")
        shown = {"channel": name, "id": wanted, "name": ""}
    else:
        shown = with_bus(ctx, lambda bus: _by_code(bus, loaded(ctx).config, name, config, code or ""))
    if as_json:
        print_json(shown)
    else:
        tell(f"{shown['name'] or shown['id']} can now talk to the bot on {name}")


@channel.command()
@click.argument("name")
@click.argument("who", metavar="ID")
@JSON
@click.pass_context
def ban(ctx: click.Context, name: str, who: str, *, as_json: bool) -> None:
    """Ban a person or group on channel NAME. Messages that were accepted before the ban are still answered."""
    _push(ctx, name)
    _decide(ctx, name, who, "banned")
    if as_json:
        print_json({"channel": name, "id": who, "banned": True})
    else:
        tell(f"{who} is banned from {name}")


@channel.command()
@click.argument("name")
@click.argument("who", metavar="ID")
@JSON
@click.pass_context
def unban(ctx: click.Context, name: str, who: str, *, as_json: bool) -> None:
    """Remove a ban. After the ban is lifted, the configuration determines whether the person may talk to the bot."""
    _push(ctx, name)
    if _decide(ctx, name, who, "free") == "none":
        raise InboundError(f"{who} is not banned from {name}")
    if as_json:
        print_json({"channel": name, "id": who, "banned": False})
    else:
        tell(f"{who} is no longer banned on channel {name}")


def _push(ctx: click.Context, name: str) -> "PushConfig":
    """The configuration of a channel on which not everybody is heard."""
    from daemon.config import PushConfig

    channels = loaded(ctx).config.channels
    config = channels.get(name)
    if config is None:
        raise ConfigError(f"channel {name} was not found. Choose one of: {', '.join(channels)}.")
    if not isinstance(config, PushConfig):
        raise InboundError(
            f"{name} is not a chat-platform channel. The channel accepts messages from anyone, so you cannot approve "
            "or ban people on it"
        )
    return config


def _decide(ctx: click.Context, name: str, who: str, state: Any) -> str:
    by, time = author()

    async def decide(bus: "Bus") -> str:
        from daemon.access import Access

        return await Access(bus, name).decide(who, state, by=by, time=time)

    return with_bus(ctx, decide)


async def _by_code(bus: "Bus", config: "Config", name: str, channel: "PushConfig", code: str) -> dict[str, str]:
    import secrets

    from daemon.access import VALID_S, AccessNotices, PairingCodes, Stranger, welcome

    by, time = author()
    found = await PairingCodes(bus, name).redeem(code, who=f"cli {secrets.token_hex(8)}", by=by, time=time)
    if not isinstance(found, Stranger):
        why = "too many wrong codes were entered. Try again in ten minutes"
        if found == "wrong":
            why = (
                f"code {code} is wrong, has already been used, or is older than {round(VALID_S / 60)} minutes. Ask "
                "for a new code"
            )
        raise InboundError(f"channel {name}: {why}, or approve the person with --id.")
    line = welcome(found, code=code, language=config.bots[channel.bot].language, correlation=secrets.token_hex(8))
    await AccessNotices(bus).say(line, quiet_s=VALID_S)
    return {"channel": name, "id": found.id, "name": found.name}


async def read_channels(process: "Process", *, check: bool = False) -> list[Row]:
    """The current state of every configured channel; with ``check`` each platform is asked.

    Raises:
        BusUnavailable: Redis is away.
    """
    from daemon.config import PushConfig

    rows: list[Row] = []
    for name, config in process.config.channels.items():
        kind = str(config.__struct_config__.tag)
        row = Row(name=name, type=kind, bot=config.bot, enabled=config.enabled, access="everybody")
        if isinstance(config, PushConfig):
            row = await _pushing(process, row, config, check=check and config.enabled)
        rows.append(row)
    return rows


async def _pushing(process: "Process", row: Row, config: "PushConfig", *, check: bool) -> Row:
    from daemon.access import Access, PairingCodes

    bus, name = process.bus, row.name
    partitions = range(bus.keys.partitions)
    states = [entry.state for entry in (await Access(bus, name).read()).values()]
    workers = [await bus.call("HGET", bus.keys.leader(each, name), "worker") for each in partitions]
    receiver = await bus.call("HGET", bus.keys.poller(name), "worker")
    ok, health = await _health(process, name, config) if check else (None, "")
    return replace(
        row,
        access=_policy(config),
        paired=states.count("paired"),
        banned=states.count("banned"),
        codes=await PairingCodes(bus, name).open_codes(),
        waiting=sum([await bus.call("XLEN", bus.keys.out(each, name)) for each in partitions]),
        leaders=tuple(sorted({worker.decode() for worker in workers if worker})),
        receiver=receiver.decode() if receiver else "",
        health=health,
        ok=ok,
    )


def _policy(config: "PushConfig") -> str:
    access = config.access
    listed = f", {len(access.allow)} in the allowlist" if access.allow else ""
    return (access.policy or ("allow" if access.allow else "closed")) + listed


async def _health(process: "Process", name: str, config: "PushConfig") -> tuple[bool, str]:
    import anyio

    from daemon.services import CONNECT, load

    connect: Callable[..., Any] = load(CONNECT)
    with anyio.move_on_after(CHECK_TIMEOUT_S):
        async with connect(process, name, config) as adapter:
            health = await adapter.health()
            return health.ok, health.text
    return False, (
        f"the platform did not respond within {CHECK_TIMEOUT_S:g} s. Check the network and the platform's status page"
    )
