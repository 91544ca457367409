"""Consolidates older messages if the prompt of a turn does not fit. The turn waits for a limited time."""

import anyio
import structlog

from daemon import metrics
from daemon.errors import BusError, ConfigError, brief
from daemon.session import SessionReader, SessionState
from daemon.usage import User
from workers.agent.prompt.history_loader import HistoryLoader, PromptHistory
from workers.consolidation import ConsolidationReport, ConsolidationRequest, Consolidator

_log = structlog.get_logger()


class CompactionWait:
    """One turn's; all its waits together are limited."""

    def __init__(self, rooms: "CompactionWaits", user: User, *, budget_tokens: int, correlation: str) -> None:
        self._rooms = rooms
        self._user = user
        self._session = user.session
        self._budget_tokens = budget_tokens
        self._correlation = correlation
        self._left_s = rooms.wait_s

    async def make(self, past: PromptHistory, *, fixed_tokens: int, current_tokens: int) -> PromptHistory:
        """What lies before the turn once as much was consolidated as there was time for; ``past`` where nothing was.

        After a wait that brought nothing, no turn of the session waits until the cursor has moved.
        """
        if self._left_s <= 0:
            return past
        want = ConsolidationRequest(
            at="budget",
            fixed_tokens=fixed_tokens,
            current_tokens=current_tokens,
            user=self._user,
            correlation=self._correlation,
        )
        locks, state = self._rooms.consolidator.stores.locks, await self._rooms.reader.state(self._session)
        if await locks.waited(self._session, state.cursor):
            self._left_s = 0.0
            if not await locks.rests(self._session):
                await self._consolidated(want)  # goes on behind the turn, for those that follow
            return past
        began = anyio.current_time()
        report = await self._consolidated(want)
        took_s = anyio.current_time() - began
        self._left_s -= took_s
        metrics.CONSOLIDATION_WAITS.observe(took_s)
        _log.info("turn.waited", status=report.outcome, waited_s=round(took_s, 3), tokens=report.tokens_after)
        state = await self._rooms.reader.state(self._session)
        if report.outcome not in ("settled", "nothing"):
            self._left_s = 0.0  # whatever keeps it from being done will not have gone at the next call
            await locks.note_wait(self._session, state.cursor)
        return await self._again(past, state)

    async def compact(self, focus: str, past: PromptHistory) -> tuple[ConsolidationReport, PromptHistory]:
        """Consolidate all but the newest turns now, because somebody asked; the summary preserves ``focus``."""
        want = ConsolidationRequest(at="now", focus=focus, user=self._user, correlation=self._correlation)
        report = await self._rooms.consolidator.awaited(self._session, want, within_s=self._rooms.ask_s)
        return report, await self._again(past, await self._rooms.reader.state(self._session))

    async def _consolidated(self, want: ConsolidationRequest) -> ConsolidationReport:
        try:
            return await self._rooms.consolidator.awaited(self._session, want, within_s=self._left_s)
        except (BusError, ConfigError) as error:
            _log.warning("consolidation.failed", reason=brief(error))
            return ConsolidationReport(outcome="failed")

    async def _again(self, past: PromptHistory, state: SessionState) -> PromptHistory:
        if state.continuity == past.continuity and not self._moved(past, state.start, state.head):
            return past
        found, _ = await self._rooms.pasts.read(
            self._session, state, upto=state.head, budget_tokens=self._budget_tokens
        )
        return found

    def _moved(self, past: PromptHistory, start: int, head: int) -> bool:
        return head - start < len(past.history) or not past.whole


class CompactionWaits:
    """Gives every turn of a process its own."""

    def __init__(self, consolidator: Consolidator, reader: SessionReader, pasts: HistoryLoader) -> None:
        config = consolidator.stores.config.consolidation
        self.consolidator = consolidator
        self.reader = reader
        self.pasts = pasts
        self.wait_s = config.turn_wait_s
        self.ask_s = config.call_deadline_s

    def of(self, user: User, *, budget_tokens: int, correlation: str) -> CompactionWait:
        """For one turn of a user."""
        return CompactionWait(self, user, budget_tokens=budget_tokens, correlation=correlation)
