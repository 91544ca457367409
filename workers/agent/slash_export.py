"""``/export``: all stored data of a person or group, sent to the chat as a file."""

import anyio
import structlog

from daemon.access import may_take
from daemon.config import BotConfig
from daemon.errors import ConfigError, brief
from daemon.events import Attachment, Inbound
from daemon.export import Kept, export_here, family
from daemon.memory import Memories
from daemon.process import Process
from daemon.session import Claim
from daemon.wording import text as say
from workers.agent.command_outcome import Outcome
from workers.tools.message import MEDIA_MAX_BYTES

LIMIT_S = 60.0
"""How long an export may hold up its conversation; the command line has no such limit."""

_log = structlog.get_logger()


class Exporting:
    """Carries the command out."""

    def __init__(self, process: Process, memories: Memories) -> None:
        self._process = process
        self._memories = memories

    async def outcome(self, claim: Claim, inbound: Inbound, bot: BotConfig) -> Outcome:
        """What is said, and the file that goes with it.

        Raises:
            BusUnavailable: Redis is away; the command is tried again.
        """
        scope = claim.begun.scope
        # What others said too is theirs as well: who may have it is the administrators' to say.
        if not scope or not may_take(bot, inbound, scope):
            return Outcome(text=say("admins_only", bot.language))
        try:
            with anyio.fail_after(LIMIT_S):
                scopes = await family(self._process.bus, scope)
                sources = self._process.export_sources(self._memories)
                kept = await export_here(sources, scopes, language=bot.language)
        except TimeoutError:
            _log.warning("export.failed", session=claim.session, reason=f"the export took more than {LIMIT_S:.0f} s")
            return Outcome(text=say("export_slow", bot.language, session=claim.session))
        except (OSError, ConfigError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
            _log.warning("export.failed", session=claim.session, reason=brief(error))
            return Outcome(text=say("export_failed", bot.language, reason=reason))
        _log.info("export.done", session=claim.session, count=kept.told.messages)
        return _told(kept, bot)


def _told(kept: Kept, bot: BotConfig) -> Outcome:
    told = kept.told
    missing = say("export_missing", bot.language, count=len(told.missing)) if told.missing else ""
    text = say(
        "export_done",
        bot.language,
        messages=told.messages,
        sessions=len(told.sessions),
        files=told.files,
        path=kept.path,
        size=f"{kept.size_bytes:,}",
        missing=missing,
    )
    if kept.size_bytes > MEDIA_MAX_BYTES:
        return Outcome(text=text + say("export_large", bot.language))
    attachment = Attachment(kind="document", name=kept.name, size_bytes=kept.size_bytes, path=kept.path)
    return Outcome(text=text, attachments=(attachment,))
