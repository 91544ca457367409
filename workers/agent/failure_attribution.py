"""Decides whether a failed call was caused by the message or by the model.

A firewall answers a single message with 403 or with a web page, and a server with a wrong set-up answers every message
with 400. The status does not tell them apart. A short test message, which no person wrote, does.
"""

from contextlib import suppress

import anyio
import structlog

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
from daemon.model import Request
from daemon.usage import LimitReached
from workers.agent.model_probe import TOKENS, answer_of
from workers.agent.turn_progress import Turn
from workers.message_format import message
from workers.paid_calls import needs_of
from workers.usage_accounts import account

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
            text = f"{name} answered this message with a web page, but answers a short test message"
            # A proxy in trouble sends such a page now and then, whatever the message says: two pages prove no refusal.
            is_last = turn.claim.begun.attempts >= attempts_max
            return ModelRefused(text, status=200) if is_last else InvalidAnswer(text)
        case SetupFault():
            text = f"{name} refused this message ({error.status}), but answers a short test message"
            return ModelRefused(text, status=error.status)
        case ModelUnavailable():
            text = f"{name} fails to answer this message, but answers a short test message ({error.brief})"
            return ModelRefused(text)
        case _:
            return error


def _of_model(error: ModelError, found: ModelError) -> ModelError:
    """``error`` of a message whose model fails with the test message, too: a fault of the set-up where both are."""
    match found:
        case SetupFault():
            return found
        case ModelRefused():
            text = f"The server refuses every request, even a short test message ({found.brief.rstrip('.')})."
            return SetupFault(f"{text} Check the settings of the model.", status=found.status)
        case InvalidAnswer():
            text = f"The server sends unusable answers, even to a short test message ({found.brief.rstrip('.')})."
            return SetupFault(f"{text} Check that model.base_url and model.api match the server.")
        case _:
            return error
