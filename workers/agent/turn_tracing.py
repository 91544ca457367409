"""Records the durations in a turn: recall, model calls and tools. They are kept in memory until the commit."""

from collections.abc import Sequence
from types import TracebackType
from typing import Literal

from msgspec.structs import replace

from daemon.clock import Clock
from daemon.events import Inbound
from daemon.model import Answer
from daemon.traces import Span, Trace, Unavailable, ms_of
from workers.tools.mcp import MissingServer

RECALLS_MAX = 10
"""Of a turn: there is another one whenever older messages have left its prompts."""
SPANS_MAX = 200
"""Of a turn; some 25 kB. Of one with more the rest is counted."""


class Doing:
    """A model call or a tool call under way; left when it is over, however."""

    __slots__ = ("_began", "_tracing", "answer", "first", "kind", "name", "outcome")

    def __init__(self, tracing: "TurnTracing", kind: Literal["model", "tool"], name: str) -> None:
        self._tracing = tracing
        self.kind: Literal["model", "tool"] = kind
        self.name = name
        self.outcome = "done"
        self.first: float | None = None
        """When the first piece of text came, monotonic seconds."""
        self.answer: Answer | None = None
        """What a model said."""

    def __enter__(self) -> "Doing":
        self._began = self._tracing.clock.monotonic()
        return self

    def piece(self) -> None:
        """A piece of text came."""
        if self.first is None:
            self.first = self._tracing.clock.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            # What is no error of ours is a cancellation, as a rule: somebody stopped it.
            self.outcome = kind.__name__ if isinstance(error, Exception) else "stopped"
        self._tracing.note(self, self._began)


class TurnTracing:
    """Of one claim."""

    def __init__(self, clock: Clock) -> None:
        """The claim begins now."""
        self.clock = clock
        self._claimed_ms = round(clock.now().timestamp() * 1000)
        # Spans are placed by this clock: the other one may be set meanwhile.
        self._claimed = clock.monotonic()
        self._spans: list[Span] = []
        self._recalls: list[Span] = []
        self._is_recall_noted = False
        self._left_out = 0
        self.missing: Sequence[MissingServer] = ()
        """Tool servers that the turn goes without."""

    def model(self, name: str) -> Doing:
        """A model call begins with the block."""
        return Doing(self, "model", name)

    def tool(self, name: str) -> Doing:
        """A tool call begins with the block."""
        return Doing(self, "tool", name)

    def note(self, doing: Doing, began: float) -> None:
        """It is over."""
        if len(self._spans) >= SPANS_MAX:
            self._left_out += 1
            return
        answer = doing.answer
        began_ms = self._claimed_ms + round((began - self._claimed) * 1000)
        took_ms = _ms(self.clock.monotonic() - began)
        if answer is None:
            self._spans.append(
                Span(kind=doing.kind, name=doing.name, began_ms=began_ms, took_ms=took_ms, outcome=doing.outcome)
            )
            return
        usage = answer.usage
        self._spans.append(
            Span(
                kind="model",
                name=answer.model or doing.name,
                began_ms=began_ms,
                took_ms=took_ms,
                first_token_ms=None if doing.first is None else _ms(doing.first - began),
                prompt_tokens=usage.tokens_in,
                completion_tokens=usage.tokens_out,
                cached_tokens=usage.cached_in,
                cacheable_tokens=usage.tokens_in if usage.reports_cached else 0,
                cost_nano=usage.cost_nano,
                cached_nano=usage.cached_nano,
                currency=usage.currency,
                outcome=doing.outcome,
            )
        )

    def recall_noted(self, _note: str) -> None:
        """The search that goes on did not see all of the memory."""
        self._is_recall_noted = True

    def recalled(self, engine: str, began: float) -> None:
        """Memory was searched, since ``began``, monotonic seconds."""
        outcome = "incomplete" if self._is_recall_noted else "done"
        self._is_recall_noted = False
        if len(self._recalls) < RECALLS_MAX:
            began_ms = self._claimed_ms + round((began - self._claimed) * 1000)
            took_ms = _ms(self.clock.monotonic() - began)
            self._recalls.append(Span(kind="recall", name=engine, began_ms=began_ms, took_ms=took_ms, outcome=outcome))

    def trace(
        self,
        said: list[Inbound],
        *,
        turn: int,
        fence: int,
        worker: str,
        outcome: str,
        recalled_tokens: int = 0,
    ) -> Trace:
        """The trace of the turn, which answers what was ``said`` and is about to be committed.

        ``recalled_tokens``: of what was recalled, in its last prompts.
        """
        recalls = self._recalls
        if recalls and recalled_tokens:
            recalls = [*recalls[:-1], replace(recalls[-1], prompt_tokens=recalled_tokens)]
        received = [at for inbound in said if (at := ms_of(inbound.received_at)) is not None]
        return Trace(
            turn=turn,
            fence=fence,
            correlation=tuple(inbound.correlation for inbound in said),
            answers=tuple(inbound.id for inbound in said),
            received_ms=min(received, default=self._claimed_ms),
            claimed_ms=self._claimed_ms,
            worker=worker,
            outcome=outcome,
            spans=tuple(self._spans),
            recalls=tuple(recalls),
            left_out=self._left_out,
            missing=tuple(Unavailable(server=each.server, why=each.why) for each in self.missing),
        )


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
