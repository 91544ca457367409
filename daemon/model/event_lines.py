"""The lines of an event stream, whatever API it is of."""

import re
from codecs import BOM_UTF8

from daemon.errors import InvalidAnswer

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
"""At the end of a piece, the second half of a line end may still come."""

MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""Largest response that is read; far above any answer, it bounds what a broken server can make us keep."""


class EventLines:
    """Bytes in, payloads out: one JSON text per ``data:`` line, as every server of models writes them.

    Lines and not events, since some servers leave out the blank line after one. What is no event is kept: a server
    that ignores ``stream`` sends one JSON object, a proxy a web page.
    """

    def __init__(self) -> None:
        self.done = False
        """The end marker has come: ``[DONE]``, or Anthropic's event ``message_stop``."""
        self._buffer = bytearray()
        self._other: list[bytes] = []
        self._events = 0
        self._size = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The payloads that ``piece`` completes.

        Raises:
            InvalidAnswer: more than ``MAX_ANSWER_BYTES`` in all.
        """
        self._size += len(piece)
        if self._size > MAX_ANSWER_BYTES:
            raise InvalidAnswer(f"the model's answer is larger than {MAX_ANSWER_BYTES} bytes")
        self._buffer.extend(piece)
        if b"\n" not in piece and b"\r" not in piece:
            return []
        *lines, rest = _LINE_END.split(bytes(self._buffer))
        self._buffer = bytearray(rest)
        return [payload for line in lines if line and (payload := self._payload(line))]

    def end(self) -> list[bytes]:
        """What is left when the bytes end: a last line without its end, or the whole of what was no event stream."""
        last = self._payload(bytes(self._buffer))
        if last or self._events or self.done:
            return [last] if last else []
        whole = b"\n".join(self._other).strip()
        return [whole] if whole else []

    def _payload(self, line: bytes) -> bytes:
        field, colon, value = line.removeprefix(BOM_UTF8).strip().partition(b":")
        if colon and field == b"data":
            self._events += 1
            value = value.strip()
            self.done = self.done or value.strip(b'"').upper() == b"[DONE]"
            return b"" if self.done else value
        self.done = self.done or (field == b"event" and value.strip() == b"message_stop")
        if not (colon and field in (b"", b"event", b"id", b"retry")):
            self._other.append(line)
        return b""
