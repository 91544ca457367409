"""What people asked to be kept in earlier messages or in MEMORY.md itself, and MEMORY.md contained after an audit.

A summary may merge such a statement into other text, where nothing shows any more that somebody asked for it. Each
audit therefore passes the places of these statements on to the next one, which reads their words back.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import anyio
import structlog

from daemon.errors import MillpondError, NoSuchVersion, brief
from daemon.memory import Memories, Opened, RequestPlace
from daemon.recall import Said, messages_at, passage
from daemon.transcripts import Transcripts
from workers.consolidation.audit.pinned_statements import asked_lines, is_asked
from workers.consolidation.audit.text_comparison import Texts

REQUESTS_MAX = 100
"""Most places that an audit passes on, the newest: 3 kB."""

ENTRIES = 20
"""History entries that are read: consolidations of several sessions may have passed on places at the same time."""

READ_S = 1.0
"""Longest that reading takes: a turn may wait for the consolidation."""

GONE = Said(session="", index=0, time="", speaker="", text="")
"""A message that was forgotten, or has expired."""

_log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Request:
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
    read: dict[tuple[str, int], Said | None] = dict.fromkeys((place.session, place.index) for place in places)
    with anyio.move_on_after(READ_S):
        for session, of_session in indexes.items():
            found = await (
                messages_at(transcripts, session, of_session) if session else _versions(memories, scope, of_session)
            )
            read |= {(session, index): found.get(index, GONE) for index in of_session}
    requests = [_request(place, read[place.session, place.index], names=names) for place in places]
    return [each for each in requests if each is not None]


async def _versions(memories: Memories, scope: str, numbers: Collection[int]) -> dict[int, Said | None]:
    found: dict[int, Said | None] = {}
    for number in numbers:
        with suppress(NoSuchVersion):  # the number is of a memory that was joined with another one
            found[number] = replace(GONE, text=(await memories.version(scope, number)).text)
    return found


def _request(place: RequestPlace, said: Said | None, *, names: bool) -> Request | None:
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
