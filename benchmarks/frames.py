"""The work of a browser between two frames, while something is scrolled."""

import json
import statistics
from typing import Any

from playwright.sync_api import Browser, Page

from benchmarks.result import Result

FRAME_LIMIT_MS = 50.0


def slowest_task(page: Page, browser: Browser, script: str, *, name: str) -> tuple[Any, Result]:
    """The value of ``script``, and its slowest task.

    By the CPU time of each task in the browser: other programs of the machine do not count.
    """
    browser.start_tracing(page=page, categories=["toplevel", "disabled-by-default-devtools.timeline"])
    found = page.evaluate(script)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    names = {(each["pid"], each["tid"]): each["args"]["name"] for each in events if each["name"] == "thread_name"}
    tasks = [
        each["tdur"] / 1_000
        for each in events
        if each.get("tdur") and names.get((each["pid"], each["tid"])) == "CrRendererMain"
    ]
    result = Result(
        name=f"scrolling through {name}, the slowest task of a frame",
        unit="ms of CPU",
        values=(max(tasks),),
        floor=statistics.median(tasks),
        floor_is="the median task",
        limit=FRAME_LIMIT_MS,
    )
    return found, result
