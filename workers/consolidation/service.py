"""The role ``consolidation``: reads ``session-grew`` as a member of the group ``consolidators``.

The event is a hint, the session's state decides. Nothing is settled into memory yet, so a session's state never asks
for anything: events are read, logged and removed, and the stream stays as short as its readers are quick.
"""

import anyio
import msgspec
import structlog
from anyio.lowlevel import checkpoint

from daemon.errors import BusError
from daemon.events import SessionGrew
from daemon.heartbeat import beat
from daemon.process import Process
from workers.consolidation.grew import GrewReader

AWAY_PAUSE_S = 0.5

_log = structlog.get_logger()
_decode = msgspec.json.Decoder(SessionGrew).decode


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Read events until the process stops."""
    async with anyio.create_task_group() as tg:
        tg.start_soon(beat, process, "consolidation", lambda: 0)
        task_status.started()
        reader = GrewReader(process.bus, consumer=process.name)
        while not process.stopping.is_set():
            # Reading is shielded, so this is where the loop can be cancelled.
            await checkpoint()
            try:
                for partition, event_id, raw in await reader.read():
                    _note(raw)
                    await reader.remove(partition, event_id)
            except BusError as error:
                _log.debug("queue.away", reason=str(error))
                await anyio.sleep(AWAY_PAUSE_S)
        tg.cancel_scope.cancel()


def _note(raw: bytes) -> None:
    try:
        event = _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Only a hint: the session's own state says what there is to do.
        _log.warning("event.unreadable", reason=type(error).__name__)
    else:
        _log.debug("session.grew", session=event.session, head=event.head)
