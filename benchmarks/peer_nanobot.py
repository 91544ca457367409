"""The CPU time of turns of nanobot, run by an interpreter that has it: ``peer_nanobot.py FOLDER URL MESSAGES TURNS``.

Prints the CPU seconds of one turn, user and system, after a first one that loads everything.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from loguru import logger  # type: ignore[import-not-found]
from nanobot import Nanobot  # type: ignore[import-not-found]  # only the peers' environment has it

QUESTION = "Tell me something about ponds."
CHARS = 150
"""Of an older message, as in ``benchmarks.turn``."""
WINDOW_TOKENS = 2_000_000
"""All older messages fit: nanobot summarizes none of them during the measurement."""


async def measure(folder: Path, base_url: str, messages: int, turns: int) -> float:
    """CPU seconds of a turn in a conversation that has ``messages`` older messages."""
    logger.remove()
    config = folder / "config.json"
    defaults: dict[str, object] = {"workspace": str(folder / "workspace"), "model": "fake", "provider": "custom"}
    defaults["contextWindowTokens"] = WINDOW_TOKENS
    provider = {"apiKey": "none", "apiBase": base_url}
    config.write_text(json.dumps({"agents": {"defaults": defaults}, "providers": {"custom": provider}}))
    bot = Nanobot.from_config(config)
    past = [
        {"role": "assistant" if number % 2 else "user", "content": "pond " * (CHARS // 5)} for number in range(messages)
    ]
    sessions = [f"sdk:{number if messages < turns else 0}" for number in range(turns + 1)]
    for session in dict.fromkeys(sessions):
        await bot.sessions.ingest(session, past)
    spent = 0.0
    for number, session in enumerate(sessions):
        began = time.process_time()
        async for _event in bot.stream(QUESTION, session_key=session):
            """A text as it is written."""
        spent += time.process_time() - began if number else 0.0
    return spent / turns


if __name__ == "__main__":
    _, given, url, older, count = sys.argv
    cost = asyncio.run(measure(Path(given), url, int(older), int(count)))
    print(f"cpu: {cost}", flush=True)
