"""Notes of usage are kept while Redis does not take them, and written once after that."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from daemon.bus import Bus, Part, Script
from daemon.config import EachConfig, RunConfig
from daemon.errors import BusUnavailable
from daemon.process import Process
from daemon.run import run_services
from daemon.testing import FailingBus
from daemon.usage import Allowance, UnsentUsage, UsageBook, UsageJournal, UsageNote, unsent_usage
from tests.conftest import all_keys
from tests.integration.test_usage import ANN, DAY, used
from tests.limits import HANG_S

pytestmark = pytest.mark.anyio

NEXT_DAY = "2026-11-21"


@pytest.fixture(autouse=True)
def _retries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unsent_usage, "RETRY_S", 0.001)


class AwayBus(FailingBus):
    """Gives no answer while it is ``away``; with ``carried_out`` the server does what it is told all the same."""

    def __init__(self, bus: Bus, *, carried_out: bool = False) -> None:
        super().__init__(bus, at=0)
        self.away, self.carries_out, self.attempts = True, carried_out, 0

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Part]) -> Any:
        self.attempts += 1
        if self.carries_out or not self.away:
            answer = await super().run(script, keys, args)
        if self.away:
            raise BusUnavailable("away")
        return answer


def a_ledger(bus: Bus, folder: Path, process: str = "one") -> UnsentUsage:
    return UnsentUsage(bus, UsageJournal(folder / "usage", process))


def a_note(name: str, *, day: str = DAY) -> UsageNote:
    return UsageNote(name=name, user=ANN, day=day, used=used())


async def until(reached: Callable[[], bool]) -> None:
    with anyio.fail_after(HANG_S):
        while not reached():  # noqa: ASYNC110 - the ledger tells nobody
            await anyio.sleep(0.001)


async def tokens_in(bus: Bus, day: str = DAY) -> int:
    return sum(amount.tokens_in for amount in (await UsageBook(bus).read([day], by="bot")).values())


@pytest.mark.parametrize("carried_out", [False, True])
async def test_notes_survive_an_outage(bus: Bus, carried_out: bool, tmp_path: Path) -> None:
    away = AwayBus(bus, carried_out=carried_out)
    notes = a_ledger(away, tmp_path)
    with capture_logs() as logs:
        async with anyio.create_task_group() as tg:
            tg.start_soon(notes.run)
            await notes.note(a_note("a"))
            await notes.note(a_note("b"))
            assert len(notes.kept) == 2
            away.away = False
            await until(lambda: not notes.kept)
            tg.cancel_scope.cancel()

    assert await tokens_in(bus) == 200
    assert {log["event"] for log in logs} == {"usage.kept"}


@pytest.mark.parametrize("carried_out", [False, True])
async def test_notes_that_redis_has_not_taken_are_written_once_before_limits_are_held_against_accounts(
    bus: Bus, carried_out: bool, tmp_path: Path
) -> None:
    away = AwayBus(bus, carried_out=carried_out)
    notes = a_ledger(away, tmp_path)
    await notes.note(a_note("a"))
    await notes.note(a_note("b"))
    limits = Allowance(tokens=EachConfig(person=220), nano=EachConfig(), currency="")
    with pytest.raises(BusUnavailable):
        await notes.reserve(ANN, DAY, limits)

    away.away = False
    refusal = await notes.reserve(ANN, DAY, limits)

    assert (len(notes.kept), await tokens_in(bus)) == (0, 200)
    assert refusal is not None and refusal.used_up, "of 220 tokens"


async def test_notes_are_limited_in_number_and_age(bus: Bus, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(unsent_usage, "KEPT_MAX", 2)
    away = AwayBus(bus)
    notes = a_ledger(away, tmp_path)
    with capture_logs() as logs:
        for name in "abc":
            await notes.note(a_note(name))
        assert [note.name for note in notes.kept] == ["b", "c"]
        monkeypatch.setattr(unsent_usage, "LATE_S", -1.0)
        away.away = False
        with anyio.fail_after(HANG_S):
            await notes.written()

    assert [log["event"] for log in logs if log["event"] != "usage.kept"] == ["usage.lost"] * 3
    assert await all_keys(bus) == [bus.keys.meta.encode()]


async def test_a_refused_note_does_not_block_the_others(bus: Bus, tmp_path: Path) -> None:
    notes, key = a_ledger(bus, tmp_path), bus.keys.usage_noted(DAY)
    await bus.call("SET", key, "no hash", "EX", 60)
    await notes.note(a_note("a"))
    away = AwayBus(bus)
    notes._book = UsageBook(away)
    await notes.note(a_note("b", day=NEXT_DAY))
    away.away = False
    async with anyio.create_task_group() as tg:
        tg.start_soon(notes.run)
        await until(lambda: len(notes.kept) == 1)
        assert await tokens_in(bus, NEXT_DAY) == 100
        await bus.call("DEL", key)
        await until(lambda: not notes.kept)
        tg.cancel_scope.cancel()

    assert await tokens_in(bus) == 100


def ending_after_a_note(process: Process, bus: AwayBus, *, grace_s: float, stops: bool = True) -> tuple[Process, Any]:
    """A process with a service that notes something and ends, or also stops the process."""
    config = msgspec.structs.replace(process.config, run=RunConfig(grace_s=grace_s))
    process = replace(process, config=config, bus=bus, stopping=anyio.Event())

    async def work(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        task_status.started()
        await process.ledger.note(a_note("a"))
        if stops:
            process.stopping.set()

    return process, work


async def test_a_stop_writes_the_notes_within_the_grace_time(process: Process, bus: Bus) -> None:
    away = AwayBus(bus)
    process, work = ending_after_a_note(process, away, grace_s=HANG_S)

    async with anyio.create_task_group() as tg:

        async def run() -> None:
            with anyio.fail_after(HANG_S):
                await run_services(process, [work], signals=False)

        tg.start_soon(run)
        await until(lambda: away.attempts > 2)
        away.away = False

    assert await tokens_in(bus) == 100


@pytest.mark.parametrize(
    ("stops", "saves", "lost"), [(False, True, []), (True, True, []), (True, False, ["usage.lost"])]
)
async def test_a_stop_without_redis_reports_the_notes_that_are_lost(
    process: Process, bus: Bus, stops: bool, saves: bool, lost: list[str]
) -> None:
    process, work = ending_after_a_note(process, AwayBus(bus), grace_s=0.01, stops=stops)
    if not saves:
        (process.data_dir / "usage").touch()

    with capture_logs() as logs, anyio.fail_after(HANG_S):
        await run_services(process, [work], signals=False)

    events = [log["event"] for log in logs if log["event"] not in ("usage.kept", "usage.unsaved")]
    assert events == ["process.started", *lost, "process.stopped"]


async def test_notes_of_a_process_that_was_killed_are_written_once_by_the_next(bus: Bus, tmp_path: Path) -> None:
    folder = tmp_path / "usage"
    killed = a_ledger(AwayBus(bus, carried_out=True), tmp_path, "killed")
    for name in "ab":
        await killed.note(a_note(name))
    [file] = folder.iterdir()
    file.write_bytes(file.read_bytes() + b'{"name": "cut o')
    assert (file.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    await bus.call("DEL", bus.keys.usage(DAY, "bot"))
    await bus.call("HDEL", bus.keys.usage_noted(DAY), "b")

    following = a_ledger(bus, tmp_path, "next")
    async with anyio.create_task_group() as tg:
        tg.start_soon(following.run)
        await until(lambda: not list(folder.iterdir()))
        tg.cancel_scope.cancel()

    assert await tokens_in(bus) == 100, "of b alone: a was noted before"


async def test_what_is_no_file_in_the_folder_of_notes_is_passed_over(bus: Bus, tmp_path: Path) -> None:
    await a_ledger(AwayBus(bus), tmp_path, "killed").note(a_note("a"))
    for number, make in enumerate((os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero"))):
        make(tmp_path / "usage" / f"odd-{number}.jsonl")

    assert [note.name for note in UsageJournal(tmp_path / "usage", "next").adopt()] == [a_note("a").name]


async def test_kept_notes_of_more_than_a_day_ago_are_not_written(bus: Bus, tmp_path: Path) -> None:
    await a_ledger(AwayBus(bus), tmp_path, "killed").note(a_note("a"))
    [file] = (tmp_path / "usage").iterdir()
    os.utime(file, (0, 0))

    assert UsageJournal(tmp_path / "usage", "next").adopt() == []
