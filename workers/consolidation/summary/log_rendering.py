"""Messages of a log as lines of text, for summaries and raw entries. Pure.

A line is ``[YYYY-MM-DD HH:MM] ROLE [tools: a, b]: content``; content may go over several lines of text. Nothing is cut.
"""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit
from zoneinfo import ZoneInfo

import msgspec

from daemon.clock import minute as in_zone
from daemon.events import LogEntry
from daemon.printable import one_line
from daemon.tokens import IMAGE_TOKENS, MESSAGE_TOKENS
from workers.message_format import without_refused

UNKNOWN_TIME = "?"
NAME_MAX_CHARS = 80

LINE_TOKENS = 16
"""What stands before a line's content: 15 for a person or a tool, 17 for the model, in both vocabularies."""
CALL_TOKENS = 9
"""What a call counts in a line beside its arguments and once its name: its name again, and brackets."""
MEDIA_TOKENS = 8
"""What the name of an image counts."""
NAME_TOKENS = 5
"""What a name before a group's message counts."""

# A line of a person's own must not pass for another message, another entry of the history, or a section of a request.
_LIKE_A_LINE = re.compile(r"(?<=[\n\r\v\f\x85\u2028\u2029])(?=\[|#{1,2} )")

_AFTER_HEAD = re.compile(r"\A (?=[\[#])")


class _Function(msgspec.Struct):
    name: str = ""
    arguments: str = ""


class _Call(msgspec.Struct):
    function: _Function = msgspec.field(default_factory=_Function)


class _Address(msgspec.Struct):
    url: str = ""


class _Part(msgspec.Struct):
    """A part of a content list; one without text is an image."""

    text: str | None = None
    image_url: _Address | None = None


class _Message(msgspec.Struct):
    """What is shown of a message."""

    role: str = "user"
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None

    @property
    def parts(self) -> list[_Part]:
        return self.content if isinstance(self.content, list) else [_Part(text=self.content)] if self.content else []


_decode = msgspec.json.Decoder(_Message).decode


class Line(msgspec.Struct, frozen=True):
    """A message as text."""

    text: str
    tokens: int
    """About what ``text`` counts: what the message does, and what stands around it."""
    time: str = UNKNOWN_TIME
    """``YYYY-MM-DD HH:MM``, or ``?``."""


def lines_of(entries: Sequence[LogEntry], *, names: bool = False, time_zone: str = "UTC") -> list[Line]:
    """The messages that have content or calls, each as a line; 3 µs each.

    Args:
        entries: messages of the log.
        names: whether it is a group's, where each message is shown with who said it.
        time_zone: IANA name; of the times in front.
    """
    zone = _zone(time_zone)
    return [line for entry in without_refused(entries) if (line := _line(entry, names=names, zone=zone))]


def raw_entry(entries: Sequence[LogEntry], *, now: dt.datetime, names: bool = False, time_zone: str = "UTC") -> str:
    """The entry of HISTORY.md that holds messages as they were; arguments as for ``lines_of``, ``now`` its own time."""
    lines = lines_of(entries, names=names, time_zone=time_zone)
    head = f"[{minute(now, time_zone)}] [RAW] {len(entries)} messages"
    return "\n".join((head, *(line.text for line in lines)))


def minute(moment: dt.datetime, time_zone: str = "UTC") -> str:
    """A time as it stands in front of lines and entries, without brackets: see ``daemon.clock.minute``."""
    return in_zone(moment, _zone(time_zone))


def time_of(entry: LogEntry, time_zone: str = "UTC") -> str:
    """When a message came, as ``minute``; ``?`` where that cannot be read."""
    return _time(entry.time, _zone(time_zone))


def cut(text: str, keep_chars: int) -> str:
    """The beginning of ``text`` and how much was left out; ``text`` itself where it is not longer."""
    if len(text) <= keep_chars:
        return text
    return f"{text[:keep_chars]}\n[... {len(text) - keep_chars} characters left out ...]"


def _zone(name: str) -> dt.tzinfo:
    # UTC is known on a machine without a time zone database too.
    return dt.UTC if name == "UTC" else ZoneInfo(name)


def _line(entry: LogEntry, *, names: bool, zone: dt.tzinfo) -> Line | None:
    message = _decode(entry.wire)
    parts, calls = message.parts, [call.function for call in message.tool_calls or ()]
    shown = list(filter(None, (_shown(part) for part in parts)))
    if not (any(map(str.strip, shown)) or calls):
        return None
    content = "\n".join((*shown, *(f"{call.name}({_told(call.arguments)})" for call in calls)))
    time, speaker = _time(entry.time, zone), _speaker(entry.sender) if names and message.role == "user" else ""
    tools = f" [tools: {', '.join(call.name for call in calls)}]" if calls else ""
    text = f"[{time}] {message.role.upper()}{tools}: {speaker}{_AFTER_HEAD.sub('', content)}"
    images = sum(part.text is None for part in parts)
    return Line(text, _tokens(entry, calls=len(calls), images=images, named=bool(speaker)), time)


def _tokens(entry: LogEntry, *, calls: int, images: int, named: bool) -> int:
    bare = entry.tokens - MESSAGE_TOKENS * (1 + calls) - IMAGE_TOKENS * images
    return max(0, bare) + LINE_TOKENS + CALL_TOKENS * calls + MEDIA_TOKENS * images + NAME_TOKENS * named


def _shown(part: _Part) -> str:
    if part.text is not None:
        return _told(part.text)
    return f"[image: {_image_name(part.image_url.url if part.image_url else '')}]"


def _told(text: str) -> str:
    if "[" not in text and "#" not in text:
        return text  # as most are; the expression takes a third of the time of a whole line
    # A part may stand on a line of its own.
    return _LIKE_A_LINE.sub(" ", f"\n{text}")[1:]


def _image_name(url: str) -> str:
    """The last part of an address; of an image that stands in the message itself, its type."""
    if url.startswith("data:"):
        return url[5:40].partition(";")[0]
    try:
        path = urlsplit(url).path
    except ValueError:  # brackets without an end
        path = ""
    return _one_line(unquote(PurePosixPath(path).name)) or UNKNOWN_TIME


def _speaker(name: str) -> str:
    return f"[{_one_line(name).replace('[', '(').replace(']', ')')}] " if name else ""


def _one_line(text: str) -> str:
    return one_line(text)[:NAME_MAX_CHARS]


def _time(stamped: str, zone: dt.tzinfo) -> str:
    try:
        moment = dt.datetime.fromisoformat(stamped)
        return in_zone(moment, zone) if moment.tzinfo else UNKNOWN_TIME
    except (ValueError, OverflowError):
        return UNKNOWN_TIME


def texts(lines: Sequence[Line]) -> Iterator[str]:
    """The lines' texts."""
    return (line.text for line in lines)
