"""The part of MEMORY.md for statements that people asked to be kept. Pure.

A consolidation adds a statement word for word if the new MEMORY.md does not contain it. A later summary may merge the
lines into other parts of MEMORY.md. If a summary drops a line without a reason, the line is added again. A line that a
person deleted is not in the MEMORY.md that a summary replaces, and is therefore never added again.

A summary may merge such a statement into other text, where nothing shows any more that somebody asked for it. Each
audit therefore passes the places of these statements on to the next one, which reads their words back.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

import anyio
import msgspec
import structlog
from msgspec.structs import replace

from daemon.errors import MillpondError, NoSuchVersion, brief
from daemon.memory import Memories, Opened, RequestPlace
from daemon.recall import QuotedMessage, messages_at, passage
from daemon.transcripts import Transcripts
from workers.consolidation.audit.fact_extraction import Texts, lines_not_in, requests_of

TITLE = "## Pinned"

# A flush appends paragraphs: a blank line ends the list.
_PART = re.compile(
    r"^##[ \t]+Pinned[ \t]*(?:\n|\Z)(?:[ \t]*\n)?(?P<lines>(?:(?!#{1,6}[ \t])[^\n]*\S[^\n]*(?:\n|\Z))*)",
    re.MULTILINE | re.IGNORECASE,
)
_BULLET = re.compile(r"^[ \t]*[-*+][ \t]+")


def pinned_lines(memory: str) -> list[str]:
    """The statements in the part ``## Pinned``, in order."""
    return [_BULLET.sub("", line).strip() for line in _lines(memory) if _BULLET.sub("", line).strip()]


def asked_lines(memory: str, *, but_of: str = "") -> list[str]:
    """The statements in a MEMORY.md that show that a person asked for them: pinned lines, and rules anywhere.

    Args:
        memory: the MEMORY.md.
        but_of: another version of it. Pinned lines of this version and rules on lines of this version are left out,
            without the cost of reading these lines.
    """
    pinned, lines = frozenset(pinned_lines(but_of)), frozenset(but_of.split("\n"))
    asked = [line for line in pinned_lines(memory) if line not in pinned]
    rules = requests_of("\n".join(line for line in memory.split("\n") if line not in lines))
    return list(dict.fromkeys([*asked, *rules]))


def is_asked(memory: str, begin: int, end: int) -> bool:
    """Whether a passage of a MEMORY.md is one of its ``asked_lines``."""
    line = memory[memory.rfind("\n", 0, begin) + 1 :].partition("\n")[0]
    return memory[begin:end] in [*requests_of(line), *pinned_lines(memory)]


def with_pinned(memory: str, statements: Sequence[str], *, fits: Callable[[str], bool]) -> tuple[str, list[str]]:
    """``memory`` with those of ``statements`` pinned that it lacks, and the statements that were pinned.

    Args:
        memory: the new MEMORY.md.
        statements: the pinned lines of the MEMORY.md before, then new statements; of two that say the same, the first
            is pinned.
        fits: whether the lines of the part, joined, may be so long. Statements that do not fit are left out.
    """
    lines, pinned = _lines(memory), list[str]()
    for statement in lines_not_in(list(dict.fromkeys(map(_one_line, statements))), Texts([memory])):
        line = f"- {statement}"
        if not Texts(pinned).hold_statement(statement) and fits("\n".join([*lines, line])):
            lines.append(line)
            pinned.append(statement)
    return (_replaced(memory, lines), pinned) if pinned else (memory, [])


def _lines(memory: str) -> list[str]:
    return [line.rstrip() for part in _PART.finditer(memory) for line in part["lines"].splitlines() if line.strip()]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _replaced(memory: str, lines: Sequence[str]) -> str:
    """``memory`` with one part ``## Pinned``, where its first one stood, or else at the end."""
    part = "\n".join((TITLE, *lines, ""))
    first = _PART.search(memory)
    if first is None:
        return f"{memory.rstrip()}\n\n{part}".lstrip()
    after = _PART.sub("", memory[first.end() :])
    gap = "\n" if after.startswith("#") else ""
    return f"{memory[: first.start()]}{part}{gap}{after}"


# What people asked to be kept in earlier messages or in MEMORY.md itself, and MEMORY.md contained after an audit.

REQUESTS_MAX = 100
"""Most places that an audit passes on, the newest: 3 kB."""

ENTRIES = 20
"""History entries that are read: consolidations of several sessions may have passed on places at the same time."""

READ_S = 1.0
"""Longest that reading takes: a turn may wait for the consolidation."""

GONE = QuotedMessage(session="", index=0, time="", speaker="", text="")
"""A message that was forgotten, or has expired."""

_log = structlog.get_logger()


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A statement that a person asked to be kept."""

    place: RequestPlace
    text: str
    """In a group, the name of the speaker stands before it. Empty: it could not be read now."""


async def earlier_requests(
    memories: Memories, transcripts: Transcripts, scope: str, *, names: bool
) -> Sequence[Request]:
    """What people asked to be kept in messages that were consolidated into the memory of ``scope``. Never raises."""
    try:
        return await _read(memories, transcripts, scope, names=names)
    except MillpondError as error:
        _log.warning("audit.failed", reason=brief(error))
    except Exception as error:  # noqa: BLE001 - a bug in reading must not fail a summary that was paid for
        _log.exception("audit.failed", reason=type(error).__name__)
    return []


async def _read(memories: Memories, transcripts: Transcripts, scope: str, *, names: bool) -> list[Request]:
    entries = [entry for _, entry in await memories.history_before(scope, None, limit=ENTRIES) if not entry.lost]
    places = list(dict.fromkeys(place for entry in entries if entry.audit for place in entry.audit.requests))
    indexes: dict[str, set[int]] = defaultdict(set)  # by session
    for place in places:
        indexes[place.session].add(place.index)
    read: dict[tuple[str, int], QuotedMessage | None] = dict.fromkeys((place.session, place.index) for place in places)
    with anyio.move_on_after(READ_S):
        for session, of_session in indexes.items():
            found = await (
                messages_at(transcripts, session, of_session) if session else _versions(memories, scope, of_session)
            )
            read |= {(session, index): found.get(index, GONE) for index in of_session}
    requests = [_request(place, read[place.session, place.index], names=names) for place in places]
    return [each for each in requests if each is not None]


async def _versions(memories: Memories, scope: str, numbers: Collection[int]) -> dict[int, QuotedMessage | None]:
    found: dict[int, QuotedMessage | None] = {}
    for number in numbers:
        with suppress(NoSuchVersion):  # the number is of a memory that was joined with another one
            found[number] = replace(GONE, text=(await memories.version(scope, number)).text)
    return found


def _request(place: RequestPlace, said: QuotedMessage | None, *, names: bool) -> Request | None:
    """The request in a message; None: the message does not contain it any more."""
    if said is None:
        return Request(place=place, text="")
    text = passage(said, place.begin, place.end)
    # Forgetting moves the text of a version.
    if not place.session and not is_asked(said.text, place.begin, place.end):
        return None
    return Request(place=place, text=told(text, said.speaker, names=names)) if text else None


def merged_lines(opened: Opened, memory: str) -> list[Request]:
    """Pinned lines and rules of the memory before that the new ``memory`` contains only in other text. Pure."""
    before, texts = opened.text, Texts([memory])
    changed = asked_lines(before, but_of=memory)
    asked = asked_lines(memory) if changed else ()
    merged = [line for line in changed if line not in asked and texts.hold_statement(line)]
    return [
        Request(place=RequestPlace("", opened.version, at, at + len(line)), text=line)
        for line in merged
        if (at := before.find(line)) >= 0
    ]


def told(text: str, speaker: str, *, names: bool) -> str:
    """A statement as it is pinned. Pure."""
    return f"{speaker}: {text}" if names and speaker else text
