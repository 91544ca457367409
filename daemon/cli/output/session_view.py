"""A session as ``millpond session show`` prints it: read, and put into lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.output.table_output import Part, bar, say, table

if TYPE_CHECKING:
    from daemon.events import LogEntry
    from daemon.process import Process
    from daemon.session import ConsolidationState, SessionState
    from daemon.transcripts import Range

RANGES = 10
"""Consolidated ranges that are listed, the newest; JSON has all."""

SUMMARIES, RAW, UNKNOWN, UNSEEN, SEEN, JOURNAL, FREE = "░▒", "x", "?", "▓", "█", ">", "·"
LEGEND = {
    SUMMARIES: "░▒ summarized messages",
    RAW: "x messages saved verbatim",
    UNKNOWN: "? messages that are not summarized in any history entry",
    UNSEEN: "▓ messages before /new that are not summarized in memory yet",
    SEEN: "█ messages sent to the model",
    JOURNAL: "> turn in progress",
}


SHADED = 20
"""With more ranges than these their shades would be a flicker."""

MARKS = {
    "cursor": "the messages above this line are summarized in memory",
    "start": "the messages from here on are sent to the model",
    "head": "the turn in progress starts here",
}


@dataclass(frozen=True, kw_only=True)
class SessionView:
    """A session, ready to be printed as JSON."""

    session: str
    positions: dict[str, Any]
    sizes: dict[str, int]
    """Approximate tokens of the next prompt, and the sizes that trigger actions; empty without a configured bot."""
    consolidated: list[dict[str, Any]]
    """Ranges of the log that became entries of the history or were archived, in order; lost ones too."""
    messages: list[dict[str, Any]]


async def shown(process: "Process", state: "SessionState", *, after: int | None, limit: int) -> SessionView:
    """The session with ``state``, and up to ``limit`` messages: those behind index ``after``, or the newest.

    Raises:
        ArchiveError: what Redis lists as archived cannot be read.
        BusUnavailable: Redis is away.
    """
    from daemon.errors import ConfigError
    from daemon.services import SIZES, load
    from daemon.session import SessionReader, settlement_of

    reader = SessionReader(process.bus)
    first = state.head - limit - 1 if after is None else after
    entries = await process.transcripts.committed(state.session, after=max(first, -1), limit=limit)
    settlement = await settlement_of(process.bus, state)
    at = positions(state, now_ms := await reader.now_ms()) | _settlement(settlement, now_ms)
    try:
        sizes: dict[str, int] = await load(SIZES)(process, state)
    except ConfigError:
        sizes = {}
    return SessionView(
        session=state.session,
        positions=at,
        sizes=sizes,
        consolidated=await _consolidated(process, state),
        messages=[message_of(index, entry) for index, entry in entries],
    )


def positions(state: "SessionState", now_ms: int) -> dict[str, Any]:
    """Where a session stands at ``now_ms`` of the server's clock, ready to be printed as JSON."""
    lease_s = _left_s(state.lease_ms, now_ms)
    return {
        "session": state.session,
        "scope": state.scope,
        "base": state.base,
        "cursor": state.cursor,
        "start": state.start,
        "head": state.head,
        "tokens": state.tokens,
        "tokens_seen": state.tokens_start,
        "waiting": state.waiting,
        "held_by": state.worker if lease_s else "",
        "lease_left_s": lease_s,
        "attempts": state.attempts,
        "deaths": state.deaths,
        "retry_in_s": _left_s(state.retry_at_ms, now_ms),
        "parked_reason": state.parked_why,
    }


def _settlement(found: "ConsolidationState", now_ms: int) -> dict[str, Any]:
    lease_s = _left_s(found.lease_ms, now_ms)
    return {
        "journal": found.journal,
        "unsettled": found.look_at_ms is not None,
        "look_in_s": _left_s(found.look_at_ms or 0, now_ms),
        "failures": found.failures,
        "flushed_cycle": None if found.flushed < 0 else found.flushed,
        "unflushed": f"{found.unflushed[0]}-{found.unflushed[1] - 1}" if found.unflushed else "",
        "consolidated_by": found.worker if lease_s else "",
        "lock_left_s": lease_s,
        "lock_fence": found.fence,
    }


def _left_s(at_ms: int, now_ms: int) -> float:
    return round(max(0.0, (at_ms - now_ms) / 1000), 1)


async def _consolidated(process: "Process", state: "SessionState") -> list[dict[str, Any]]:
    from daemon.memory import Memories
    from daemon.transcripts import ranges_of

    found = await ranges_of(Memories(process.bus, process.archive), process.archive, state.session, state.scope)
    return [_row(each) for each in found]


def _row(found: "Range") -> dict[str, Any]:
    import msgspec

    segment = None if found.segment is None else msgspec.structs.asdict(found.segment)
    row: dict[str, Any] = {"first": found.first, "upto": found.upto, "entry": found.index}
    if (entry := found.entry) is not None:
        told = ("kind", "lost", "time", "model", "correlation")
        row |= {name: getattr(entry, name) for name in told}
    return row | {"segment": segment}


def message_of(index: int, entry: "LogEntry") -> dict[str, Any]:
    """A message of the log with its index, ready to be printed as JSON."""
    import msgspec

    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(entry))
    return {"index": index, **fields.pop("wire"), **fields}


# For people


def print_shown(found: SessionView) -> None:
    """Print positions, a drawing of the log and of the prompt, the newest consolidated ranges, and the messages."""
    table(("position", "value"), [(name, _told(value)) for name, value in found.positions.items()])
    for lines in (_log(found), _prompt(found.sizes)):
        if lines:
            click.echo()
            click.echo("\n".join(lines))
    if found.consolidated:
        _print_ranges(found.consolidated)
    click.echo()
    for line in _lines(found):
        say(line)


def _told(value: object) -> object:
    """Formats numbers for reading; unknown values are empty."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value


def _log(found: SessionView) -> list[str]:
    """The log as a bar: consolidated messages, remaining messages, the turn in progress."""
    at = found.positions
    cursor, start, head = at["cursor"], max(at["start"], at["cursor"]), at["head"]
    parts = [
        Part(first=0, upto=cursor, look=_look(cursor, found.consolidated)),
        Part(first=cursor, upto=start, look=UNSEEN),
        Part(first=start, upto=head, look=SEEN),
        Part(first=head, upto=head + at["journal"], look=JOURNAL),
    ]
    drawn = bar(parts, [(name, at[name]) for name in ("base", "cursor", "start", "head")])
    if not drawn:
        return []
    legend = [told for signs, told in LEGEND.items() if any(sign in drawn[0] for sign in signs)]
    return [
        f"log: {head:,} messages, of which {head - cursor:,} are not consolidated yet ({at['tokens']:,} tokens)",
        *drawn,
        *_joined(legend),
    ]


def _look(cursor: int, rows: Sequence[dict[str, Any]]) -> str:
    """A sign for each message before the cursor, by its consolidation."""
    signs = [UNKNOWN] * cursor
    known = [row for row in rows if row["entry"] is not None and not row["lost"]]
    for number, row in enumerate(known):
        shade = number % 2 if len(known) <= SHADED else 0
        sign = RAW if row["kind"] == "raw" else SUMMARIES[shade]
        first, upto = row["first"], min(row["upto"], cursor)
        signs[first:upto] = [sign] * (upto - first)
    return "".join(signs)


def _joined(legend: Sequence[str]) -> list[str]:
    """The legend, three to a line."""
    return ["   ".join(legend[at : at + 3]) for at in range(0, len(legend), 3)]


def _prompt(sizes: dict[str, int]) -> list[str]:
    """The next prompt as a bar, with the sizes at which something happens."""
    if not sizes:
        return []
    prompt, budget = sizes["prompt"], sizes["budget"]
    # A log that nobody consolidated yet may be a hundred times as long: the rest could not be told apart.
    drawn = min(prompt, budget + budget // 4)
    parts = [Part(first=0, upto=drawn, look=SEEN), Part(first=drawn, upto=max(drawn, budget), look=FREE)]
    points = [(name.replace("_", " "), tokens) for name, tokens in sizes.items() if name != "prompt"]
    return [
        f"size of the next prompt if nothing is removed: about {prompt:,} of {budget:,} tokens",
        *bar(parts, points),
    ]


def _print_ranges(rows: Sequence[dict[str, Any]]) -> None:
    newest = rows[-RANGES:]
    click.echo()
    click.echo(
        f"consolidated ranges: {len(rows):,}" + (f", the newest {RANGES} of them:" if len(rows) > RANGES else "")
    )
    heads = ("messages", "entry", "kind", "written", "model", "archived")
    table(heads, [_range(row) for row in newest])


def _range(row: dict[str, Any]) -> tuple[str, ...]:
    segment = row["segment"]
    archived = f"{segment['bytes']:,} bytes" if segment else ""
    messages = f"{row['first']}-{row['upto'] - 1}"
    if row["entry"] is None:
        return messages, "", "only archived", _second(segment["time"]), "", archived
    kind = f"{row['kind']}, lost" if row["lost"] else row["kind"]
    return messages, str(row["entry"]), kind, _second(row["time"]), row["model"], archived


def _second(time: str) -> str:
    """An ISO 8601 time without its fraction: the table has to fit."""
    return time.partition(".")[0] + "Z"


def _lines(found: SessionView) -> list[str]:
    """The messages, with a line where cursor and start stand between them."""
    marks: dict[int, list[str]] = {}
    for name in MARKS:
        if found.positions[name] and (name != "head" or found.positions["journal"]):
            marks.setdefault(found.positions[name], []).append(name)
    lines: list[str] = []
    for message in found.messages:
        lines += _mark(marks, message["index"])
        lines.append(line_of(message))
    return lines + (_mark(marks, found.messages[-1]["index"] + 1) if found.messages else [])


def _mark(marks: dict[int, list[str]], index: int) -> list[str]:
    names = marks.get(index, [])
    return [f"──── {' = '.join(names)} {index:,}: {', '.join(MARKS[name] for name in names)}"] if names else []


def line_of(message: dict[str, Any]) -> str:
    """A message of the log as a line."""
    who = message["role"] + (f" {message['sender']}" if message.get("sender") else "")
    # What nobody said to the bot has a person, and no id that an answer could name.
    who += " (group context)" if message.get("person") and not message.get("id") else ""
    calls = [f"{call['function']['name']}({call['function']['arguments']})" for call in message.get("tool_calls") or ()]
    content = message.get("content") or ""
    text = content if isinstance(content, str) else " ".join(part.get("text", "[media]") for part in content)
    return f"[{message['index']}] {message['time']} {who}: " + " ".join(filter(None, (text, *calls)))
