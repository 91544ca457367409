"""What is older than the configuration keeps it goes, once an hour; by default nothing does that did not before."""

import datetime as dt
from pathlib import Path

from daemon.archive import Archive
from daemon.archive.local_storage import LocalStorage
from daemon.clock import stamp
from daemon.config import RetentionConfig
from daemon.data import DataCheck
from daemon.data.retention import retain
from daemon.testing import ManualClock
from daemon.transcripts import Transcripts
from tests.conftest import Lab
from tests.datalab import contents, filled

ANN, DAY_MS = "web:ann", 86_400_000


async def test_by_default_nothing_goes(lab: Lab, tmp_path: Path, clock: ManualClock) -> None:
    await filled(lab)
    before = await contents(lab.bus)

    count = await retain(lab.bus, Archive(lab.bus, tmp_path), RetentionConfig(), clock)

    after = await contents(lab.bus)
    assert count == 0
    assert after.pop("retaining") == b"1"
    assert after == before


async def test_dead_letters_parts_and_accounts_go_when_they_are_too_old_once_an_hour(
    lab: Lab, tmp_path: Path, clock: ManualClock
) -> None:
    keys, now = lab.bus.keys, await lab.server_ms()
    for days in (9, 3):
        await lab.bus.call("XADD", keys.dead(0), now - days * DAY_MS, "session", ANN, "id", "x", "reason", "r")
        await lab.bus.call("XADD", keys.unknown(0), now - days * DAY_MS, "session", ANN)
        day = (clock.now() - dt.timedelta(days=days)).date().isoformat()
        await lab.bus.call("HSET", keys.usage(day, "bot"), "pond calls", 1)
        await lab.bus.call("PEXPIRE", keys.usage(day, "bot"), 60_000)
    await lab.bus.call("PEXPIRE", keys.unknown(0), 60_000)
    config = RetentionConfig(dead_days=5, unknown_days=5, usage_days=5)

    first = await retain(lab.bus, Archive(lab.bus, tmp_path), config, clock)
    again = await retain(lab.bus, Archive(lab.bus, tmp_path), config, clock)

    assert (first, again) == (3, 0)
    assert [await lab.bus.call("XLEN", key) for key in (keys.dead(0), keys.unknown(0))] == [1, 1]
    assert len([name for name in await contents(lab.bus) if name.startswith("usage:")]) == 1


async def test_old_archived_messages_go_and_the_session_begins_behind_them(
    lab: Lab, tmp_path: Path, clock: ManualClock
) -> None:
    archive = Archive(lab.bus, tmp_path, storage=LocalStorage(tmp_path, "transcripts"), clock=clock)
    keys = lab.bus.keys
    for number in range(5):
        await lab.publish(f"m{number}")
        await lab.commit(await lab.claim(), go_on=False)
    raws = await lab.bus.call("LRANGE", keys.log(ANN), 0, -1)
    for first in range(0, 8, 2):
        await archive.write(ANN, first, raws[first : first + 2])
        clock.advance(86_400.0)
    await lab.bus.call("HSET", keys.session(ANN), "cursor", 8, "start", 8, "tokens", 6, "tokens_start", 6)
    await archive.trim(ANN, 8)
    await lab.bus.call("ZADD", keys.sessions, 1, ANN)

    before = stamp(clock.now() - dt.timedelta(days=2.5))
    count = await archive.expire(ANN, before=before)
    again = await archive.expire(ANN, before=before)

    assert (count, again) == (2, 0)
    assert [segment.first for segment in await archive.segments(ANN)] == [4, 6]
    assert await Transcripts(lab.bus, archive).read(ANN, 0, 10) == raws[4:]
    assert (await DataCheck(lab.bus, archive, deep=True, waits_s=0.0).run()).flaws == ()
    # The catalogue before stays until it is old, as ever.
    assert all("/catalogue_" in name for name in (await archive.orphans.look(delete=False)).orphans)


async def test_what_memory_has_not_taken_in_stays_however_old_it_is(lab: Lab, tmp_path: Path, clock: ManualClock):
    archive = Archive(lab.bus, tmp_path, storage=LocalStorage(tmp_path, "transcripts"), clock=clock)
    for number in range(2):
        await lab.publish(f"m{number}")
        await lab.commit(await lab.claim(), go_on=False)
    raws = await lab.bus.call("LRANGE", lab.bus.keys.log(ANN), 0, -1)
    await archive.write(ANN, 0, raws[:2])

    count = await archive.expire(ANN, before="9999")

    assert count == 0
    assert len(await archive.segments(ANN)) == 1
