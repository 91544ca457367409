"""The outbox on a real server with a fake platform: order, exactly once, and what is known when nobody knows."""

import os
import signal
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import anyio.lowlevel
import httpx2
import msgspec
import pytest
from structlog.testing import capture_logs

from channels import leader_election, push
from channels import leader_election as lease
from channels.base import Channel, Rate
from channels.http_post import NOTHING_SENT
from channels.inbound import accept, make_inbound
from channels.leader_election import Lease, LeaseBalance, LeaseTerms
from channels.outbox import Outbox, leader_term, out_feed
from channels.outbox.delivery_state import DeliveryState, NextStep, Place, Step
from channels.push import serve
from channels.send_rate import TokenBucket
from channels.testing import TestingChannel, connect
from channels.web.service import serve as serve_web
from daemon import metrics
from daemon.bus import Bus, Listener, Script, open_bus, pipeline_connection
from daemon.config import Config, QueueConfig, RedisConfig, TestingConfig, WebConfig
from daemon.errors import LeaseLost, SendRefused, SendUnknown
from daemon.events import Reply
from daemon.overview import read_queues, read_unknown
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.testing import FailingBus, Gate, ScriptedModel
from tests import forked
from tests.api_token import header_of
from tests.conftest import RecordingBus, check_and_remove_keys
from tests.fakes.sink import Cut, Fault, Garbled, Hang, Post, Refuse, Sink, Slow, sink
from tests.limits import HANG_S, until
from tests.weblab import addresses_in, client_of
from workers.agent.service import serve as serve_agents

NAME = "support"
ANN, BOB = f"{NAME}:ann", f"{NAME}:bob"
QUEUE = QueueConfig(lease_s=60.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)


def pushing(process: Process, platform: Sink, **more: Any) -> Process:
    fields: dict[str, Any] = {"send_timeout_s": 20.0, **more}
    channel = TestingConfig(url=platform.url, **fields)
    config = Config(queue=process.config.queue, channels={NAME: channel})
    return replace(process, config=config, stopping=anyio.Event(), name=f"replica-{id(channel)}")


@asynccontextmanager
async def replica(process: Process) -> AsyncGenerator[anyio.abc.TaskGroup]:
    """The role ``channels`` for the length of the block, then stopped in order."""

    async def run(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await serve(process, task_status=task_status)

    async with anyio.create_task_group() as tg:
        await tg.start(run)
        yield tg
        process.stopping.set()


async def put(bus: Bus, *texts: str, session: str = ANN) -> list[str]:
    """Commit replies, as turns do; their ids."""
    made: list[str] = []
    for text in texts:
        turn = int(await bus.call("XLEN", bus.keys.out(0, NAME)))
        reply = Reply(id=f"{session}#{text}-{turn}", session=session, turn=turn, text=text, correlation=f"c-{text}")
        await bus.call("XADD", bus.keys.out(0, NAME), "*", "reply", msgspec.json.encode(reply))
        made.append(reply.id)
    return made


async def until_empty(bus: Bus) -> None:
    """Wait until every reply has left ``out``."""
    with anyio.fail_after(HANG_S):
        while await bus.call("XLEN", bus.keys.out(0, NAME)):  # noqa: ASYNC110 - the server sends no event for it
            await anyio.sleep(0.005)


async def unknown(bus: Bus) -> list[tuple[str, str, str]]:
    found = await bus.call("XRANGE", bus.keys.unknown(0), "-", "+")
    return [(fields[b"reply"].decode(), fields[b"part"].decode(), fields[b"action"].decode()) for _, fields in found]


async def marks(bus: Bus, reply: str) -> dict[str, str]:
    """The reply's parts as they are noted, without the random marks."""
    found = await bus.call("HGETALL", bus.keys.sent(reply.partition("#")[0], reply))
    return {part.decode(): " ".join(state.decode().split()[:2]) for part, state in found.items()}


@dataclass
class Room:
    taken: int = 0
    waited: set[str] = field(default_factory=set[str])  # chats that had to wait
    not_shown: int = 0  # how often there was no room for what is only shown
    _changed: anyio.Event = field(default_factory=anyio.Event)

    def note(self, *, taken: bool) -> None:
        self.taken += taken
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def until(self, true: Callable[[], bool]) -> None:
        with anyio.fail_after(HANG_S):
            while not true():
                await self._changed.wait()


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Room:
    room, take, take_spare = Room(), TokenBucket.take, TokenBucket.take_spare

    async def noted(pace: TokenBucket, chat: str, rates: Sequence[Rate]) -> float:
        wait_s = await take(pace, chat, rates)
        if wait_s:
            room.waited.add(chat)
        room.note(taken=not wait_s)
        return wait_s

    async def noted_spare(pace: TokenBucket, rates: Sequence[Rate]) -> bool:
        is_room = await take_spare(pace, rates)
        room.not_shown += not is_room
        room.note(taken=is_room)
        return is_room

    monkeypatch.setattr(TokenBucket, "take", noted)
    monkeypatch.setattr(TokenBucket, "take_spare", noted_spare)
    return room


@pytest.mark.parametrize("fails", [False, True])
async def test_an_adapter_that_does_not_open_holds_up_no_other_channel(
    process: Process, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    @asynccontextmanager
    async def stuck() -> AsyncGenerator[Channel]:
        if fails:
            raise OSError("no such platform")
        await anyio.sleep_forever()
        yield cast("Channel", None)

    real = push.connect
    monkeypatch.setattr(
        push, "connect", lambda process, name, config: stuck() if name == "first" else real(process, name, config)
    )
    async with sink() as platform:
        here = pushing(process, platform)
        channels = {"first": here.config.channels[NAME], **here.config.channels}
        await put(process.bus, "hello")
        with anyio.fail_after(HANG_S):
            async with replica(replace(here, config=msgspec.structs.replace(here.config, channels=channels))):
                await platform.count(1)

        assert platform.texts(ANN) == ["hello"]


async def test_replies_are_delivered_in_order_for_each_chat_and_leave_nothing_behind(process: Process) -> None:
    texts = [f"reply {n}" for n in range(20)]
    async with sink() as platform:
        await put(process.bus, *texts)
        async with replica(pushing(process, platform)):
            await put(process.bus, *texts, session=BOB)
            await platform.count(40)
            await until_empty(process.bus)

        assert platform.texts(ANN) == platform.texts(BOB) == texts
        assert await unknown(process.bus) == []


async def test_what_is_said_to_a_push_channel_is_answered_through_its_outbox(process: Process) -> None:
    async def model(_config: object, *, language: str) -> ScriptedModel:
        return ScriptedModel("the answer")

    async def agents(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await serve_agents(both, task_status=task_status)

    async with sink() as platform:
        both = replace(pushing(process, platform, debounce_s=0.2), connect_model=model)
        for text in ("one", "two"):
            await accept(both, make_inbound(both, channel=NAME, chat="ann", text=text, sender_id="ann"))
        assert await process.bus.call("ZCARD", process.bus.keys.ready(0)) == 0
        async with replica(both) as tg:
            await tg.start(agents)
            await platform.count(1)

        assert platform.texts(ANN)[0] == "the answer"
        assert platform.delivered[0]["reply"].startswith(f"{ANN}#")


async def test_a_long_reply_goes_in_parts_and_the_platform_ids_are_kept(process: Process) -> None:
    async with sink() as platform:
        [reply] = await put(process.bus, "one two three")
        async with replica(pushing(process, platform, part_max_chars=5)):
            await until_empty(process.bus)

        assert platform.texts() == ["one ", "two ", "three"]
        assert await marks(process.bus, reply) == {"0": "sent m1", "1": "sent m2", "2": "sent m3"}
        assert await process.bus.call("PTTL", process.bus.keys.sent(ANN, reply)) > 0


async def test_a_reply_of_one_part_costs_two_scripts_at_most(process: Process) -> None:
    recording = RecordingBus(process.bus)
    async with sink() as platform:
        for n in range(10):
            await put(process.bus, *"abc", session=f"{NAME}:{n}")
        async with replica(pushing(replace(process, bus=recording), platform)):
            await until_empty(process.bus)

    marked = [msgspec.msgpack.decode(args[-1]) for script, _, args in recording.scripts if script.name == "marks.lua"]
    steps = Counter(step for packed in marked for step in packed[::8])
    counts = Counter(script.name for script, _, _ in recording.scripts)
    assert steps == {"sending": 30, "sent": 30}
    assert counts["marks.lua"] < 30
    assert set(counts) <= {"marks.lua", "lead.lua", "resign.lua"}


@pytest.mark.parametrize("text", ["", " \n "])
async def test_a_reply_without_text_is_not_sent(process: Process, text: str) -> None:
    async with sink() as platform:
        await put(process.bus, text, "next")
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)

        assert platform.texts() == ["next"]
        assert not await process.bus.call("EXISTS", process.bus.keys.dead(0))


async def test_what_is_put_back_by_hand_is_delivered_too(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry behind the reader's position, as after a failover."""
    monkeypatch.setattr(out_feed, "BLOCK_MS", 20)
    async with sink() as platform, replica(pushing(process, platform)):
        await put(process.bus, "first")
        await platform.count(1)
        await until_empty(process.bus)
        await process.bus.call("DEL", process.bus.keys.out(0, NAME))
        raw = msgspec.json.encode(Reply(id=f"{ANN}#9", session=ANN, turn=9, text="older", correlation="c"))
        await process.bus.call("XADD", process.bus.keys.out(0, NAME), "1-1", "reply", raw)
        await platform.count(2)

        assert platform.texts() == ["first", "older"]
        await until_empty(process.bus)


async def test_what_cannot_be_read_becomes_a_dead_letter_and_holds_up_nobody(process: Process) -> None:
    async with sink() as platform:
        await process.bus.call("XADD", process.bus.keys.out(0, NAME), "*", "reply", "{}")
        await put(process.bus, "fine")
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)

        assert platform.texts() == ["fine"]
    [(_, dead)] = await process.bus.call("XRANGE", process.bus.keys.dead(0), "-", "+")
    assert (dead[b"reason"], dead[b"reply"]) == (b"unreadable", b"{}")


NEVER_MS = 300_000  # longer than any test waits
PARTITIONS = 64  # partitions, as a cluster has them; here one server holds them all


@asynccontextmanager
async def many_partitions(process: Process, prefix: str) -> AsyncGenerator[Process]:
    config = RedisConfig(prefix=f"{prefix}-many", partitions=PARTITIONS)
    async with open_bus(config, process.data_dir) as bus, anyio.create_task_group() as tg:
        listener = Listener(bus)
        tg.start_soon(listener.run)
        yield replace(process, bus=bus, listener=listener)
        tg.cancel_scope.cancel()
        await check_and_remove_keys(bus)


async def put_everywhere(bus: Bus, chats: Sequence[str], *texts: str) -> None:
    for turn, text in enumerate(texts):
        for chat in chats:
            reply = Reply(id=f"{chat}#{turn}{text}", session=chat, turn=turn, text=text, correlation="c")
            key = bus.keys.out(bus.keys.partition(chat), NAME)
            await bus.call("XADD", key, "*", "reply", msgspec.json.encode(reply))


async def readers(bus: Bus) -> int:
    clients: bytes = await bus.call("CLIENT", "LIST")
    return clients.count(b" cmd=xread ")


async def test_replies_of_all_partitions_come_over_one_connection(process: Process, server_dir: Path, prefix: str):
    chats = [f"{NAME}:c{number}" for number in range(100)]
    async with many_partitions(replace(process, data_dir=server_dir), prefix) as many, sink() as platform:
        before = await readers(many.bus)
        await put_everywhere(many.bus, chats, "early")
        async with replica(pushing(many, platform)):
            await platform.count(len(chats))
            await put_everywhere(many.bus, chats, "b", "c")
            await platform.count(3 * len(chats))
            await anyio.wait_all_tasks_blocked()
            assert await readers(many.bus) == before + 1

    assert {chat: platform.texts(chat) for chat in chats} == {chat: ["early", "b", "c"] for chat in chats}


async def test_a_partition_with_more_than_it_can_take_holds_up_no_other(
    process: Process, server_dir: Path, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader_term, "IN_FLIGHT", 2)
    monkeypatch.setattr(out_feed, "BLOCK_MS", NEVER_MS)
    monkeypatch.setattr(pipeline_connection, "ANSWER_TIMEOUT_S", NEVER_MS)
    gate = Gate()

    def hold_all_but_bob(post: Post) -> Fault | None:
        return None if post["session"] == BOB else Slow(gate=gate)

    async with (
        many_partitions(replace(process, data_dir=server_dir), prefix) as many,
        sink(hold_all_but_bob) as platform,
    ):
        bobs, crowd = many.bus.keys.partition(BOB), list[str]()
        for number in range(2_000):
            chat = f"{NAME}:c{number}"
            if many.bus.keys.partition(chat) == (bobs + 1) % PARTITIONS:
                crowd.append(chat)
        await put_everywhere(many.bus, crowd, "a")
        async with replica(pushing(many, platform)):
            await platform.asked(2)
            for text in "abc":
                await put_everywhere(many.bus, [BOB], text)
                await until(lambda text=text: text in platform.texts(BOB))
            gate.open()
            # No read that waits for others holds the crowd up.
            await platform.count(len(crowd) + 3)

    assert sorted(platform.texts()) == ["a"] * (len(crowd) + 1) + ["b", "c"]


async def test_a_new_leader_reads_at_once_though_the_reader_waits_for_others(
    process: Process, server_dir: Path, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(out_feed, "BLOCK_MS", NEVER_MS)
    monkeypatch.setattr(pipeline_connection, "ANSWER_TIMEOUT_S", NEVER_MS)
    monkeypatch.setattr(leader_election, "STANDBY_S", NEVER_MS)
    async with many_partitions(replace(process, data_dir=server_dir), prefix) as many, sink() as platform:
        keys, stolen = many.bus.keys, many.bus.keys.partition(BOB)
        await many.bus.call("HSET", keys.leader(stolen, NAME), "nonce", "another", "deadline", await deadline(many.bus))
        async with replica(pushing(many, platform)):
            while not await readers(many.bus):  # noqa: ASYNC110 - no event tells of it
                await anyio.sleep(0.005)
            await put_everywhere(many.bus, [BOB], "hello")
            await many.bus.call("HDEL", keys.leader(stolen, NAME), "nonce", "deadline")
            await many.bus.call("PUBLISH", keys.leaders, keys.leader(stolen, NAME))
            await platform.count(1)


async def test_a_refused_chat_rests_in_order_and_holds_up_nobody(process: Process) -> None:
    refusals = iter([Refuse(429, 3_600.0)])
    async with sink(lambda post: next(refusals, None) if post["session"] == ANN else None) as platform:
        await put(process.bus, "a1", "a2")
        await put(process.bus, "b1", "b2", session=BOB)
        async with replica(pushing(process, platform)):
            await platform.count(2)
            await until(lambda: len(platform.posts) == 3)
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)

        assert platform.texts() == ["b1", "b2", "a1", "a2"]
        assert await unknown(process.bus) == []


async def test_a_refused_chat_rests_as_long_as_told(process: Process) -> None:
    times: list[float] = []

    def refuse_once(_post: Post) -> Fault | None:
        times.append(anyio.current_time())
        return Refuse(429, 0.1) if len(times) == 1 else None

    async with sink(refuse_once) as platform, replica(pushing(process, platform)):
        await put(process.bus, "a1")
        await until_empty(process.bus)

    assert times[1] - times[0] >= 0.1


@pytest.mark.parametrize("fault", [Refuse(500), Refuse(503, 0.01), Refuse(429), Refuse(429, -1.0)])
async def test_a_refused_part_is_sent_again_until_it_is_taken(process: Process, fault: Fault) -> None:
    async with sink([fault] * 4) as platform:
        [reply] = await put(process.bus, "hello")
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)

        assert platform.texts() == ["hello"]
        assert len(platform.posts) == 5
        assert await marks(process.bus, reply) == {"0": "sent m1"}
        assert await unknown(process.bus) == []


async def test_a_platform_that_is_away_makes_replies_late_and_not_unknown(process: Process) -> None:
    async with sink() as platform:
        away = pushing(process, platform)
        port = int(platform.url.rstrip("/").rpartition(":")[2])
    await put(process.bus, "hello")
    async with replica(away) as tg:
        with capture_logs() as lines, anyio.fail_after(HANG_S):
            while not any(line["event"] == "reply.parked" for line in lines):  # noqa: ASYNC110 - a log line is no event
                await anyio.sleep(0.005)
        back = Sink(lambda _post: None)
        await tg.start(back.serve, port)
        await until_empty(process.bus)
        away.stopping.set()
        tg.cancel_scope.cancel()

    assert back.texts() == ["hello"]
    assert await unknown(process.bus) == []


async def test_what_is_rejected_becomes_a_dead_letter_and_the_chat_goes_on(process: Process) -> None:
    async with sink([None, Refuse(400)]) as platform:
        await put(process.bus, "good bad never", "next")
        async with replica(pushing(process, platform, part_max_chars=5)):
            await until_empty(process.bus)

        assert platform.texts() == ["good ", "next"]
    [(_, dead)] = await process.bus.call("XRANGE", process.bus.keys.dead(0), "-", "+")
    assert dead[b"reason"] == b"rejected: the server responded with HTTP status 400"
    assert dead[b"session"] == ANN.encode()
    assert msgspec.json.decode(dead[b"reply"], type=Reply).text == "good bad never"


@pytest.mark.parametrize("fault", [Cut(), Hang()])
async def test_a_send_that_was_cut_is_repeated_once_and_listed(process: Process, fault: Fault) -> None:
    async with sink([fault]) as platform:
        [reply] = await put(process.bus, "hello")
        await put(process.bus, "next")
        async with replica(pushing(process, platform, send_timeout_s=1.0 if fault == Hang() else 20.0)):
            await until_empty(process.bus)

        assert platform.texts() == ["hello", "hello", "next"]
        assert await unknown(process.bus) == [(reply, "0", "resent")]
        assert await process.bus.call("PTTL", process.bus.keys.unknown(0)) > 0


async def test_a_part_whose_outcome_is_unknown_twice_is_given_up_and_the_next_goes_on(process: Process) -> None:
    async with sink([Cut(), Refuse(429), Cut(), Cut(delivered=False)]) as platform:
        [reply] = await put(process.bus, "one two")
        async with replica(pushing(process, platform, part_max_chars=4)):
            await until_empty(process.bus)

        assert platform.texts() == ["one ", "one ", "two"]
        assert await unknown(process.bus) == [(reply, "0", "resent"), (reply, "0", "given up"), (reply, "1", "resent")]
        assert (await marks(process.bus, reply))["0"].startswith("unknown")


async def test_an_answer_that_is_no_json_counts_as_sent(process: Process) -> None:
    async with sink([Garbled()]) as platform:
        [reply] = await put(process.bus, "hello")
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)

        assert platform.texts() == ["hello"]
        assert await marks(process.bus, reply) == {"0": "sent"}


async def test_order_holds_for_every_chat_under_all_faults(process: Process) -> None:
    chats = [f"{NAME}:c{n}" for n in range(8)]
    script: list[Fault | None] = [None, Refuse(429, 0.01), None, Cut(), None, None, Refuse(500)]
    async with sink(script * 4) as platform:
        for n in range(6):
            for chat in chats:
                await put(process.bus, f"{n}", session=chat)
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)

        twice = 0
        for chat in chats:
            told = platform.texts(chat)
            assert told == sorted(told)
            assert set(told) == {str(n) for n in range(6)}
            twice += len(told) - len(set(told))
        assert twice == [action for _, _, action in await unknown(process.bus)].count("resent")


async def test_a_bug_in_an_adapter_costs_one_reply_and_no_other(process: Process, queue: QueueConfig) -> None:
    class Broken(TestingChannel):
        __test__ = False

        def length(self, text: str) -> int:
            if text == "poison":
                raise RuntimeError("a bug")
            return super().length(text)

    async with sink() as platform, connect(process, NAME, TestingConfig(url=platform.url)) as fine:
        broken = pushing(process, platform)
        config = cast("TestingConfig", broken.config.channels[NAME])
        channel: Channel = Broken(NAME, config, fine._client)
        await put(process.bus, "poison", "after")
        await put(process.bus, "other", session=BOB)
        with capture_logs():
            async with anyio.create_task_group() as tg:
                tg.start_soon(Outbox(broken, channel, config).run)
                await until_empty(process.bus)
                broken.stopping.set()

        assert sorted(platform.texts()) == ["after", "other"]
    [(_, dead)] = await process.bus.call("XRANGE", process.bus.keys.dead(0), "-", "+")
    assert (dead[b"reason"], dead[b"attempts"]) == (b"failed", str(queue.attempts_max + 1).encode())


def test_every_failure_of_the_http_library_is_either_nothing_sent_or_unknown() -> None:
    def kinds(kind: type[Exception]) -> list[type[Exception]]:
        return [kind, *(each for sub in kind.__subclasses__() for each in kinds(sub))]

    refused = {kind.__name__ for kind in kinds(httpx2.HTTPError) if issubclass(kind, NOTHING_SENT)}

    assert refused == {
        *("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "LocalProtocolError", "ProxyError")
    }


async def test_a_refused_connection_and_a_cut_one_are_told_apart(process: Process) -> None:
    async with sink([Cut()]) as platform, connect(process, NAME, TestingConfig(url=platform.url)) as channel:
        with pytest.raises(SendUnknown):
            await channel.send(SessionKey.parse(ANN), a_part(), timeout_s=1.0)
    async with connect(process, NAME, TestingConfig(url=platform.url)) as channel:
        with pytest.raises(SendRefused):
            await channel.send(SessionKey.parse(ANN), a_part(), timeout_s=1.0)


def a_part() -> Any:
    from channels.base import Part  # noqa: PLC0415 - for two tests

    return Part(reply="r", number=0, text="x", attempt="a")


async def test_two_replicas_never_double(process: Process) -> None:
    texts = [f"{n}" for n in range(50)]
    async with sink() as platform:
        async with AsyncExitStack() as stack:
            for _ in range(2):
                await stack.enter_async_context(replica(pushing(process, platform)))
            await put(process.bus, *texts)
            await put(process.bus, *texts, session=BOB)
            await until_empty(process.bus)

        assert platform.texts(ANN) == platform.texts(BOB) == texts


async def test_a_stop_finishes_what_is_being_sent_and_hands_over_at_once(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader_election, "STANDBY_S", NEVER_MS)
    gate = Gate()
    async with sink([Slow(gate=gate)]) as platform:
        await put(process.bus, "a1", "a2")
        first, second = pushing(process, platform), pushing(process, platform)
        async with replica(first) as leading:
            await platform.asked(1)
            async with replica(second):
                first.stopping.set()
                await anyio.wait_all_tasks_blocked()
                assert len(platform.posts) == 1
                gate.open()
                await platform.count(2)
                await until_empty(process.bus)
            leading.cancel_scope.cancel()

        assert platform.texts() == ["a1", "a2"]
        assert await unknown(process.bus) == []


async def test_a_killed_leader_is_followed_when_its_lease_is_over(process: Process, queue: QueueConfig) -> None:
    dead, times = a_lease(process.bus, msgspec.structs.replace(queue, lease_s=0.3)), list[float]()
    assert await dead.ask() == 0.0
    until_ms = int(await process.bus.call("HGET", process.bus.keys.leader(0, NAME), "deadline"))
    async with sink() as platform:
        platform.on_delivery = lambda _post: times.append(1000 * time.time())
        await put(process.bus, "hello")
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)

    assert times[0] >= until_ms


async def test_a_lease_lost_in_mid_send_ends_the_sending_and_the_part_is_resent_once(process: Process) -> None:
    bus = process.bus
    leader = bus.keys.leader(0, NAME)
    async with sink([Slow(gate=Gate())]) as platform:
        [reply, *_] = await put(bus, "a1", "a2")
        async with replica(pushing(process, platform)):
            await platform.asked(1)
            with capture_logs() as lines, anyio.fail_after(HANG_S):
                await bus.call("HSET", leader, "nonce", "thief")
                while not any(line["event"] == "lease.lost" for line in lines):
                    await bus.call("HSET", leader, "deadline", await deadline(bus))
                    await anyio.sleep(0.01)
            assert len(platform.posts) == 1
            assert await marks(bus, reply) == {"0": "sending 1"}
            await bus.call("HDEL", leader, "nonce", "deadline")
            await bus.call("PUBLISH", bus.keys.leaders, leader)
            await until_empty(bus)

        assert platform.texts() == ["a1", "a1", "a2"]
        assert await unknown(bus) == [(reply, "0", "resent")]


async def deadline(bus: Bus) -> int:
    seconds, _ = await bus.call("TIME")
    return int(seconds) * 1000 + 60_000


async def begun(bus: Bus, queue: QueueConfig, *looks: str) -> str:
    """A reply of three parts, whose first was sent and whose second was begun by a leader that is gone; its id."""
    [reply] = await put(bus, "one two three")
    [(stream_id, _)] = await bus.call("XRANGE", bus.keys.out(0, NAME), "-", "+")
    lease = a_lease(bus, queue)
    await lease.ask()
    book = a_ledger(bus, lease)
    first = a_step(stream_id, reply)
    async with book.kept():
        assert await book.sending(first, *looks) is NextStep.SEND
        book.note(first, "sent", "m0")
        assert await book.sending(a_step(stream_id, reply, part=1), *looks) is NextStep.SEND
    await lease.resign(channel=bus.keys.leaders, said="")
    return reply


async def test_a_predecessors_mark_is_resent_once_listed_and_the_delivered_parts_are_not(
    process: Process, queue: QueueConfig
) -> None:
    reply = await begun(process.bus, queue)

    async with sink() as platform, replica(pushing(process, platform, part_max_chars=5)):
        await until_empty(process.bus)

    assert platform.texts() == ["two ", "three"]
    assert await unknown(process.bus) == [(reply, "1", "resent")]


async def test_nothing_is_sent_that_could_outlast_the_lease(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """The renewals fail, so that the lease is not lost yet, but has less left than a send may take."""
    passed_s, waits = [0.0], anyio.Event()
    monkeypatch.setattr(lease, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + passed_s[0]))
    outlasting = Lease.outlasting

    async def noted(self: Lease, seconds: float) -> None:
        waits.set()
        await outlasting(self, seconds)

    monkeypatch.setattr(Lease, "outlasting", noted)

    class NoRenewal(FailingBus):
        async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
            if script.name == "lead.lua" and args[1] == -1:
                await anyio.sleep_forever()
            return await super().run(script, keys, args)

    async with sink() as platform:
        stalled = pushing(replace(process, bus=NoRenewal(process.bus, at=0)), platform)
        async with replica(stalled) as tg:
            await put(process.bus, "early")
            await until_empty(process.bus)
            passed_s[0] = 41.0  # less than 20 s are left, and a send may take as long
            [late] = await put(process.bus, "late")
            with anyio.fail_after(HANG_S):
                await waits.wait()
            await anyio.wait_all_tasks_blocked()

            assert platform.texts() == ["early"]
            assert await marks(process.bus, late) == {}
            assert await process.bus.call("XLEN", process.bus.keys.out(0, NAME)) == 1
            tg.cancel_scope.cancel()


async def test_a_lease_is_not_taken_by_a_late_copy_of_an_earlier_call(bus: Bus, queue: QueueConfig) -> None:
    recording = RecordingBus(bus)
    lease = a_lease(recording, queue)
    await lease.ask()
    await lease.resign(channel=bus.keys.leaders, said="")
    held = await bus.call("HGETALL", bus.keys.leader(0, NAME))

    await recording.repeat("lead.lua")
    await recording.repeat("resign.lua")

    assert await bus.call("HGETALL", bus.keys.leader(0, NAME)) == held == {b"fence": b"1"}


async def test_a_lease_whose_clock_was_set_back_by_an_hour_is_taken(bus: Bus, queue: QueueConfig) -> None:
    await a_lease(bus, queue).ask()
    await bus.call("HINCRBY", bus.keys.leader(0, NAME), "deadline", 3_600_000)
    second = a_lease(bus, queue)

    assert await second.ask() == 0.0
    assert second.fence == 2


async def test_while_leaders_change_for_the_sake_of_a_fair_share_every_reply_comes_once_and_in_order(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader_election, "STANDBY_S", 0.02)
    texts, leads = [f"reply {number}" for number in range(50)], process.bus.keys.leader(0, NAME)
    async with sink() as platform, AsyncExitStack() as stack:
        first, second = pushing(process, platform), pushing(process, platform)
        stack.enter_context(first.shared(LeaseBalance).one_more())
        stack.enter_context(first.shared(LeaseBalance).one_more())
        await stack.enter_async_context(replica(first))
        for text in texts:
            await put(process.bus, text)
            await anyio.sleep(0.005)
            if text == "reply 9":
                await platform.count(1)
                await stack.enter_async_context(replica(second))
        await until_empty(process.bus)

        assert platform.texts(ANN) == texts
        assert await unknown(process.bus) == []
        with anyio.fail_after(HANG_S):
            while await process.bus.call("HGET", leads, "worker") != second.name.encode():  # noqa: ASYNC110 - no event tells of it
                await anyio.sleep(0.01)


def a_lease(bus: Bus, queue: QueueConfig) -> Lease:
    terms = LeaseTerms(key=bus.keys.leader(0, NAME), lease_s=queue.lease_s, renew_s=queue.renew_s, worker="w")
    return Lease(bus=bus, terms=terms)


def a_ledger(bus: Bus, lease: Lease) -> DeliveryState:
    return DeliveryState(bus, partition=0, channel=NAME, nonce=lease.nonce, attempts_max=5)


def a_step(stream_id: bytes, reply: str, *, part: int = 0, attempt: int = 1, mark: str = "mark") -> Step:
    text = Reply(id=reply, session=ANN, turn=0, text="one two three", correlation="c")
    place = Place(stream_id=stream_id, reply=text, part=part, last=False)
    return Step(place=place, attempt=attempt, mark=mark)


async def taken_over(bus: Bus, queue: QueueConfig) -> tuple[DeliveryState, DeliveryState, Step]:
    """The ledgers of a leader whose lease went to another, and of that one, with a reply to deliver."""
    [reply] = await put(bus, "hello")
    [(stream_id, _)] = await bus.call("XRANGE", bus.keys.out(0, NAME), "-", "+")
    old, new = a_lease(bus, queue), a_lease(bus, queue)
    await old.ask()
    await bus.call("HSET", bus.keys.leader(0, NAME), "deadline", 1)
    assert await new.ask() == 0.0
    return a_ledger(bus, old), a_ledger(bus, new), a_step(stream_id, reply)


async def refused_to_the_old_leader(bus: Bus, queue: QueueConfig) -> set[str]:
    """Which writes of a leader are refused once its lease went to another."""
    old, _, step = await taken_over(bus, queue)
    refused: set[str] = set()
    async with old.kept():
        try:
            await old.sending(step)
        except LeaseLost:
            refused.add("sending")
        try:
            await old.bury(step.place.stream_id, step.place.reply, reason="x", attempts=1)
        except LeaseLost:
            refused.add("bury")
    return refused


async def test_a_leader_whose_lease_went_to_another_marks_and_buries_nothing(bus: Bus, queue: QueueConfig) -> None:
    assert await refused_to_the_old_leader(bus, queue) == {"sending", "bury"}

    assert await bus.call("XLEN", bus.keys.out(0, NAME)) == 1
    assert not await bus.call("KEYS", f"{bus.keys.prefix}:*:sent:*")


async def test_what_was_sent_is_noted_though_the_lease_went_to_another_meanwhile(bus: Bus, queue: QueueConfig) -> None:
    old, new, step = await taken_over(bus, queue)
    await bus.call("HSET", bus.keys.sent(ANN, step.place.reply.id), "0", "sending 1 0 mark")

    async with old.kept():
        old.note(step, "sent", "m1")

    async with new.kept():
        assert await new.sending(step) is NextStep.OVER


async def test_an_outcome_is_not_noted_once_the_part_was_sent_again(bus: Bus, queue: QueueConfig) -> None:
    old, new, step = await taken_over(bus, queue)
    await bus.call("HSET", bus.keys.sent(ANN, step.place.reply.id), "0", "sending 1 0 mark")
    again = msgspec.structs.replace(step, attempt=2, mark="other")
    async with new.kept():
        assert await new.sending(again) is NextStep.SEND_AGAIN

    async with old.kept():
        old.note(step, "refused")
        old.note(step, "sent", "m1")

    assert await marks(bus, step.place.reply.id) == {"0": "sending 2"}


async def test_a_mark_repeated_under_its_own_name_is_no_unknown_outcome(bus: Bus, queue: QueueConfig) -> None:
    _, new, step = await taken_over(bus, queue)

    async with new.kept():
        assert [await new.sending(step), await new.sending(step)] == [NextStep.SEND, NextStep.SEND]
        assert await new.sending(msgspec.structs.replace(step, mark="other")) == 1
    assert await unknown(bus) == []


async def test_every_script_arriving_again_at_the_end_changes_nothing(process: Process) -> None:
    recording = RecordingBus(process.bus)
    script = [None, Refuse(429), Cut(), Cut(), Refuse(400)]
    async with sink(script) as platform:
        await put(process.bus, "one two three", "bad", "last")
        async with replica(pushing(replace(process, bus=recording), platform, part_max_chars=5)):
            await until_empty(process.bus)
    keys = process.bus.keys
    reads = [("XRANGE", key, "-", "+") for key in (keys.out(0, NAME), keys.dead(0), keys.unknown(0))]
    hashes = [("HGETALL", key) for key in await process.bus.call("KEYS", f"{keys.prefix}:*:sent:*")]
    before = [await process.bus.call(*read) for read in (*reads, *hashes)]
    # As if it were still the leader, so that nothing but the positions stands against it.
    nonce = next(args[0] for script, _, args in recording.scripts if script.name == "lead.lua")
    await process.bus.call("HSET", keys.leader(0, NAME), "nonce", nonce)

    names = set()
    for call in list(recording.scripts):
        if call[0].name != "resign.lua":
            names.add(call[0].name)
            await recording.arrive(*call)

    assert names == {"lead.lua", "marks.lua", "dead.lua"}
    assert [await process.bus.call(*read) for read in (*reads, *hashes)] == before


async def test_a_flushed_script_cache_and_a_killed_server_go_unnoticed(process: Process, server_dir: Path) -> None:
    async with sink([Slow(gate=(gate := Gate()))]) as platform:
        await put(process.bus, "a1", "a2")
        async with replica(pushing(process, platform)):
            await gate.reached()
            with capture_logs():
                await process.bus.call("SCRIPT", "FLUSH")
                os.kill(int((server_dir / "redis" / "server.pid").read_text()), signal.SIGKILL)
                gate.open()
                await platform.count(2)
                await until_empty(process.bus)

        assert platform.texts() == ["a1", "a2"]
        assert await unknown(process.bus) == []


async def test_the_queues_show_what_is_not_delivered_and_what_nobody_knows(process: Process) -> None:
    await put(process.bus, "a1", "a2")

    assert (await read_queues(process.bus, [NAME])).total.out == {NAME: 2}

    async with sink([Cut()]) as platform, replica(pushing(process, platform)):
        await until_empty(process.bus)
    assert (await read_queues(process.bus, [NAME])).total.out == {NAME: 0}
    [outcome] = await read_unknown(process.bus, limit=10)
    assert (outcome.session, outcome.part, outcome.attempt, outcome.action) == (ANN, 0, 1, "resent")


@asynccontextmanager
async def site(process: Process) -> AsyncGenerator[httpx2.AsyncClient]:
    """The web channel of the process for the length of the block."""
    said: list[str] = []
    channels = {**process.config.channels, "web": WebConfig(port=0)}
    config = msgspec.structs.replace(process.config, channels=channels)
    serving = replace(process, config=config, stopping=anyio.Event(), announce=said.append)
    async with anyio.create_task_group() as tg:
        await tg.start(serve_web, serving)
        [address] = addresses_in(said)
        async with client_of(address, **header_of(process.data_dir)) as client:
            yield client
        serving.stopping.set()


async def test_gauges_show_what_is_not_delivered_by_channel_and_what_nobody_knows(process: Process) -> None:
    async with sink([Cut()]) as platform:
        pushed = pushing(process, platform)
        async with site(pushed) as client:
            await put(process.bus, "a1", "a2")
            assert f'\nmillpond_out{{channel="{NAME}"}} 2.0' in (await client.get("/metrics")).text

            async with replica(pushed):
                await until_empty(process.bus)
            text = (await client.get("/metrics")).text

    assert f'\nmillpond_out{{channel="{NAME}"}} 0.0' in text
    assert "\nmillpond_unknown 1.0" in text
    assert 'channel="web"' not in text[text.index("millpond_out{") :], "a channel that nothing is sent to has no outbox"


async def test_gauges_are_of_all_partitions(process: Process, server_dir: Path, prefix: str) -> None:
    chats = [f"{NAME}:c{number}" for number in range(200)]
    async with many_partitions(replace(process, data_dir=server_dir), prefix) as many, sink() as platform:
        await put_everywhere(many.bus, chats, "a")
        async with site(pushing(many, platform)) as client:
            assert f'\nmillpond_out{{channel="{NAME}"}} 200.0' in (await client.get("/metrics")).text
        for chat in chats:
            await many.bus.call("UNLINK", many.bus.keys.out(many.bus.keys.partition(chat), NAME))


async def test_the_commands_show_them(process: Process, server_dir: Path, tmp_path: Path) -> None:
    async with sink([Cut()]) as platform:
        await put(process.bus, "a1")
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)
    await put(process.bus, "a2")
    file = tmp_path / "millpond.toml"
    channel = f"[channels.{NAME}]\ntype = 'testing'\nurl = '{platform.url}'\n"
    file.write_text(f"data_dir = '{server_dir}'\n[redis]\nprefix = '{process.bus.keys.prefix}'\n{channel}")

    async def said(*words: str) -> str:
        return (await anyio.to_thread.run_sync(forked.run, ("--config", str(file), *words), os.environ)).stdout

    assert f"not yet delivered to {NAME}: 1" in await said("queue", "list")
    assert msgspec.json.decode(await said("queue", "list", "--json"))["total"]["out"] == {NAME: 1}
    assert "resent" in await said("queue", "unknown")
    [outcome] = msgspec.json.decode(await said("queue", "unknown", "--json"))
    assert (outcome["session"], outcome["action"]) == (ANN, "resent")


async def test_deliveries_are_counted_by_outcome(process: Process) -> None:
    def count(outcome: str) -> float:
        return metrics.DELIVERIES.labels(NAME, outcome)._value.get()

    outcomes = ("sent", "refused", "rejected", "unknown", "resent", "given_up")
    before = {outcome: count(outcome) for outcome in outcomes}
    async with sink([Refuse(429), Cut(), Cut(), Refuse(400)]) as platform:
        await put(process.bus, "one", "two", "three")
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)

    counted = {outcome: count(outcome) - before[outcome] for outcome in outcomes}
    assert counted == {"sent": 1, "refused": 1, "rejected": 1, "unknown": 2, "resent": 1, "given_up": 1}
