"""``python -m tests.page.pictures``: make the pictures of the page in ``docs/images`` anew, from a real conversation.

Needs Chromium and fonts for Chinese and emoji (Debian: chromium, fonts-noto-cjk, fonts-noto-color-emoji).
"""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser, expect, sync_playwright

from tests.chaos.keeper import SAVE_MEMORY, is_flush, is_summary
from tests.fakes.openai_server import Call, Reply, Say, fake_openai
from tests.fakes.said import said
from tests.page.browsing import LIMIT_MS, ROOT, launch, visiting
from tests.page.conftest import Pond, log_in
from tests.places import TEMPORARY
from tests.processes import shut_down

IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1280, "height": 800}
DRAWN_MS = 600  # the timeline is drawn a moment after it was read

THINKING_S = 0.02  # before each word of the last answers

ENTRIES = iter(
    ("A walk around the pond", "Plans for the sluice in spring", "Boats and visitors", "Repairs of the wheel")
)
RICH = """\
I found **three facts** in the notes:

1. The *mill race* is `2.4 m` wide; see [the survey](https://example.org/survey).
2. The pump hours are in the table below.
3. 今天的水位是一米二，明天会下雨。🐟

| Pump | Hours | Litres |
|:-----|------:|-------:|
| North | 12 | 4,300 |
| South | 7 | 2,050 |

```python
def level(readings: list[float]) -> float:
    \"\"\"The mean of the last three readings, in metres.\"\"\"
    recent = readings[-3:]
    return sum(recent) / len(recent)
```

Tell me when the **sluice** is open, and I will add it to the notes.
"""
CONSOLIDATED_AFTER = (10, 22)
PAST = (
    *("How wide is the path on the east bank?", "Which birds nest near the old mill?", "When was the wheel repaired?"),
    *("Where do we store the spare planks?", "How deep is the pond in August?", "Who has the key of the boat house?"),
)
ASKED = (
    "List the files that you have.",
    "What do the notes say about the pumps? I need the width, the hours and a function for the level.",
)


def answer(body: Mapping[str, Any]) -> Reply:
    """The model's answer to a request: summaries, a tool call, the long answer, or a few sentences."""
    if is_summary(body):
        fields = {"memory_update": "# Ann\n- keeps the mill pond\n", "continuity": "They spoke of the pond."}
        entry = f"{next(ENTRIES)}\n\nThey went through the notes of the season."
        return Say(calls=[Call(SAVE_MEMORY, json.dumps(fields | {"history_entry": entry}))])
    if is_flush(body):
        return Say("NO_REPLY")
    last = body["messages"][-1]
    text = said(last["content"])
    if last["role"] == "tool":
        return Say("There are no files yet. Shall I write down the pump hours?", delay_s=THINKING_S)
    if "files" in text:
        return Say(calls=[Call("list_files", json.dumps({"path": "."}))])
    if "pumps" in text:
        return Say(RICH, delay_s=THINKING_S)
    return Say("The notes of last season answer that in detail. " * (1 + len(text) % 9))


def conversations(pond: Pond) -> None:
    """Ask enough for two consolidations, then for a tool and a long answer."""
    pond.ask("bob", "Good morning!", "Is the café open today?")
    pond.ask("小明", "今天的水位是多少？")
    for number in range(28):
        pond.ask("alice", f"{PAST[number % len(PAST)]} ({1990 + number})")
        if number in CONSOLIDATED_AFTER:
            pond.daemon.post("alice", "/compact")
    pond.ask("alice", *ASKED)


def turn_of(pond: Pond) -> int:
    messages = pond.daemon.messages("alice")
    return next(each["turn"] for each in messages if each["role"] == "tool")


def shoot(browser: Browser, pond: Pond) -> Iterator[Path]:
    turn = f"/s/web%3Aalice/turns/{turn_of(pond)}"
    for name, path, dark in (
        ("page-chat", "/s/web%3Aalice", False),
        ("page-chat-dark", "/s/web%3Aalice", True),
        ("page-turn", turn, True),
    ):
        with visiting(browser, pond.url, dark=dark) as visit:
            visit.page.set_viewport_size(SIZE)  # type: ignore[arg-type]
            log_in(visit, pond)
            visit.open(path)
            expect(visit.page.get_by_text("live", exact=True).first).to_be_visible(timeout=LIMIT_MS)
            visit.page.wait_for_timeout(DRAWN_MS)
            image = IMAGES / f"{name}.png"
            visit.page.screenshot(path=image)
            yield image


def main() -> None:
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        server = stack.enter_context(portal.wrap_async_context_manager(fake_openai(answer)))
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="mp-", dir=TEMPORARY)))
        stack.callback(shut_down, folder)
        environment = {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "none",
            "OPENAI_MODEL": "model",
            "MILLPOND_BOTS__POND__TOOLS": "time,list_files,write_file",
            "MILLPOND_BOTS__POND__MODEL__CONTEXT_WINDOW_TOKENS": "8192",
        }
        pond = Pond(folder, environment)
        stack.callback(pond.stop)
        conversations(pond)
        browser = launch(stack.enter_context(sync_playwright()))
        stack.callback(browser.close)
        for image in shoot(browser, pond):
            sys.stdout.write(f"{image.relative_to(ROOT)}: {image.stat().st_size // 1024} kB\n")


if __name__ == "__main__":
    main()
