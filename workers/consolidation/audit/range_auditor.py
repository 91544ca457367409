"""The auditor of a range of messages, imported when it is first needed."""

from importlib import import_module
from typing import TYPE_CHECKING

from anyio import to_thread

if TYPE_CHECKING:
    from workers.consolidation.audit.auditor import Auditor, Recalls
    from workers.consolidation.kits import Kit
    from workers.consolidation.part import LogPart


async def auditor_of(kit: "Kit", session: str, part: "LogPart | None", *, recalls: "Recalls", names: bool) -> "Auditor":
    """The auditor of a range of messages of a session; None: of a range that was audited before.

    Args:
        kit: whose prompts contain MEMORY.md.
        session: its key.
        part: the messages.
        recalls: gives the passages that recall finds for words.
        names: whether several people speak in the messages.
    """
    # Reading words is slow to import, see ``daemon.recall.recall``.
    await to_thread.run_sync(import_module, "workers.consolidation.audit.auditor")
    from workers.consolidation.audit.auditor import Auditor, items_in  # noqa: PLC0415 - see above

    items = await to_thread.run_sync(items_in, session, part) if part else []
    most_tokens = int(kit.config.consolidation.audit.pinned_max_share * kit.bot.model.context_window_tokens)
    return Auditor(items, recalls=recalls, names=names, fits=lambda text: kit.tokenizer.count(text) <= most_tokens)
