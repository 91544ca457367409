"""What a person wants to be remembered, and asks for when it has long been consolidated; through the API."""

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.limits import HANG_S
from tests.processes import Daemon, answered

SMALL = {
    "MILLPOND_BOTS__POND__MODEL__CONTEXT_WINDOW_TOKENS": "4096",
    "MILLPOND_BOTS__POND__TOOLS": "time",
}
"""Environment of a Millpond whose model has the smallest window, which all tools would fill."""
STATED, ASKED, WANTED, PLANTED = (
    "记住我的偏好：我喜欢用Python，不用JavaScript", "我刚才说喜欢什么语言？", "Python", "我喜欢用Python",
)  # fmt: skip
CHATTER = "今天池塘的水位比昨天高了一点，北边的水泵晚上又有奇怪的声音，大家都觉得应该等到秋天再说。" * 4
TURNS_MIN, TURNS_MAX = 20, 80  # between what is stated and the question; until it has been consolidated


@dataclass(kw_only=True)
class Told:
    stands: int  # in how many files MEMORY.md
    recalled: bool
    turns: int  # between saying it and asking for it


def remembered_later(folder: Path, daemon: Daemon) -> Told:
    """Say it, talk until it has been consolidated, look for it with grep, ask for it."""
    _say(daemon, STATED)
    turns = 0
    while turns < TURNS_MIN or (turns < TURNS_MAX and _cursor(daemon) < 2):
        _say(daemon, f"{turns}：{CHATTER}")
        turns += 1
    if _cursor(daemon) < 2:
        raise RuntimeError(f"nothing was consolidated in {turns} turns")
    memory = folder / "bots" / "pond" / "memory"
    found = subprocess.run(
        ["grep", "-rlF", PLANTED, str(memory), "--include=MEMORY.md"], capture_output=True, text=True, check=False
    )
    return Told(stands=len(found.stdout.splitlines()), recalled=WANTED in _say(daemon, ASKED), turns=turns)


def _say(daemon: Daemon, text: str) -> str:
    message_id = daemon.post("told", text)["id"]
    until = time.monotonic() + HANG_S
    while time.monotonic() < until:
        messages = daemon.messages("web:told")
        if message_id in answered(messages):
            return str(messages[-1]["content"])
        time.sleep(0.02)
    raise RuntimeError(f"no answer within {HANG_S:g} s")


def _cursor(daemon: Daemon) -> int:
    [session] = [each for each in daemon.get("/api/sessions")["sessions"] if each["session"] == "web:told"]
    return int(session["cursor"])
