"""Texts being written of which nobody knows whether they are shown: where it can be asked, none stays behind."""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from channels.base import Part
from channels.live_display import draft_message as drafts
from daemon.config import QueueConfig
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.testing import FailingBus
from tests.conftest import RecordingBus
from tests.cut_short import DyingBus, StoppingBus
from tests.fakes.sink import Cut, Fault, Hang, Post, Refuse, Sink, sink
from tests.integration.test_outbox import ANN, NAME, marks, pushing, replica, unknown, until_empty
from tests.integration.test_outbox_cut_short import a_moment, suppress_death
from tests.integration.test_showing import TEXT, commit, end_turn, leads, write
from tests.integration.test_showing_cut_short import EXPECTED, Platform, at_each_await, end, hasty, prepare, talk
from tests.limits import HANG_S, until

QUEUE = QueueConfig(lease_s=60.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.001, backoff_max_s=0.02)


__all__ = ["hasty"]


def looking(process: Process, platform: Sink, **more: Any) -> Process:
    """A replica of the process with a push channel whose platform can be asked."""
    return pushing(process, platform, looks=True, typing=False, **more)


async def looked(platform: Sink, count: int = 1) -> None:
    """Wait until it was looked for a text that is being written."""
    await until(lambda: sum(act["preview"] for act in platform.acts_of("find")) >= count)


@pytest.mark.parametrize("fault", [Cut(), Hang()])
async def test_a_text_whose_sending_was_cut_is_found_and_becomes_the_reply(process: Process, fault: Fault) -> None:
    async with (
        sink([fault]) as platform,
        replica(looking(process, platform, send_timeout_s=1.0 if fault == Hang() else 20.0)),
    ):
        await leads(process)
        await write(process.bus, TEXT)
        await until(lambda: platform.shown(ANN) == [TEXT])
        await write(process.bus, f"{TEXT} and on", sequence=1)
        await until(lambda: platform.shown(ANN) == [f"{TEXT} and on"])
        reply = await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["whole"]
        assert len(platform.delivered) == 1
    assert await marks(process.bus, reply) == {"0": "sent m1", "preview": "shown 1"}
    assert await unknown(process.bus) == []


async def test_a_text_that_never_arrived_leaves_the_reply_to_be_sent(process: Process) -> None:
    async with sink([Cut(delivered=False)]) as platform, replica(looking(process, platform)):
        await leads(process)
        await write(process.bus, TEXT)
        await looked(platform)
        await write(process.bus, f"{TEXT} and on", sequence=1)
        reply = await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.texts(ANN) == ["whole"], "it may come yet: no other was shown"
    assert await marks(process.bus, reply) == {"0": "sent m1", "preview": "gone 1"}
    assert await unknown(process.bus) == []


async def test_a_text_that_comes_after_it_was_looked_for_becomes_the_reply(process: Process) -> None:
    async with sink([Cut(delivered=False)]) as platform, replica(looking(process, platform)):
        await leads(process)
        await write(process.bus, TEXT)
        await looked(platform)
        platform.messages["late"] = {"session": ANN, "reply": f"{ANN}#0", "part": 0, "text": TEXT, "preview": True}
        await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["whole"]
        assert platform.delivered == []
    assert await unknown(process.bus) == []


@pytest.mark.parametrize("writes_on", [False, True])
@pytest.mark.parametrize("arrived", [False, True])
async def test_what_a_predecessor_was_sending_when_he_died_is_looked_for(
    process: Process, arrived: bool, writes_on: bool
) -> None:
    sent = process.bus.keys.sent(ANN, f"{ANN}#0")
    await process.bus.call("HSET", sent, "preview", "sending 1 dead-preview0")
    async with sink() as platform, replica(looking(process, platform)):
        if arrived:
            platform.messages["old"] = {"session": ANN, "reply": f"{ANN}#0", "part": 0, "text": "The", "preview": True}
        await leads(process)
        if writes_on:
            await write(process.bus, TEXT)
            await looked(platform)
            await until(lambda: not arrived or platform.shown(ANN) == [TEXT])
        reply = await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["whole"]
        assert len(platform.delivered) == (not arrived)
    assert (await marks(process.bus, reply))["preview"] == ("shown 1" if arrived else "gone 1")
    assert await unknown(process.bus) == []


@pytest.mark.parametrize("delivered", [False, True])
async def test_nothing_stays_of_a_turn_that_ends_without_a_reply(
    process: Process, monkeypatch: pytest.MonkeyPatch, delivered: bool
) -> None:
    monkeypatch.setattr(drafts, "ORPHAN_S", 0.05)
    async with sink([Cut(delivered=delivered)]) as platform, replica(looking(process, platform)):
        await leads(process)
        await write(process.bus, TEXT)
        await platform.asked(1)
        await end_turn(process.bus)
        with anyio.fail_after(HANG_S):
            while (await marks(process.bus, f"{ANN}#0")).get("preview") != "gone 1":  # noqa: ASYNC110 - no event tells of it
                await anyio.sleep(0.01)

        assert platform.shown(ANN) == []
    assert await unknown(process.bus) == []


async def test_what_was_said_aside_meanwhile_stands_above_the_reply(process: Process) -> None:
    # Its first look is refused, until the words aside are there.
    decide = refusing_to_look(1, Refuse(429, 0.1))
    async with sink([Cut()], others=decide) as platform, replica(looking(process, platform)):
        await leads(process)
        await write(process.bus, TEXT)
        await until(lambda: platform.shown(ANN) == [TEXT])
        await commit(process.bus, "aside", kind="aside-1")
        await until(lambda: "aside" in platform.shown(ANN))
        await anyio.sleep(0.15)  # time for a second look, which must not come
        await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["aside", "whole"]
    assert await unknown(process.bus) == []


def refusing_to_look(times: int, fault: Fault | None = None) -> Any:
    """A platform that cannot be asked so often."""
    fault = fault or Refuse(429, 0.05)
    asked: list[Post] = []

    def decide(post: Post) -> Fault | None:
        if post["kind"] != "find":
            return None
        asked.append(post)
        return fault if len(asked) <= times else None

    return decide


async def test_a_reply_waits_until_it_can_be_looked(process: Process) -> None:
    async with sink([Cut()], others=refusing_to_look(3)) as platform, replica(looking(process, platform)):
        await leads(process)
        await write(process.bus, TEXT)
        await until(lambda: platform.shown(ANN) == [TEXT])
        await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["whole"]
        assert len(platform.delivered) == 1


async def test_where_it_may_not_be_looked_a_text_is_listed(process: Process) -> None:
    never = refusing_to_look(1_000, Refuse(403))
    async with sink([Cut()], others=never) as platform, replica(looking(process, platform)):
        await leads(process)
        await write(process.bus, TEXT)
        await until(lambda: platform.shown(ANN) == [TEXT])
        reply = await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == [TEXT, "whole"]
    assert await unknown(process.bus) == [(reply, "0", "preview")]


async def test_every_script_arriving_again_at_the_end_changes_nothing(process: Process) -> None:
    recording = RecordingBus(process.bus)
    async with sink([Cut()]) as platform, replica(looking(replace(process, bus=recording), platform)):
        await leads(process)
        await write(process.bus, TEXT)
        await until(lambda: bool(platform.acts_of("edit")) or bool(platform.acts_of("find")))
        await commit(process.bus, "whole")
        await until_empty(process.bus)
    keys = process.bus.keys
    before = await process.bus.call("HGETALL", keys.sent(ANN, f"{ANN}#0"))
    nonce = next(args[0] for script, _, args in recording.scripts if script.name == "lead.lua")
    await process.bus.call("HSET", keys.leader(0, NAME), "nonce", nonce)

    steps = set()
    for call in list(recording.scripts):
        if call[0].name in ("show.lua", "marks.lua"):
            steps.add(call[2][4] if call[0].name == "show.lua" else call[2][6])
            await recording.arrive(*call)

    assert steps & {"found", "seen"}
    assert await process.bus.call("HGETALL", keys.sent(ANN, f"{ANN}#0")) == before
    assert await unknown(process.bus) == []


@dataclass
class Remembering(Platform):
    names: dict[str, tuple[str, int, bool]] = field(default_factory=dict[str, tuple[str, int, bool]])
    """Reply, number and whether it is still being written, by id."""

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        await a_moment()
        self.sends += 1
        platform_id = f"m{self.sends}"
        self._show(platform_id, part)
        await a_moment()
        return platform_id

    async def edit(self, chat: SessionKey, platform_id: str, part: Part, *, timeout_s: float) -> None:
        if platform_id in self.messages:
            self.names[platform_id] = (part.reply, part.number, part.preview)
        await super().edit(chat, platform_id, part, timeout_s=timeout_s)

    async def find(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        await a_moment()
        name = (part.reply, part.number, part.preview)
        found = [platform_id for platform_id in self.messages if self.names[platform_id] == name]
        await a_moment()
        return found[0] if found else ""

    def _show(self, platform_id: str, part: Part) -> None:
        self.messages[platform_id] = part.text
        self.names[platform_id] = (part.reply, part.number, part.preview)
        self._tell()


async def see_all_is_there_once(process: Process, platform: Platform) -> Counter[str]:
    """The chat shows all in order and once, and nothing else; what is listed."""
    assert list(platform.messages.values()) == EXPECTED
    actions = Counter(action for _, _, action in await unknown(process.bus))
    assert set(actions) <= {"resent"}
    return actions


@pytest.mark.parametrize("carried_out", [False, True])
@pytest.mark.parametrize("kind", [StoppingBus, DyingBus])
async def test_a_text_cut_short_at_any_call_to_redis_leaves_nothing_behind(
    process: Process, kind: type[FailingBus], carried_out: bool
) -> None:
    counting = FailingBus(process.bus, at=0)
    await prepare(process)
    await talk(process, Remembering(struck=lambda: False), counting)

    for at in range(1, counting.calls + 1):
        await prepare(process)
        with capture_logs(), anyio.CancelScope() as scope, suppress_death():
            cancel = scope if kind is StoppingBus else None
            bus = kind(process.bus, at=at, carried_out=carried_out, cancel=cancel)
            platform = Remembering(struck=lambda bus=bus, at=at: bus.calls >= at)
            await talk(process, platform, bus)
        await end(process, platform)
        await see_all_is_there_once(process, platform)


@pytest.mark.parametrize("kind", ["cancelled", "failing"])
async def test_a_text_cut_short_at_any_await_leaves_nothing_behind(process: Process, kind: str) -> None:
    await at_each_await(process, kind, Remembering, see_all_is_there_once)
