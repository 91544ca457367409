"""The model calls of a turn. Each returns an answer, after retries if necessary.

A prompt that is too large is halved, pictures are left out where they are refused, an answer that was cut off is
continued, and one that holds reasoning alone is asked for again.
"""

import math
from collections.abc import Sequence
from contextlib import aclosing, suppress

import msgspec
import structlog

from daemon import metrics
from daemon.errors import (
    ContentFiltered,
    ContextOverflow,
    InvalidAnswer,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    SetupFault,
    brief,
)
from daemon.events import LogEntry
from daemon.model import Answer, CutOff, OnlyThought, Request, TextChunk, Unsaid
from daemon.tokens import calibration
from daemon.usage import LimitReached
from daemon.wording import text as say
from workers.agent.failure_attribution import REFUSED_ATTEMPTS
from workers.agent.turn_progress import Turn
from workers.agent.turn_tracing import Doing
from workers.paid_calls import needs_of, paid

CONTINUED_MOST = 2
"""How often an answer that reached ``max_completion_tokens`` is continued."""

LARGE_TOKENS = 3_000
"""A prompt above this that is refused for no known reason may be too large: servers say that in many ways, and the
smallest windows in use hold 4,096 tokens, of which an answer needs a quarter."""

_log = structlog.get_logger()


class ModelCalls:
    """Asks a turn's model."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._kit = turn.kit
        self._requests = turn.requests

    async def answer(self) -> Answer:
        """The next answer: text, calls, or a sentence that says why there is neither.

        Raises:
            ModelError: the model gave none.
            LimitReached: it was not asked, and the turn has not begun.
        """
        said, has_thought, needs_room, was_empty = "", False, False, False
        for _ in range(1 + CONTINUED_MOST):
            try:
                answer = await self._asked(said, needs_room=needs_room, was_empty=was_empty)
                return msgspec.structs.replace(answer, text=said + answer.text, own=b"") if said else answer
            except OnlyThought as error:
                if has_thought:
                    return self._told(said, "only_thought")
                has_thought = True
                _log.warning("model.silent", reason=brief(error), model=self._kit.model.name)
            except (LimitReached, ContentFiltered) as error:
                return self._refused(error, said)
            except CutOff as cut:
                if cut.finish_reason != "length":
                    return self._told(said + cut.answer.text, "filtered")
                if cut.is_call and needs_room:
                    return self._told(said + cut.answer.text, "call_too_long")
                needs_room = cut.is_call or not cut.answer.text.strip()
                said += "" if cut.is_call else cut.answer.text
                _log.info("model.cut_off", model=self._kit.model.name, tokens_out=cut.answer.usage.tokens_out)
            except InvalidAnswer as error:
                if not error.is_empty or was_empty:
                    raise
                was_empty = True
                _log.warning("model.silent", reason=brief(error), model=self._kit.model.name)
        return self._told(said, "cut_short")

    def _refused(self, error: LimitReached | ContentFiltered, said: str) -> Answer:
        if isinstance(error, ContentFiltered):
            _log.warning("model.filtered", reason=brief(error), model=self._kit.model.name)
            return self._told(said, "prompt_filtered")
        if not (said or self._turn.progress.step):
            raise error
        _log.info("turn.limited", reason=brief(error))
        return self._told(said, f"midway_{error.refusal.whose}")

    def _told(self, said: str, key: str) -> Answer:
        text = f"{said.rstrip()}\n\n{say(key, self._kit.language)}".lstrip()
        return Answer(text=text, model=self._kit.model.name)

    async def _asked(self, said: str, *, needs_room: bool, was_empty: bool) -> Answer:
        """An answer, or the rest of one of which ``said`` has come; ``was_empty``: the one before held nothing."""
        cut_off = await self._turn.entries.cut_off(said) if said else ()
        request = await self._request(cut_off)
        if needs_room:
            request = self._requests.with_more_room(request)
        try:
            return await self._streamed(request, goes_on=bool(said))
        except ContentFiltered:
            raise
        except SetupFault as error:
            return await self._without_history(error, cut_off)
        except ModelRefused as error:
            return await self._otherwise(error, request, cut_off)
        except ContextOverflow as error:
            # Its server counts otherwise than we do, or the configuration names too large a window.
            return await self._halved(error, request, cut_off)
        except InvalidAnswer as error:
            if request.tokens < LARGE_TOKENS:
                error.is_empty = False  # it says nothing of the prompt's size
            elif _is_full(error, was_empty=was_empty):
                return await self._halved(error, request, cut_off)
            raise

    async def _otherwise(self, error: ModelRefused, request: Request, cut_off: Sequence[LogEntry]) -> Answer:
        """The answer to a request that was refused without a reason that is known."""
        # Many models take no pictures, and say so only when they are shown one.
        if self._requests.hide():
            _log.warning("model.blind", reason=brief(error), model=self._kit.model.name)
            return await self._streamed(await self._request(cut_off), goes_on=bool(cut_off))
        if error.status in (400, 413, 422) and request.tokens >= LARGE_TOKENS:
            with suppress(ModelRefused):  # then its size is not the cause
                return await self._halved(error, request, cut_off)
        return await self._without_history(error, cut_off)

    async def _without_history(self, error: ModelRefused, cut_off: Sequence[LogEntry]) -> Answer:
        """The answer to a prompt without older messages, before a message is given up: one of them may be the cause."""
        if self._turn.claim.begun.attempts < REFUSED_ATTEMPTS or not self._requests.leave_out_history():
            raise error
        try:
            answer = await self._streamed(await self._request(cut_off), goes_on=bool(cut_off))
        except ModelError:
            raise error from None
        _log.warning("model.history_refused", reason=brief(error), model=self._kit.model.name)
        return answer

    async def _halved(
        self, error: ModelRefused | ContextOverflow | InvalidAnswer, request: Request, cut_off: Sequence[LogEntry]
    ) -> Answer:
        """The answer to half of a request; when it cannot be halved, what the server said is the better reason."""
        self._requests.shorten(request.tokens // 2)
        try:
            shorter = await self._request(cut_off)
        except ContextOverflow:
            raise error from None
        try:
            answer = await self._streamed(shorter, goes_on=bool(cut_off))
        except (ModelRefused, ContextOverflow):
            raise error from None
        taker = next((each for each in self._kit.prompts.bot.model.chain if each.name == answer.model), None)
        if taker is not None:
            is_guess = not isinstance(error, ContextOverflow)
            calibration(taker.name, taker.base_url).fits(shorter.tokens, is_guess=is_guess)
            _log.warning("model.window_learnt", model=taker.name, tokens_in=shorter.tokens, reason=brief(error))
        return answer

    async def _request(self, cut_off: Sequence[LogEntry]) -> Request:
        with metrics.stage("prompt"):
            return await self._requests.next([*self._turn.progress.entries, *cut_off], self._kit.tools.definitions)

    async def _streamed(self, request: Request, *, goes_on: bool) -> Answer:
        if not goes_on:
            self._turn.live.begin()
        with metrics.stage("model"), self._turn.tracing.model(self._kit.model.name) as doing:
            try:
                return await self._read(request, doing, is_first=not (goes_on or self._turn.progress.step))
            except (CutOff, OnlyThought) as error:
                doing.answer = error.answer
                raise

    async def _read(self, request: Request, doing: Doing, *, is_first: bool) -> Answer:
        shown, turn = False, self._turn
        # A turn that has not begun comes back later, and others have its place until then.
        wait_s = 0.0 if is_first else math.inf
        model, config = self._kit.model, self._kit.prompts.bot.model
        try:
            async with (
                turn.payer.call(needs_of(request, config), turn.progress.used, wait_s=wait_s) as charge,
                aclosing(paid(model, config, request, charge)) as chunks,
            ):
                async for chunk in chunks:
                    if isinstance(chunk, TextChunk):
                        shown = True
                        doing.piece()
                        self._turn.live.add(chunk.text)
                    elif isinstance(chunk, Unsaid):
                        self._turn.live.begin()
                    else:
                        doing.answer = chunk
                        return chunk
        except ModelUnavailable as error:
            if not shown:
                raise
            # It works and fails within this answer: that counts as an attempt, else it is paid for again and again.
            text = "the answer was interrupted after some text was shown"
            raise InvalidAnswer(f"{text}: {error}", brief=f"{text}: {error.brief}") from error
        raise InvalidAnswer("the model's stream ended without an answer")


def _is_full(error: InvalidAnswer, *, was_empty: bool) -> bool:
    """Whether an answer without anything means that the prompt left no room for one."""
    if isinstance(error, CutOff):
        empty = not (error.answer.text.strip() or error.answer.reasoning or error.is_call)
        return empty and error.finish_reason == "length"
    return error.is_empty and was_empty
