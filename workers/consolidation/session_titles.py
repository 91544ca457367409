"""Gives a new conversation a title: by a model where the bot's configuration says so, otherwise its first words."""

import structlog

from daemon.errors import ArchiveError, BusError, CallSkipped, ConfigError, ModelError, brief
from daemon.process import Process
from daemon.recall import said_of
from daemon.session import SessionLabels, SessionReader, title_of
from daemon.usage import Amount, Payer, user_of_scope
from workers.consolidation.consolidation_kits import ConsolidationUsage, Kit, Kits
from workers.consolidation.consolidation_request import SharedStores
from workers.consolidation.summary.title_request import Exchange

HEAD_MAX = 40
"""A session with more messages has its title, or its list shows its first words: nobody looks at it with each turn."""

FIRST = 20
"""Messages among which the first exchange is looked for; it may have tool calls."""

_log = structlog.get_logger()


class SessionTitles:
    """Gives titles, for one process."""

    def __init__(self, process: Process, stores: SharedStores, kits: Kits) -> None:
        self._transcripts = process.transcripts
        self._reader = SessionReader(process.bus)
        self._labels = SessionLabels(process.bus)
        self._stores = stores
        self._kits = kits

    async def entitle(self, session: str) -> None:
        """Give ``session`` a title, unless it has one. Never raises: without a title, lists show the first words."""
        try:
            if (await self._labels.of(session)).title:
                return
            if exchange := await self._exchange(session):
                await self._labels.suggest(session, await self._by_model(session, exchange) or title_of(exchange.said))
        except (BusError, ArchiveError, ConfigError) as error:
            _log.debug("title.missing", session=session, reason=brief(error))
        except Exception:  # noqa: BLE001  one session's trouble must not end the work on all others
            _log.exception("title.broken", session=session)

    async def _exchange(self, session: str) -> Exchange | None:
        """The first message of a person, and the first answer to it; None: there is no message with words."""
        said = answered = ""
        for index, entry in await self._transcripts.committed(session, after=-1, limit=FIRST):
            found = said_of(session, index, entry)
            if found is None:
                continue
            if entry.id or entry.sender:
                said = said or found.text
            elif said:
                answered = answered or found.text
        return Exchange(said, answered) if said else None

    async def _by_model(self, session: str, exchange: Exchange) -> str:
        """The title that the model gives; empty if it is not asked, or gives none."""
        state = await self._reader.state(session)
        kit = await self._kits.of_bot(state.scope, state.options.model)
        if not kit.titles.by_model or not exchange.answered:
            return ""
        payer = self._payer(session, state.scope, kit)
        spent, used = ConsolidationUsage(payer), dict[str, Amount]()
        try:
            return await kit.titles.paid_by(payer).ask(exchange, used)
        except (ModelError, CallSkipped) as error:
            _log.info("title.by_words", session=session, reason=brief(error))
            return ""
        finally:
            spent.add(used)
            await spent.note(self._stores)

    def _payer(self, session: str, scope: str, kit: Kit) -> Payer:
        return Payer(
            ledger=self._stores.ledger,
            clock=self._stores.clock,
            user=user_of_scope(scope, session),
            bot=kit.bot,
            work=f"{session}#title",
        )
