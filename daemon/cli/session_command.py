"""``millpond session``: lists sessions, and shows their state and messages."""

import difflib
import time
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.command_setup import LazyGroup, loaded, with_bus, with_process
from daemon.cli.output.session_view import SessionView, print_shown, shown
from daemon.cli.output.table_output import print_json, say, table, tell
from daemon.errors import InboundError
from daemon.printable import printable_json

if TYPE_CHECKING:
    from daemon.bus import Bus
    from daemon.process import Process
    from daemon.session import SessionState


# Output of ``millpond session show --prompt``: the next prompt of a session, part by part.


def print_prompt(shown: dict[str, Any]) -> None:
    """Print the result of ``workers.agent.prompt.prompt_preview``: the parts with their tokens, then the whole text."""
    tell(f"session {shown['session']}: bot {shown['bot']}, model {shown['model']}, prompt for the {shown['for']}")
    click.echo()
    parts = shown["parts"]
    totals = {"total": shown["tokens"], "free": parts["free"], "budget": shown["budget_tokens"]}
    counts = {part: tokens for part, tokens in parts.items() if part != "free"} | totals
    table(("part", "tokens"), [(part, f"{tokens:,}") for part, tokens in counts.items()])
    for each in shown["missing_servers"]:
        tell(f"the tools from tool server {each['server']} are missing: {each['reason']}")
    for each in shown["unreadable"]:
        tell(f"without {each['path']}: {each['reason']}")
    for section in shown["system"]:
        _head(f"system: {section['part']}, {section['tokens']:,} tokens")
        say(section["text"])
    _head(f"tools, {parts['tools']:,} tokens")
    for tool in shown["tools"]:
        say(_json(tool))
    stretches: dict[str, tuple[int, int]] = shown["stretches"]
    for name, told in (("continuity", ""), ("history", f"{shown['history_turns']:,} turns, "), ("current", "")):
        first, upto = stretches[name]
        if name == "continuity" and first == upto:
            continue
        _head(f"{name}, {told}{parts[name]:,} tokens")
        for message in shown["messages"][first:upto]:
            say(_message(message))


def _head(text: str) -> None:
    click.echo()
    click.echo(f"──── {text}")


def _message(message: dict[str, Any]) -> str:
    content = message.get("content")
    lines = [content] if isinstance(content, str) else [_json(part) for part in content or ()]
    lines += [_json(call) for call in message.get("tool_calls") or ()]
    name = message["role"] + (f" ({message['tool_call_id']})" if message.get("tool_call_id") else "")
    return f"{name}: " + "\n".join(lines)


def _json(value: object) -> str:
    import msgspec

    return printable_json(msgspec.json.encode(value).decode())


JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
NEAREST_AMONG = 10_000
"""Newest sessions among which the name that was meant is looked for."""


MORE = {
    "export": "export_command:export",
    "forget": "forget_command:forget_session",
    "generate": "generate_command:generate",
}
"""Commands of the group that have modules of their own."""


@click.group("session", cls=LazyGroup, lazy=MORE)
def session() -> None:
    """Show and manage sessions."""


@session.command("list")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Maximum number of recently active sessions to show.",
)
@JSON
@click.pass_context
def list_(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List the sessions, most recently active first."""
    found = with_bus(ctx, lambda bus: rows(bus, limit))
    if as_json:
        print_json({"sessions": found})
    else:
        heads = ("session", "title", "head", "cursor", "waiting", "last activity", "parked: reason")
        table(heads, [list(row.values()) for row in found])


@session.command()
@click.argument("name", metavar="SESSION")
@click.option(
    "--after",
    type=click.IntRange(-1),
    help="Show only messages after the message with this index. Default: the newest messages.",
)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Number of messages to show.")
@click.option(
    "--prompt",
    is_flag=True,
    help="Instead of messages, show the parts of the session's next prompt with their sizes in tokens.",
)
@JSON
@click.pass_context
def show(ctx: click.Context, name: str, *, after: int | None, limit: int, prompt: bool, as_json: bool) -> None:
    """Show the state of SESSION and its messages. Without a channel prefix, SESSION is a terminal session.

    A diagram shows which messages are already summarized in memory, and how close the prompt is to the next
    consolidation (summary).
    """
    key = key_of(ctx, name)
    if prompt:
        _show_prompt(ctx, key, as_json=as_json)
        return
    found = with_process(ctx, lambda process: _found(process, key, after=after, limit=limit))
    if as_json:
        print_json(found)
    else:
        print_shown(found)


def _show_prompt(ctx: click.Context, key: str, *, as_json: bool) -> None:
    from daemon.services import PREVIEW, load

    preview = load(PREVIEW)
    prompt: dict[str, Any] = with_process(ctx, lambda process: preview(process, key))
    (print_json if as_json else print_prompt)(prompt)


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


async def rows(bus: "Bus", limit: int) -> list[dict[str, object]]:
    """The newest ``limit`` sessions, ready to be printed as JSON."""
    import anyio

    from daemon.session import NO_LABEL, SessionLabels, SessionReader

    reader, labels = SessionReader(bus), await SessionLabels(bus).all()
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
            "title": labels.get(name, NO_LABEL).title,
            "head": states[name].head,
            "cursor": states[name].cursor,
            "waiting": states[name].waiting,
            "last_activity": _moment(active_ms),
            "parked_reason": states[name].parked_why,
        }
        for name, active_ms in found
    ]


async def _found(process: "Process", key: str, *, after: int | None, limit: int) -> SessionView:
    from daemon.session import SessionReader

    state = await SessionReader(process.bus).state(key)
    if not state.exists:
        raise InboundError(await unknown(process.bus, key))
    return await shown(process, state, after=after, limit=limit)


async def unknown(bus: "Bus", key: str) -> str:
    """The error for a session that does not exist, with similar names."""
    from daemon.session import SessionReader

    names = [name for name, _ in await SessionReader(bus).sessions(limit=NEAREST_AMONG)]
    near = difflib.get_close_matches(key, names, n=3)
    meant = f". Did you mean {' or '.join(near)}?" if near else ". To list all sessions, run `millpond session list`."
    return f"session {key} was not found: no one has sent a message to this session{meant}"


def _moment(at_ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_ms / 1000))


# ``millpond session rename``: gives a session a title.


@session.command("rename")
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
    from daemon.session import SessionLabels, SessionReader

    if not (await SessionReader(bus).state(key)).exists:
        raise InboundError(await unknown(bus, key))
    labels = SessionLabels(bus)
    await labels.rename(key, title)
    return (await labels.of(key)).title
