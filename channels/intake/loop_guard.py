"""The loop guard: two bots that answer each other would never stop."""

from daemon.bus import Bus, Part, load_script

ANSWER_BOT = load_script(__file__, "answer_bot.lua")

IN_A_ROW = 5
"""So many messages of bots are answered in a chat before a human has to speak."""

WITHIN_S = 3_600.0
"""After an hour of silence they begin anew."""


class LoopGuard:
    """Counts what bots were answered. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def lets_pass(self, session: str, message_id: str) -> bool:
        """Whether a bot's message is answered."""
        args: list[Part] = [message_id, IN_A_ROW, round(WITHIN_S * 1000)]
        passes: int = await self._bus.run(ANSWER_BOT, [self._bus.keys.bots(session)], args)
        return passes == 1

    async def human(self, session: str) -> None:
        """A human has spoken."""
        await self._bus.call("DEL", self._bus.keys.bots(session))
