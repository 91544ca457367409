"""Recording the actions of operators."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request

from channels.web.access.request_operator import Operator
from daemon.errors import BusError, brief
from daemon.operators import Audit

NOTE_S = 5.0
"""Time limit for recording an action."""

_log = structlog.get_logger()


class Doing:
    """An action of an operator."""

    outcome: str = "done"
    """Its outcome in a word or two; never a text of a conversation."""


@asynccontextmanager
async def audited(request: Request, action: str, target: str = "", *, who: str = "") -> AsyncGenerator[Doing]:
    """Run the block, and record its success or its failure.

    ``target``: a name, a key or an id; never a text. ``who``: the author of a request without an operator.
    """
    operator: Operator | None = request.scope.get("operator")
    doing, audit = Doing(), Audit(request.app.state.bus)
    by = who or (operator.who if operator else "")
    try:
        yield doing
    except (Exception, anyio.get_cancelled_exc_class()) as error:
        await _note(audit, by, action, target, _failure(error))
        raise
    await _note(audit, by, action, target, doing.outcome)


def _failure(error: BaseException) -> str:
    """The outcome of a failed or cancelled action."""
    if isinstance(error, HTTPException):
        return f"refused: {error.status_code}"
    return f"{'failed' if isinstance(error, Exception) else 'cut short'}: {type(error).__name__}"


async def _note(audit: Audit, who: str, action: str, target: str, outcome: str) -> None:
    """Record an action. An outage in between does not undo it and is logged."""
    with anyio.move_on_after(NOTE_S, shield=True) as limit:
        try:
            await audit.note(who=who, action=action, target=target, outcome=outcome)
        except BusError as error:
            _log.warning("audit.missed", kind=action, reason=brief(error))
    if limit.cancelled_caught:
        _log.warning("audit.missed", kind=action, reason=f"the audit entry was not written within {NOTE_S:g} s")
