"""``make demo``: a pond whose processes are killed with ``kill -9`` while they answer, in less than a minute.

    python -m tests.demo               what happens, as it happens
    python -m tests.demo --record      the same, kept as docs/demo/kill-9.cast and docs/images/kill-9.svg

Nobody writes what it shows by hand: the recording is the run. It ends with 1 when a message was lost or answered twice.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from tests.processes import Daemon, answered, environment_of, server_pid, shut_down, start

ROOT = Path(__file__).parents[1]
CAST, PICTURE = ROOT / "docs" / "demo" / "kill-9.cast", ROOT / "docs" / "images" / "kill-9.svg"

CHATS = ("ann", "bob", "cem", "dou")
EACH = 4  # messages of a chat; they are answered one after the other
COUNT = 20  # the offline model counts aloud, ten numbers a second: an answer takes two seconds, and a kill meets it
MID_TURN_S = 0.5
LINE = "\n"
LIMIT_S = 60.0
COLUMNS = 90

# Shorter than the 15 s of the default, so that nobody has to wait for what a dead worker held.
QUICK = {"MILLPOND_QUEUE__LEASE_S": "2", "MILLPOND_QUEUE__RENEW_S": "0.5", "MILLPOND_QUEUE__WAKEUP_S": "0.5"}

RED, GREEN, BLUE, GREY = "31", "32", "34", "90"
COLOURS = {RED: "#f47067", GREEN: "#8ddb8c", BLUE: "#6cb6ff", GREY: "#909dab", "": "#d1d7e0"}


class Stage:
    def __init__(self) -> None:
        self._began = time.monotonic()
        self.lines: list[tuple[float, str, str]] = []
        """Seconds since the beginning, colour, text."""

    def say(self, text: str = "", colour: str = "") -> None:
        at = time.monotonic() - self._began
        line = f"{at:5.1f} s  {text}" if text else ""
        self.lines.append((at, colour, line))
        is_terminal = sys.stdout.isatty()
        print(f"\x1b[{colour}m{line}\x1b[0m" if colour and is_terminal else line, flush=True)


class Pond:
    def __init__(self, folder: Path, stage: Stage) -> None:
        self._folder = folder
        self._stage = stage
        self._running: dict[str, Daemon] = {}
        self.said: dict[str, list[str]] = {chat: [] for chat in CHATS}

    @property
    def web(self) -> Daemon:
        return self._running["web"]

    def start(self, name: str) -> None:
        role = name.partition(" ")[0]
        self._running[name] = start(self._folder, "--role", role, web=role == "web", **QUICK)
        self._stage.say(f"started {name} (process {self._running[name].process.pid})", BLUE)

    def kill(self, name: str) -> None:
        daemon = self._running.pop(name)
        self._stage.say(f"kill -9 {name} (process {daemon.process.pid})", RED)
        daemon.kill()

    def kill_server(self) -> None:
        number = server_pid(self._folder)
        self._stage.say(f"kill -9 the database server (process {number})", RED)
        os.kill(number, signal.SIGKILL)

    def say(self) -> None:
        """Hand in every message that there is; one that was accepted before is the same message."""
        for number in range(EACH):
            for chat in CHATS:
                accepted = self.web.post(chat, f"count to {COUNT}", id=f"{chat}-{number + 1}")
                if accepted["id"] not in self.said[chat]:
                    self.said[chat].append(accepted["id"])

    def answers(self) -> Mapping[str, Sequence[str]]:
        """Of each chat, the messages that turns have answered; nothing while the server is away."""
        until = time.monotonic() + LIMIT_S
        while True:
            try:
                return {chat: answered(self.web.messages(f"web:{chat}")) for chat in CHATS}
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def show_mid_turn(self) -> None:
        """What is being written just now, read as anybody can with redis-cli."""
        keys = [f"mp:{{0}}:live:web:{chat}" for chat in CHATS]
        command = [sys.executable, "-m", "millpond", "redis-cli", "MGET", *keys]
        environment, until = environment_of(self._folder, QUICK), time.monotonic() + LIMIT_S
        found: list[str] = []
        while not found and time.monotonic() < until:
            time.sleep(MID_TURN_S)
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_S
            )
            found = [line for line in done.stdout.splitlines() if line.startswith("{")]
        for line in found:
            live = json.loads(line)
            self._stage.say(f"  being written to {live['session']}: {live['text'].rpartition(LINE)[2]}…", GREY)

    def wait(self, count: int) -> Mapping[str, Sequence[str]]:
        """Until so many messages are answered, or the time is over."""
        until, before = time.monotonic() + LIMIT_S, -1
        while True:
            found = self.answers()
            now = sum(map(len, found.values()))
            if now != before:
                self._stage.say(f"  answered: {now} of {EACH * len(CHATS)}", GREY)
                before = now
            if now >= count or time.monotonic() > until:
                return found
            time.sleep(0.5)

    def end(self) -> None:
        for daemon in self._running.values():
            daemon.kill()
        shut_down(self._folder)


def play(pond: Pond, stage: Stage) -> bool:
    """The whole run; whether every message was answered once, in order."""
    stage.say("A pond with one worker. Leases of 2 s instead of 15, so that it does not take long.")
    pond.start("web")
    pond.start("agent 1")
    pond.say()
    stage.say(f"{len(CHATS)} people say {EACH} things each: {EACH * len(CHATS)} messages are accepted")
    pond.show_mid_turn()
    pond.kill("agent 1")
    pond.start("agent 2")
    pond.wait(len(CHATS))
    pond.show_mid_turn()
    pond.kill_server()
    pond.show_mid_turn()
    stage.say("now everything at once")
    pond.kill("agent 2")
    pond.kill("web")
    pond.kill_server()
    pond.start("web")
    pond.start("agent 3")
    pond.say()
    stage.say("everybody says the same again, with the same ids: they are the same messages")
    found = pond.wait(EACH * len(CHATS))
    stage.say()
    for chat, ids in found.items():
        stage.say(f"{chat}: said {' '.join(pond.said[chat])}; answered {' '.join(ids) or 'nothing'}")
    fine, outcome = judged(pond.said, found)
    stage.say(outcome, GREEN if fine else RED)
    return fine


def judged(said: Mapping[str, Sequence[str]], found: Mapping[str, Sequence[str]]) -> tuple[bool, str]:
    """Whether each chat's messages were answered once each and in order, and a line that says so."""
    total = sum(map(len, said.values()))
    lost = sum(len(set(ids) - set(found[chat])) for chat, ids in said.items())
    twice = sum(len(ids) - len(set(ids)) for ids in found.values())
    fine = all(list(found[chat]) == list(ids) for chat, ids in said.items())
    return fine, f"{total} accepted, {lost} lost, {twice} answered twice, {'' if fine else 'NOT '}in order"


def cast_of(lines: Sequence[tuple[float, str, str]]) -> str:
    """The recording as asciinema plays it (asciicast, version 2)."""
    head = {"version": 2, "width": COLUMNS, "height": len(lines) + 2, "title": "kill -9"}
    rows = [json.dumps(head)]
    for at, colour, line in lines:
        shown = f"\x1b[{colour}m{line}\x1b[0m" if colour else line
        rows.append(json.dumps([round(at, 3), "o", f"{shown}\r\n"]))
    return "\n".join(rows) + "\n"


def picture_of(lines: Sequence[tuple[float, str, str]]) -> str:
    """The recording as a picture: its last screen."""
    height, width = 20 * len(lines) + 30, 9 * COLUMNS
    rows = [
        f'<text x="16" y="{20 * number + 34}" fill="{COLOURS[colour]}" xml:space="preserve">{escape(line)}</text>'
        for number, (_, colour, line) in enumerate(lines)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">',
            f'<rect width="{width}" height="{height}" rx="8" fill="#151b23"/>',
            '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">',
            *rows,
            "</g>",
            "</svg>\n",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="keep what was shown under docs/")
    options = parser.parse_args()
    stage = Stage()
    with tempfile.TemporaryDirectory(prefix="mp-", dir="/tmp") as folder:
        pond = Pond(Path(folder), stage)
        try:
            fine = play(pond, stage)
        finally:
            pond.end()
    if options.record:
        CAST.write_text(cast_of(stage.lines), encoding="utf-8")
        PICTURE.write_text(picture_of(stage.lines), encoding="utf-8")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
