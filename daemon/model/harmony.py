"""OpenAI's harmony format, as gpt-oss writes it where its server does not take it apart: messages in channels.

``<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…<|return|>``: ``final`` is for
people; ``analysis``, and ``commentary`` to nobody, are reasoning; ``commentary to=functions.NAME`` is a tool call.
Source: https://cookbook.openai.com/articles/openai-harmony
"""

import re

_MESSAGE = "<|message|>"
STARTS = ("<|channel|>", "<|start|>", _MESSAGE)
"""What a text in this format begins with."""

_MARKS = (*STARTS, "<|end|>", "<|return|>", "<|call|>")
_ENDS = re.compile("|".join(map(re.escape, (*STARTS, "<|end|>", "<|return|>", "<|call|>"))))
_TO = re.compile(r"to=(?:functions\.)?([^\s<]+)")


class Harmony:
    """Text in pieces in, what is for people out."""

    def __init__(self) -> None:
        self.thoughts: list[str] = []
        """Reasoning since the caller took it last, in pieces."""
        self.calls: list[tuple[str, str]] = []
        """Tool calls: name and arguments."""
        self._held = ""
        self._header: str | None = None
        """Of the message whose text comes; None: between messages."""

    def feed(self, piece: str) -> str:
        """The text that ``piece`` adds to the answer."""
        self._held += piece
        said: list[str] = []
        while True:
            if self._header is None:
                header, found, rest = self._held.partition(_MESSAGE)
                if not found:
                    break
                self._header, self._held = header, rest
                if self._callee:
                    self.calls.append((self._callee, ""))
            end = _ENDS.search(self._held)
            if end is None:
                kept = _tail(self._held)
                said.append(self._take(self._held[: len(self._held) - kept]))
                self._held = self._held[len(self._held) - kept :]
                break
            said.append(self._take(self._held[: end.start()]))
            self._header, self._held = None, self._held[end.end() if end[0] not in STARTS else end.start() :]
        return "".join(said)

    def end(self) -> str:
        """The text that was held back; nothing more comes."""
        rest, self._held = self._held, ""
        return self._take(rest) if self._header is not None else ""

    @property
    def _callee(self) -> str:
        found = _TO.search(self._header or "")
        return found[1] if found else ""

    def _take(self, text: str) -> str:
        if self._callee:
            name, arguments = self.calls.pop()
            self.calls.append((name, arguments + text))
        elif "final" in (self._header or "") or "<|channel|>" not in (self._header or ""):
            return text
        elif text:
            self.thoughts.append(text)
        return ""


def _tail(text: str) -> int:
    """How many of the last characters may be the beginning of a mark."""
    longest = min(len(text), max(map(len, _MARKS)) - 1)
    return next((size for size in range(longest, 0, -1) if any(mark.startswith(text[-size:]) for mark in _MARKS)), 0)
