"""The fake Slack as a program; see the package."""

import json
import sys
import time

import anyio

from tests.fakes.faults import Cut, Page, Slow, every
from tests.fakes.slack.calls import Call
from tests.fakes.slack.faults import Refuse
from tests.fakes.slack.server import FakeSlack

FAULTS = (Cut(), Refuse(), Refuse("internal_error"), Cut(acted=False), Slow(0.2), Page())
"""The worst one first: a short run meets few."""


async def _main(port: int, file: str, number: int) -> None:
    with open(file, "a", encoding="utf-8") as lines:  # noqa: ASYNC230, PTH123 - a line is written faster than a thread is asked

        def note(call: Call) -> None:
            text = call.params.get("markdown_text") or call.params.get("text") or ""
            ts = call.answer.get("ts", "") if call.ok else ""
            said = {"method": call.method, "channel": call.channel, "ts": ts, "text": text, "error": call.error}
            lines.write(json.dumps({**said, "acted": call.acted, "ok": call.ok, "at": time.time()}) + "\n")
            lines.flush()

        slack = FakeSlack()
        slack.on_call = note
        if number:
            slack.faults.when("chat.*", every(number, FAULTS))
        async with anyio.create_task_group() as tg:
            await tg.start(slack.serve, port)
            print(f"{slack.base_url} {slack.bot.token} {slack.app.token} {slack.app.signing_secret}", flush=True)


if __name__ == "__main__":
    anyio.run(_main, int(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
