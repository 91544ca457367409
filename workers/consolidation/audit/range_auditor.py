"""The auditor of a range of messages, imported when it is first needed."""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from anyio import to_thread

from daemon.memory import Opened
from daemon.session import Lock
from daemon.transcripts import Transcripts
from workers.consolidation.kits import Kit
from workers.consolidation.part import LogPart, is_group
from workers.consolidation.stores import Stores

if TYPE_CHECKING:
    from workers.consolidation.audit.auditor import Auditor


async def auditor_of(stores: Stores, kit: Kit, lock: Lock, opened: Opened, part: LogPart | None) -> "Auditor | None":
    """The auditor of a range of messages of a locked session; None: the audit is switched off.

    Args:
        stores: what is searched.
        kit: whose prompts contain MEMORY.md.
        lock: of the session.
        opened: the memory.
        part: the messages; None: they were audited before.
    """
    config = kit.config.consolidation.audit
    if not config.enabled:
        return None
    # Reading words is slow to import, see ``daemon.recall.recall``.
    await to_thread.run_sync(import_module, "workers.consolidation.audit.auditor")
    from workers.consolidation.audit.auditor import Auditor, items_in, requests_in  # noqa: PLC0415 - see above
    from workers.consolidation.audit.requests import earlier_requests  # noqa: PLC0415

    names = is_group(lock.scope, part.entries if part else ())
    items = await to_thread.run_sync(items_in, lock.session, part) if part else []
    transcripts = Transcripts(stores.bus, stores.archive)
    most_tokens = int(config.pinned_max_share * kit.bot.model.context_window_tokens)
    return Auditor(
        items,
        requests_in(lock.session, items, names=names),
        earlier=await earlier_requests(stores.memories, transcripts, opened.scope, names=names),
        recalls=partial(stores.recalls, opened.scope),
        fits=lambda text: kit.tokenizer.count(text) <= most_tokens,
    )
