"""Why a message has no answer yet."""

from daemon.heartbeat import agent_lives
from daemon.process import Process
from daemon.session import SessionReader, SessionState


async def delay(process: Process, session: str) -> str:
    """The reason why the session's messages wait, as a sentence; empty while a worker answers them.

    Raises:
        BusUnavailable: Redis is away.
    """
    reader = SessionReader(process.bus)
    running = await agent_lives(process.bus, process.clock)
    return reason(await reader.state(session), running=running, now_ms=await reader.now_ms())


def reason(state: SessionState, *, running: bool, now_ms: int) -> str:
    """The same of a session's ``state``; ``running``: whether there is an agent worker."""
    if not state.waiting or state.lease_ms > now_ms:
        return ""
    if not running:
        return "No agent worker is running. Start an agent worker with `millpond run`."
    if state.parked_why:
        return state.parked_why.partition(": ")[2]
    if state.retry_at_ms <= now_ms:
        return (
            "All agent workers are busy with other conversations. Start more workers to answer more "
            "conversations at the same time."
        )
    # A limit or a pause announces itself, and is not counted as an attempt.
    return "An attempt to answer this message failed. Millpond retries automatically." if state.attempts else ""
