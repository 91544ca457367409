"""Keeps the finished parts of a turn that takes several requests, so that a later failure loses none of them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from daemon.errors import UNREADABLE
from workers.consolidation.summary.log_rendering import Line
from workers.consolidation.summary.range_split import Turn, chunks, joined
from workers.consolidation.summary.summary_request import Background


@dataclass(kw_only=True)
class Taken:
    """The result of the parts so far."""

    background: Background
    """With memory and continuity as they have become."""
    entries: list[str] = field(default_factory=list[str])
    reason: str = ""
    rejected: str = ""
    rejection: str = ""
    model: str = ""


class Begun(NamedTuple):
    """A turn of which some parts are finished."""

    parts: list[list[Line]]
    limit_tokens: int
    """The largest part."""


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """As it is stored."""

    name: str
    """Digest of all parts, and of what the first request showed beside them: the parts of other text are of no use."""
    limit_tokens: int
    done: int
    taken: Taken


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Record).decode

Keep = Callable[[bytes], Awaitable[None]]
"""Stores a record in the place of the one before."""


class PaidParts:
    """The finished parts of one turn at a time."""

    def __init__(self, stored: bytes = b"", keep: Keep | None = None) -> None:
        """``stored`` is the record that ``keep`` stored last, empty if there is none."""
        self._keep = keep
        try:
            self._record = _decode(stored) if stored else None
        except UNREADABLE:  # of another release
            self._record = None

    def begun(self, turns: Sequence[Turn], background: Background) -> Begun | None:
        """The parts of ``turns``, if some of them are finished."""
        record = self._record
        if record is None:
            return None
        parts = chunks(joined(turns), record.limit_tokens)
        return Begun(parts, record.limit_tokens) if _name(parts, background) == record.name else None

    def taken(self, parts: Sequence[Sequence[Line]], background: Background) -> tuple[Taken, int]:
        """The result of the finished parts, and their number."""
        record = self._record
        if record is None or _name(parts, background) != record.name:
            return Taken(background=background), 0
        return msgspec.convert(msgspec.to_builtins(record.taken), Taken), record.done

    async def keep(
        self, parts: Sequence[Sequence[Line]], background: Background, taken: Taken, *, done: int, limit_tokens: int
    ) -> None:
        """Store that the first ``done`` of ``parts`` came to ``taken``."""
        if self._keep:
            name = _name(parts, background)
            stored = _encode(_Record(name=name, limit_tokens=limit_tokens, done=done, taken=taken))
            self._record = _decode(stored)
            await self._keep(stored)


def _name(parts: Sequence[Sequence[Line]], background: Background) -> str:
    texts = [[line.text for line in part] for part in parts]
    return blake2b(_encode((background, texts)), digest_size=16).hexdigest()
