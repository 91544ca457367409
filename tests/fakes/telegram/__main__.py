"""The fake Bot API as a program; see the package."""

import json
import sys
import time

import anyio

from tests.fakes.faults import Cut, Page, Slow, every
from tests.fakes.telegram.calls import Call
from tests.fakes.telegram.faults import Refuse
from tests.fakes.telegram.server import FakeTelegram

FAULTS = (Cut(), Refuse(429, retry_after=1), Refuse(500), Cut(acted=False), Slow(0.2), Page())
"""The worst one first: a short run meets few."""


async def _main(port: int, file: str, number: int) -> None:
    with open(file, "a", encoding="utf-8") as lines:  # noqa: ASYNC230, PTH123 - a line is written faster than a thread is asked

        def note(call: Call) -> None:
            sent = call.answer.get("result") if call.method.startswith("send") and call.ok else None
            message = sent.get("message_id", 0) if isinstance(sent, dict) else 0
            text = call.params.get("text") or (call.params.get("rich_message") or {}).get("markdown", "")
            said = {"method": call.method, "chat": call.chat, "message": message, "text": text}
            if call.method != "getUpdates" or call.answer.get("result") or not call.ok:
                lines.write(json.dumps({**said, "acted": call.acted, "ok": call.ok, "at": time.time()}) + "\n")
                lines.flush()

        telegram = FakeTelegram()
        telegram.on_call = note
        if number:
            telegram.faults.when("send*", every(number, FAULTS))
        async with anyio.create_task_group() as tg:
            await tg.start(telegram.serve, port)
            print(telegram.base_url, telegram.bot.token, flush=True)


if __name__ == "__main__":
    anyio.run(_main, int(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
