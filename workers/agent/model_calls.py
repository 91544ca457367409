"""The model calls of a turn. Each returns an answer, after retries if necessary.

A firewall answers a single message with 403 or with a web page, and a server with a wrong set-up answers every message
with 400. The status does not tell them apart. A short test message, which no person wrote, does.

A prompt that is too large is halved, pictures are left out where they are refused, an answer that was cut off is
continued, and one that holds reasoning alone is asked for again.
"""

import math
from collections.abc import Sequence
from contextlib import aclosing, suppress

import anyio
import msgspec
import structlog

from daemon import metrics
from daemon.errors import (
    ContentFiltered,
    ContextOverflow,
    InvalidAnswer,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    SetupFault,
    brief,
)
from daemon.events import LogEntry
from daemon.model import Answer, CutOff, OnlyThought, Request, TextChunk, Unsaid
from daemon.tokens import calibration
from daemon.usage import LimitReached
from daemon.wording import text as say
from workers.agent.bot_checks import TOKENS, answer_of
from workers.agent.turn_progress import Turn
from workers.agent.turn_tracing import Doing
from workers.message_format import message
from workers.paid_calls import account, needs_of, paid

# Decides whether a failed call was caused by the message or by the model.

REFUSED_ATTEMPTS = 2
"""So often a message is sent that the model's server refuses; a second time, because some refuse by mistake."""
OUTAGE_S = 1_800.0
"""After so long, an outage may be one of this message alone: some messages make a server fail each time."""
TEST_TIMEOUT_S = 60.0
"""A test message that takes longer tells nothing of the model."""
OF_ACCOUNT = frozenset({401, 402})
"""Statuses that are never about a message: they are decided before the message is read."""

TEST = message("user", "Reply with the word OK.")

_log = structlog.get_logger()


async def attributed(turn: Turn, error: ModelError, *, attempts_max: int) -> ModelError:
    """``error``, or the error that it turns out to be when the model is asked to answer a test message.

    Args:
        turn: whose model call failed.
        error: how the call failed.
        attempts_max: after so many attempts a message without a usable answer is given up.
    """
    if not _is_doubtful(turn, error, attempts_max):
        return error
    try:
        found = await _test(turn)
    except LimitReached:
        return error
    _log.info("model.tested", model=turn.kit.model.name, reason=brief(found) if found else "the model answers")
    if found is None:
        return _of_message(turn, error, attempts_max)
    if isinstance(error, ModelUnavailable | SetupFault):
        return error
    return _of_model(error, found)


def _is_doubtful(turn: Turn, error: ModelError, attempts_max: int) -> bool:
    begun = turn.claim.begun
    match error:
        case ContentFiltered() | ContextOverflow() | RateLimited():
            return False
        case SetupFault():
            return bool(error.status) and error.status not in OF_ACCOUNT
        case ModelUnavailable():
            return begun.parked_s > OUTAGE_S
        case ModelRefused():
            return begun.attempts >= REFUSED_ATTEMPTS
        case _:
            return begun.attempts >= attempts_max


async def _test(turn: Turn) -> ModelError | None:
    """How the test message fails; None: the model answers it.

    Raises:
        LimitReached: nobody pays for a test.
        BusError: Redis is away or refused.
    """
    tokens = TOKENS + turn.kit.prompts.bot.model.thinking.budget_tokens
    try:
        with anyio.fail_after(TEST_TIMEOUT_S), suppress(ContentFiltered):
            needs = needs_of(Request(messages=[TEST], max_completion_tokens=tokens), turn.kit.prompts.bot.model)
            async with turn.payer.call(needs, turn.progress.used, wait_s=TEST_TIMEOUT_S) as charge:
                account(charge, await answer_of(turn.kit.model, [TEST], (), tokens))
    except TimeoutError:
        return ModelTimeout(f"the test message was not answered within {TEST_TIMEOUT_S:g} s")
    except ModelError as error:
        return error
    return None


def _of_message(turn: Turn, error: ModelError, attempts_max: int) -> ModelError:
    """``error`` of a message whose model answers others."""
    name = f"model {turn.kit.model.name!r}"
    match error:
        case SetupFault(status=200):
            text = f"{name} returned a web page for this message but answers a short test message"
            # A proxy in trouble sends such a page now and then, whatever the message says: two pages prove no refusal.
            is_last = turn.claim.begun.attempts >= attempts_max
            return ModelRefused(text, status=200) if is_last else InvalidAnswer(text)
        case SetupFault():
            text = f"{name} rejected this message ({error.status}) but answers a short test message"
            return ModelRefused(text, status=error.status)
        case ModelUnavailable():
            text = f"{name} fails to answer this message but answers a short test message ({error.brief})"
            return ModelRefused(text)
        case _:
            return error


def _of_model(error: ModelError, found: ModelError) -> ModelError:
    """``error`` of a message whose model fails with the test message, too: a fault of the set-up where both are."""
    match found:
        case SetupFault():
            return found
        case ModelRefused():
            text = f"The server rejects every request, even a short test message ({found.brief.rstrip('.')})."
            return SetupFault(f"{text} Check the model's settings.", status=found.status)
        case InvalidAnswer():
            text = f"The server returns unusable answers, even to a short test message ({found.brief.rstrip('.')})."
            return SetupFault(f"{text} Check that model.base_url and model.api match the server.")
        case _:
            return error


CONTINUED_MOST = 2
"""How often an answer that reached ``max_completion_tokens`` is continued."""

LARGE_TOKENS = 3_000
"""A prompt above this that is refused for no known reason may be too large: servers say that in many ways, and the
smallest windows in use hold 4,096 tokens, of which an answer needs a quarter."""


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
