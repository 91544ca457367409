"""The auditor of a range of messages, imported when it is first needed."""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec
import structlog
from anyio import to_thread

from daemon.errors import MillpondError, brief
from daemon.memory import Opened
from daemon.recall import QuotedMessage
from daemon.session import ConsolidationLock
from daemon.transcripts import Transcripts
from daemon.usage import Amount
from workers.consolidation.consolidation_kits import ConsolidationUsage, Kit
from workers.consolidation.consolidation_request import ConsolidationRequest, SharedStores
from workers.consolidation.lock_holder import unless_wanted
from workers.consolidation.log_part import LogPart, is_group
from workers.consolidation.summary.quiz import Quiz, QuizRange, Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workers.consolidation.audit.auditor import Auditor

_log = structlog.get_logger()


class RangeAuditor(msgspec.Struct, frozen=True, kw_only=True):
    """Makes the auditors of one session's consolidation."""

    stores: SharedStores
    kit: Kit
    """Whose prompts contain MEMORY.md."""
    want: ConsolidationRequest
    spent: ConsolidationUsage

    async def auditor(self, lock: ConsolidationLock, opened: Opened, part: LogPart | None) -> "Auditor | None":
        """The auditor of a range of messages of a locked session; None: the audit is switched off.

        Args:
            lock: of the session.
            opened: the memory.
            part: the messages; None: they were audited before.
        """
        config, kit = self.kit.config.consolidation.audit, self.kit
        if not config.enabled:
            return None
        # Reading words is slow to import, see ``daemon.recall.recall``.
        await to_thread.run_sync(import_module, "workers.consolidation.audit.auditor")
        from workers.consolidation.audit.auditor import Auditor, Range  # noqa: PLC0415 - see above
        from workers.consolidation.audit.pinned_statements import earlier_requests  # noqa: PLC0415

        names = is_group(lock.scope, part.entries if part else ())
        found = await to_thread.run_sync(partial(Range.of, lock.session, part, names=names))
        transcripts = Transcripts(self.stores.bus, self.stores.archive)
        most_tokens = int(config.pinned_max_share * kit.bot.model.context_window_tokens)
        return Auditor(
            found,
            earlier=await earlier_requests(self.stores.memories, transcripts, opened.scope, names=names),
            recalls=partial(self.stores.recalls, opened.scope),
            fits=lambda text: kit.tokenizer.count(text) <= most_tokens,
            quiz=partial(self._score, kit.quiz, lock) if kit.quiz and part and not self.want.awaited else None,
        )

    async def _score(
        self, quiz: Quiz, lock: ConsolidationLock, said: "Sequence[QuotedMessage]", left: QuizRange
    ) -> Score | None:
        """The result of a quiz; None: a turn waits, or the model failed. Never raises."""
        used: dict[str, Amount] = {}
        try:
            return await unless_wanted(self.stores.locks, lock, partial(quiz.score, said, left, used))
        except MillpondError as error:
            _log.warning("quiz.failed", reason=brief(error))
        except Exception as error:  # noqa: BLE001 - a bug in the quiz must not fail a summary that was paid for
            _log.exception("quiz.failed", reason=type(error).__name__)
        finally:
            self.spent.add(used)
        return None
