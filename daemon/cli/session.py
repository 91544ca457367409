"""``millpond session``: which sessions there are, where they stand, what was said in them."""

import difflib
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.connected import loaded, with_bus, with_process
from daemon.cli.table import print_json, say, table
from daemon.errors import InboundError

if TYPE_CHECKING:
    from daemon.bus import Bus
    from daemon.events import LogEntry
    from daemon.session import SessionState

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
NEAREST_AMONG = 10_000
"""Newest sessions among which the name that was meant is looked for."""


@click.group("session")
def session() -> None:
    """Look at sessions."""


@session.command("list")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="How many, the newest first.")
@JSON
@click.pass_context
def list_(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List the sessions, last active first."""
    rows = with_bus(ctx, lambda bus: _rows(bus, limit))
    if as_json:
        print_json({"sessions": rows})
    else:
        table(("session", "head", "cursor", "waiting", "last activity"), [list(row.values()) for row in rows])


@session.command()
@click.argument("name", metavar="SESSION")
@click.option("--after", type=click.IntRange(-1), help="Show messages behind this index; default: the newest ones.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="How many messages.")
@click.option("--prompt", is_flag=True, help="Show what its model would be sent next instead, by part, with tokens.")
@JSON
@click.pass_context
def show(ctx: click.Context, name: str, *, after: int | None, limit: int, prompt: bool, as_json: bool) -> None:
    """Show where SESSION stands, and its messages; a bare name is a session of the terminal."""
    key = key_of(ctx, name)
    if prompt:
        _show_prompt(ctx, key, as_json=as_json)
        return
    shown = with_bus(ctx, lambda bus: _shown(bus, key, after=after, limit=limit))
    if as_json:
        print_json(asdict(shown))
        return
    table(("position", "value"), list(shown.positions.items()))
    click.echo()
    for message in shown.messages:
        say(_line(message))


def _show_prompt(ctx: click.Context, key: str, *, as_json: bool) -> None:
    from daemon.cli.prompt import print_prompt
    from daemon.services import PREVIEW, load

    preview = load(PREVIEW)
    shown: dict[str, Any] = with_process(ctx, lambda process: preview(process, key))
    (print_json if as_json else print_prompt)(shown)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A session as ``session show`` prints it."""

    session: str
    positions: dict[str, object]
    messages: list[dict[str, object]]


def key_of(ctx: click.Context, name: str) -> str:
    """The session that a person means by ``name``; a bare one is of the terminal.

    Raises:
        BadSessionKey: it is no session's.
    """
    from daemon.config import TerminalConfig
    from daemon.sessionkey import SessionKey

    channels = loaded(ctx).config.channels
    terminals = [channel for channel, section in channels.items() if isinstance(section, TerminalConfig)]
    # A session can be looked at whether or not its channel is still configured or enabled.
    return str(SessionKey.of_channel(name, "terminal" if "terminal" in terminals else terminals[0]))


async def _rows(bus: "Bus", limit: int) -> list[dict[str, object]]:
    import anyio

    from daemon.session import SessionReader

    reader = SessionReader(bus)
    found = await reader.sessions(limit=limit)
    states: dict[str, SessionState] = {}

    async def read(name: str) -> None:
        states[name] = await reader.state(name)

    async with anyio.create_task_group() as tg:  # one tick, one pipeline
        for name, _ in found:
            tg.start_soon(read, name)
    return [
        {
            "session": name,
            "head": states[name].head,
            "cursor": states[name].cursor,
            "waiting": states[name].waiting,
            "last_activity": _moment(active_ms),
        }
        for name, active_ms in found
    ]


async def _shown(bus: "Bus", key: str, *, after: int | None, limit: int) -> Shown:
    from daemon.session import SessionReader

    reader = SessionReader(bus)
    state = await reader.state(key)
    if not state.exists:
        raise InboundError(await unknown(bus, key))
    first = state.head - limit - 1 if after is None else after
    entries = await reader.committed(key, after=max(first, -1), limit=limit)
    seconds, micros = await bus.call("TIME")
    positions = _positions(state, now_ms=int(seconds) * 1000 + int(micros) // 1000)
    return Shown(session=key, positions=positions, messages=[_message(index, entry) for index, entry in entries])


async def unknown(bus: "Bus", key: str) -> str:
    """What is said of a session that is not there, with those that may have been meant."""
    from daemon.session import SessionReader

    names = [name for name, _ in await SessionReader(bus).sessions(limit=NEAREST_AMONG)]
    near = difflib.get_close_matches(key, names, n=3)
    meant = f"; did you mean {' or '.join(near)}?" if near else "; `millpond session list` shows those there are"
    return f"session {key}: nobody ever wrote to it{meant}"


def _positions(state: "SessionState", *, now_ms: int) -> dict[str, object]:
    lease_s = max(0.0, (state.lease_ms - now_ms) / 1000)
    return {
        "session": state.session,
        "scope": state.scope,
        "base": state.base,
        "cursor": state.cursor,
        "start": state.start,
        "head": state.head,
        "tokens": state.tokens,
        "waiting": state.waiting,
        "held_by": state.worker if lease_s else "",
        "lease_left_s": round(lease_s, 1),
        "attempts": state.attempts,
        "retry_in_s": round(max(0.0, (state.retry_at_ms - now_ms) / 1000), 1),
    }


def _message(index: int, entry: "LogEntry") -> dict[str, Any]:
    import msgspec

    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(entry))
    return {"index": index, **fields.pop("wire"), **fields}


def _line(message: dict[str, Any]) -> str:
    who = message["role"] + (f" {message['sender']}" if message.get("sender") else "")
    calls = [f"{call['function']['name']}({call['function']['arguments']})" for call in message.get("tool_calls") or ()]
    content = message.get("content") or ""
    text = content if isinstance(content, str) else " ".join(part.get("text", "[media]") for part in content)
    return f"[{message['index']}] {message['time']} {who}: " + " ".join(filter(None, (text, *calls)))


def _moment(at_ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_ms / 1000))
