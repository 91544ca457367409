"""Forgetting while the archive cannot be reached: nothing is called forgotten before the archived part is deleted."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from daemon.forget import ForgetOrder, matches_of, report_text
from daemon.forget.forget_job import ForgetJob
from daemon.jobs import JobRunner
from daemon.process import Process
from tests.conftest import Lab
from tests.forgetlab import ANN, CANARY, SCOPE, Pond, pond
from tests.integration.test_commands import notices
from tests.integration.test_forgetting_whole import PERSON, SESSION, WHOLE
from tests.limits import HANG_S
from tests.tables import each_row


@pytest.fixture
def world(process: Process, lab: Lab, tmp_path: Path) -> Pond:
    return Pond(pond(process, tmp_path / "work"), lab)


@contextmanager
def archive_away(world: Pond, *, mount_is_lost: bool = False) -> Iterator[None]:
    """A file is where the archive's folder was, so that every call fails; or the folder is empty."""
    folder = world.process.data_dir / "transcripts"
    away = folder.with_name("transcripts-away")
    folder.rename(away)
    folder.mkdir() if mount_is_lost else folder.write_bytes(b"")
    yield
    folder.rmdir() if mount_is_lost else folder.unlink()
    away.rename(folder)


@pytest.mark.parametrize("order", [None, SESSION, WHOLE, PERSON], ids=["text", "session", "memory", "person"])
@pytest.mark.parametrize("mount_is_lost", [False, True], ids=["fails", "empty"])
async def test_the_archived_part_waits_for_the_archive_and_is_deleted_then(
    world: Pond, order: ForgetOrder | None, mount_is_lost: bool
) -> None:
    await world.plant()
    job_id = await world.order(order=order)

    with archive_away(world, mount_is_lost=mount_is_lost), capture_logs() as logs:
        first = await world.done(job_id)
        again = await Pond(replace(world.process, name="restarted"), world.lab).done(job_id)
        left = [place for place in await world.places() if "ann" in place]
        secret = await world.bus.call("HEXISTS", world.bus.keys.job(job_id), "secret")
    done = await world.done(job_id)

    assert (first.status, first.shown_status, again.shown_status) == ("waiting", "partly", "partly")
    assert "archive's storage is currently unavailable" in first.reason
    assert str(world.process.data_dir) not in first.reason
    assert any("transcripts" in log.get("reason", "") for log in logs if log["event"] == "forget.archive_unavailable")
    assert any("transcripts-away" in place for place in left)
    assert secret == (order is None)
    assert (done.status, done.shown_status, done.partly) == ("done", "done", False)
    assert done.report["removed"]["archive"] > 0
    assert done.report["failed"] == []
    assert [place for place in await world.places() if "transcripts" in place and "ann" in place] == []
    if order is None:
        told = [text for kind, _, text in await notices(world.lab) if kind == "aside"]
        assert [text.partition(".")[0] for text in told[-2:]] == [
            "The text has been deleted everywhere except in the message archive, which is currently unavailable",
            "The text was forgotten",
        ]
        assert sum("When the archive is available again" in text for text in told) == 1


async def test_a_search_says_that_the_archive_was_not_searched(world: Pond) -> None:
    await world.plant()
    order = ForgetOrder(name=SCOPE, scopes=(SCOPE,), chat=ANN)
    with archive_away(world):
        found = await matches_of(world.stores, order, CANARY)
    later = await matches_of(world.stores, order, CANARY)

    assert (found.waits, later.waits) == (True, False)
    assert "archive" not in found.counts
    assert later.counts["archive"] > 0


async def test_a_job_that_waits_goes_on_when_the_archive_is_back(world: Pond, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is taken again by a worker, without a person's help."""
    monkeypatch.setattr("daemon.forget.forget_job.ARCHIVE_AGAIN_S", 0.0)
    await world.plant()
    job_id = await world.order()
    runner = JobRunner(world.process, {"forget": ForgetJob(world.stores)})
    with archive_away(world):
        assert (await world.done(job_id)).partly
    async with asyncio.timeout(HANG_S):
        while (record := await runner.jobs.find(job_id)) and not record.has_ended:
            for due in await runner.jobs.due():
                await runner.run_one(due)
    assert record is not None
    assert record.status == "done"


@each_row("language, word", [("en", "To see the reasons"), ("zh", "管理员可以用")])
def test_a_chat_is_not_told_technical_reasons(language: str, word: str) -> None:
    reason = "s3://bucket/key cannot be used: InvalidAccessKeyId"
    report = {"removed": {"messages": 1}, "failed": [reason, "another"], "backups": []}
    said = report_text(report, msgspec.convert(language, type=str))  # type: ignore[arg-type]
    shown = report_text(report, "en", for_operator=True)

    assert reason not in said
    assert word in said
    assert "2" in said
    assert reason in shown
