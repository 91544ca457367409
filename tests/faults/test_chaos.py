"""The chaos run itself: that it passes, that it would notice, and that its parts do what they say."""

import itertools
import random
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import hiredis
import httpx2
import msgspec
import pytest
from anyio.abc import ByteStream
from hypothesis import given
from hypothesis import strategies as st

from daemon.bus import Bus, pack
from daemon.events import LogEntry
from daemon.server import Address
from tests.chaos.ends import BROKEN, HELD, INCONCLUSIVE, LATE, UNFINISHED, Drain, end_of
from tests.chaos.fleet import Fleet
from tests.chaos.outcomes import GIVEN_UP, RESENT, Attempt, Book, Outcome, Place, doubled, listed_doubled
from tests.chaos.proxy import Commands, Faults, Proxy, packed
from tests.chaos.runs import BEGAN, ENDED, INTERRUPTED, Run, Runs, Told, append, read
from tests.chaos.sabotage import CHECKS, Cut
from tests.chaos.talker import Talker
from tests.chaos.tally import Record, tally
from tests.chaos.trial import Trial, tried
from tests.chaos.witness import Witness
from tests.conftest import server_ms
from tests.fakes.sink import Cut as CutOff
from tests.fakes.sink import Garbled, Hang, Refuse, Slow, sink
from tests.limits import HANG_S
from tests.ports import free_port
from tests.soak.findings import OF_CHAOS
from tests.tables import each_row

PUSHES = b"redis.call('RPUSH', KEYS[1], ARGV[1]); return 'pushed'"
SMALL = ("--messages", "200", "--sessions", "10", "--seconds", "10", "--late-max-s", "4", "--drain-s", "6")
SETTLED = ("--memory-kills", "0", "--memory-pauses", "0", "--doomed", "0")  # nobody dies who consolidates
CALM = (*SETTLED, "--kills", "0", "--server-kills", "0", "--pauses", "0", "--drop", "0", "--late", "0")
"""Nothing goes wrong but at the platform, and with the model that sums up."""

BRIEF = ("--messages", "120", "--sessions", "6", "--seconds", "7", "--drain-s", "2")
"""What is to be found is found while messages flow; nobody has to wait for the rest."""


@pytest.mark.slow
@pytest.mark.timeout(2_500)
def test_a_short_run_loses_doubles_and_reorders_nothing() -> None:
    least = {"late": 200, "tools": 100, "interrupted": 1, "consolidated": 40, "raw": 2}

    run = tried("tests.chaos", least=least)

    assert run.code == HELD, run.output
    assert set(run.found.values()) == {0}, run.output


@pytest.mark.slow
@pytest.mark.timeout(5_000)
@pytest.mark.parametrize(
    ("check", "faults", "noticed"),
    [
        # A platform says a tenth of all messages twice, which is noticed however slow the machine is.
        ("dedupe", CALM, "messages doubled in a log"),
        *(
            pytest.param(*row, marks=pytest.mark.long)
            for row in (
                (
                    "nonce",
                    (*SETTLED, "--kills", "0", "--server-kills", "0", "--pauses", "12", "--drop", "0"),
                    "writes by who had lost the lease",
                ),
                (
                    "position",
                    (*SETTLED, "--kills", "2", "--server-kills", "0", "--late", "0.3"),
                    "messages doubled in a log",
                ),
                (
                    "reaper",
                    (*SETTLED, "--kills", "2", "--server-kills", "0", "--drain-s", "60", "--still-s", "10"),
                    "work that has stopped before its end",
                ),
                ("journal", (*CALM, "--kills", "16", "--pauses", "6"), "tool calls that ran twice"),
                ("lead", CALM, "writes by who had lost the lease"),
                ("mark", CALM, "unknown outcomes that queue unknown does not list"),
                ("list", CALM, "unknown outcomes that queue unknown does not list"),
                ("list-known", CALM, "lines of queue unknown without an unknown outcome"),
                ("fence", (*CALM, "--memory-pauses", "4", "--drain-s", "2"), "writes by who had lost the lease"),
                ("cursor", (*CALM, *BRIEF, "--late", "1", "--late-max-s", "8"), "cursors that were seen to go back"),
                ("entry", (*CALM, *BRIEF, "--late", "1"), "gaps and overlaps of history entries"),
                ("recall", (*CALM, *BRIEF), "prompts that missed what moved from log to memory"),
            )
        ),
    ],
)
def test_a_run_without_one_of_the_checks_fails_for_that_reason(check: str, faults: Sequence[str], noticed: str) -> None:
    for seed, longer in enumerate(([], ["--seconds", "20"], ["--seconds", "40"]), start=1):
        # Where a pause or a kill falls is chance, and a busy machine gets nothing done between two kills: one run may
        # show nothing, and the next one gets more time.
        run = tried("tests.chaos", *SMALL, *faults, *longer, "--sabotage", check, "--seed", str(seed), least={})
        if run.found[noticed]:
            break

    assert run.code == BROKEN, run.output
    assert run.found[noticed] > 0, run.output


@each_row("check", CHECKS)
def test_what_is_to_be_switched_off_is_there(check: str) -> None:
    for change in CHECKS[check]:
        if isinstance(change, Cut):
            assert change.cut() != change.script.text.decode()
        else:
            assert change.name in vars(change.owner)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(2_500)
def test_leaders_that_do_not_know_that_they_lost_their_lease_are_stopped_by_its_nonce() -> None:
    run = tried("tests.chaos", *SMALL, *CALM, "--drain-s", "300", "--sabotage", "lead-by-clock", least={})

    assert run.code == HELD, run.output


@asynccontextmanager
async def proxied(address: Address, faults: Faults) -> AsyncIterator[tuple[Proxy, ByteStream]]:
    """A proxy before the shared server, and a client of it that has logged in."""
    proxy = Proxy(address.port, address.password.reveal(), dice=random.Random(1), faults=faults)
    async with anyio.create_task_group() as tg:
        port = await tg.start(proxy.serve)
        async with await anyio.connect_tcp("127.0.0.1", port) as client:
            await asked(client, (b"AUTH", address.password.reveal().encode()))
            yield proxy, client
        tg.cancel_scope.cancel()


@asynccontextmanager
async def direct(address: Address) -> AsyncIterator[ByteStream]:
    async with await anyio.connect_tcp("127.0.0.1", address.port) as client:
        await asked(client, (b"AUTH", address.password.reveal().encode()))
        yield client


async def asked(client: ByteStream, *commands: Sequence[bytes]) -> list[Any]:
    await client.send(b"".join(map(packed, commands)))
    replies, reader = [], Commands()
    with anyio.fail_after(HANG_S):
        while len(replies) < len(commands):
            replies += reader.feed(await client.receive())
    return replies


async def test_commands_and_answers_pass_through_in_order(address: Address, prefix: str) -> None:
    key = prefix.encode()
    async with proxied(address, Faults(drop=1.0, late=1.0)) as (proxy, client):
        replies = await asked(client, (b"INCR", key), (b"INCR", key), (b"DEL", key), (b"PING",))

    assert replies == [1, 2, 1, b"PONG"]
    assert (proxy.dropped, proxy.pending, proxy.late) == (0, 0, 0), "only script calls may be lost or repeated"


async def test_a_script_whose_reply_is_dropped_was_carried_out_and_its_client_is_cut_off(address: Address, prefix: str):
    key = prefix.encode()
    async with proxied(address, Faults(drop=1.0)) as (proxy, client), direct(address) as other:
        [sha] = await asked(client, (b"SCRIPT", b"LOAD", PUSHES))
        await client.send(packed((b"EVALSHA", sha, b"1", key, b"once")) + packed((b"RPUSH", key, b"after the cut")))
        with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)), anyio.fail_after(HANG_S):
            await client.receive()

        assert await asked(other, (b"BLPOP", key, b"100")) == [[key, b"once"]]
        assert await asked(other, (b"EXISTS", key)) == [0]
        assert proxy.dropped == 1


async def test_a_copy_of_a_script_call_arrives_late_and_its_reply_reaches_nobody(address: Address, prefix: str) -> None:
    key = prefix.encode()
    async with proxied(address, Faults(late=1.0, late_max_s=0.1)) as (proxy, client), direct(address) as other:
        [sha] = await asked(client, (b"SCRIPT", b"LOAD", PUSHES))
        assert await asked(client, (b"EVALSHA", sha, b"1", key, b"x")) == [b"pushed"]

        assert await asked(other, (b"BLPOP", key, b"100")) == [[key, b"x"]]
        assert await asked(other, (b"BLPOP", key, b"100")) == [[key, b"x"]], "the copy"
        assert await asked(client, (b"PING",)) == [b"PONG"]
        assert (proxy.dropped, await asked(other, (b"EXISTS", key))) == (0, [0])


async def test_a_client_of_a_server_that_is_away_is_cut_off() -> None:
    async with anyio.create_task_group() as tg:
        port = await tg.start(Proxy(free_port(), "", dice=random.Random(1), faults=Faults()).serve)
        async with await anyio.connect_tcp("127.0.0.1", port) as client:
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)), anyio.fail_after(HANG_S):
                await client.receive()
        tg.cancel_scope.cancel()


@given(st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=5), max_size=5), st.lists(st.integers(0, 400)))
def test_however_commands_are_cut_into_pieces_they_come_out_whole(commands: list[list[bytes]], places: list[int]):
    sent, reader = b"".join(map(packed, commands)), Commands()
    cuts = [0, *sorted(min(place, len(sent)) for place in places), len(sent)]

    found = [command for at, end in itertools.pairwise(cuts) for command in reader.feed(sent[at:end])]

    assert found == commands


NAMES = {
    b"c": "claim.lua", b"m": "commit.lua", b"j": "journal.lua", b"l": "lead.lua", b"k": "marks.lua",
    b"lock": "lock.lua", b"settle": "settle.lua", b"note": "note.lua", b"open": "open.lua", b"apply": "apply.lua",
}  # fmt: skip


def claim(nonce: bytes) -> Sequence[bytes]:
    keys = (b"in", b"ready", b"due", b"session", b"log", b"waiting")
    return (b"EVALSHA", b"c", b"6", *keys, *[b"0"] * 8, pack(["name", nonce.decode()]))


def commit(nonce: bytes, turn: bytes = b"0") -> Sequence[bytes]:
    shared = (b"in", b"ready", b"due", b"grew", b"dead", b"unsettled")
    keys = (b"session", b"log", b"waiting", b"live", b"out", b"notices", b"traces")
    args = pack(["name", nonce.decode(), 1, int(turn), 0, 0, 0, 1, "", "", "", "", 1, 1, "1-0"])
    return (b"EVALSHA", b"m", b"13", *shared, *keys, *[b"0"] * 7, args, b"entry")


def seen(*steps: tuple[Sequence[bytes], Any]) -> list[str]:
    witness = Witness(NAMES)
    for command, reply in steps:
        witness.asked(command)
        witness.answered(command, reply)
    return witness.stale


def test_a_write_under_an_older_fence_is_noticed() -> None:
    granted = [(claim(b"old"), [[b"claimed", 1]]), (claim(b"new"), [[b"claimed", 2]])]
    journal = (b"EVALSHA", b"j", b"1", b"session", b"old", b"0", b"0")

    assert len(seen(*granted, (commit(b"old"), [[b"done"]]))) == 1
    assert len(seen(*granted, (journal, b"done"))) == 1
    assert seen(*granted, (commit(b"old"), [[b"stale"]]), (commit(b"new"), [[b"next", 2]])) == []


def test_a_commit_that_is_repeated_after_the_next_claim_is_no_second_write() -> None:
    first, again = (claim(b"old"), [[b"claimed", 1]]), (claim(b"new"), [[b"claimed", 2]])

    assert seen(first, (commit(b"old"), [[b"done"]]), again, (commit(b"old"), [[b"done"]])) == []


def test_a_write_that_was_sent_before_the_next_claim_was_granted_is_not_judged() -> None:
    witness = Witness(NAMES)
    witness.answered(claim(b"old"), [[b"claimed", 1]])
    witness.asked(commit(b"old"))
    witness.answered(claim(b"new"), [[b"claimed", 2]])
    witness.answered(commit(b"old"), [[b"done"]])
    witness.answered(commit(b"old"), hiredis.ReplyError("LOADING"))

    assert witness.stale == []


def locking(script: bytes, nonce: bytes) -> Sequence[bytes]:
    args = {b"lock": (b"name", nonce), b"settle": (b"name", nonce, b"0", b"4"), b"note": (nonce, b"failures", b"1")}
    return (b"EVALSHA", script, b"2", b"session", b"lock", *args[script])


def remembering(script: bytes, fence: bytes, nonce: bytes) -> Sequence[bytes]:
    return (b"EVALSHA", script, b"2", b"memory", b"versions", b"name", fence, nonce, b"0")


def test_who_lost_the_lock_of_a_consolidation_and_writes_the_session_is_noticed() -> None:
    granted = [(locking(b"lock", b"old"), [b"locked", 1]), (locking(b"lock", b"new"), [b"locked", 2])]

    assert len(seen(*granted, (locking(b"settle", b"old"), b"done"))) == 1
    assert len(seen(*granted, (locking(b"note", b"old"), b"done"))) == 1
    assert seen(*granted, (locking(b"settle", b"old"), b"stale"), (locking(b"settle", b"new"), b"done")) == []


def test_who_writes_a_memory_that_another_has_opened_since_is_noticed() -> None:
    opened = [(remembering(b"open", fence, nonce), [b"open", []]) for fence, nonce in ((b"1", b"old"), (b"2", b"new"))]
    late, ours = remembering(b"apply", b"1", b"old"), remembering(b"apply", b"2", b"new")

    assert len(seen(*opened, (late, [b"done", []]))) == 1
    assert seen(*opened, (late, [b"lost"]), (ours, [b"done", []])) == []
    assert seen(opened[0], (late, [b"done", []]), opened[1]) == [], "nobody had opened it yet"


CHAT = "support:ann"


def entry(turn: int, *, message_id: str = "", answers: tuple[str, ...] = ()) -> LogEntry:
    wire = msgspec.Raw(msgspec.json.encode({"role": "assistant", "content": "well then"}))
    return LogEntry(time="", turn=turn, tokens=1, id=message_id, answers=answers, wire=wire)


def turn(number: int, *ids: str) -> list[LogEntry]:
    return [*(entry(number, message_id=each) for each in ids), entry(number, answers=ids)]


def place(turn: int, number: int = 1) -> Place:
    return Place(reply=f"{CHAT}#{turn}", part=0, number=number)


def sent(turn: int, number: int = 1, **more: Any) -> Attempt:
    return Attempt(place=place(turn, number), **{"leader": "first", **more})


def line(turn: int, number: int = 1, action: str = RESENT) -> Outcome:
    return Outcome(place=place(turn, number), action=action)


CLEAN = Record(
    accepted={CHAT: ["a", "b", "c"]},
    logs={CHAT: [*turn(0, "a", "b"), *turn(3, "c")]},
    attempts=[sent(0), sent(3)],
    push=frozenset({CHAT}),
)


def wrong(record: Record) -> set[str]:
    found = tally(record)
    assert found.ok == (not any(vars(found).values()))
    return {kind for kind, findings in vars(found).items() if findings}


def test_nothing_is_wrong_with_a_run_in_which_all_went_well() -> None:
    assert wrong(CLEAN) == set()
    assert re.findall(r"\d+", tally(CLEAN).report()) == ["0"] * len(vars(tally(CLEAN)))


@each_row(
    ("log", "kinds"),
    [
        (turn(0, "a", "b"), {"lost"}),
        ([*turn(0, "a", "b"), entry(3, message_id="c")], {"lost"}),
        ([*turn(0, "a", "b"), *turn(3, "c"), *turn(5, "c")], {"doubled"}),
        ([*turn(0, "a", "b"), *turn(3, "c"), entry(3, answers=("c",))], {"doubled"}),
        ([*turn(0, "a", "c"), *turn(3, "b")], {"disordered"}),
    ],
)
def test_what_is_wrong_in_a_log_is_found(log: list[LogEntry], kinds: set[str]) -> None:
    assert wrong(replace(CLEAN, logs={CHAT: log}, push=frozenset())) == kinds


def test_a_message_that_is_still_queued_is_not_lost() -> None:
    unanswered = replace(CLEAN, logs={CHAT: turn(0, "a", "b")}, push=frozenset())

    assert wrong(replace(unanswered, waiting=frozenset({(CHAT, "c")}))) == set()
    assert wrong(replace(unanswered, waiting=frozenset({("support:bob", "c")}))) == {"lost"}


def test_work_that_has_stopped_is_found() -> None:
    assert wrong(replace(CLEAN, stopped="1 message")) == {"stopped"}


def test_a_run_without_findings_holds_when_its_work_has_ended_and_is_inconclusive_before() -> None:
    assert end_of({"lost": [], "impatient": []}, "").code == HELD
    end = end_of({"lost": [], "impatient": []}, "59 messages not answered")
    assert (end.code, end.text) == (INCONCLUSIVE, "inconclusive: 59 messages not answered")


@each_row("kind", sorted(OF_CHAOS.keys() - LATE))
@each_row("undecided", ["", "59 messages not answered"])
def test_a_proof_breaks_a_run_however_slow_the_machine_was(kind: str, undecided: str) -> None:
    expected = INCONCLUSIVE if undecided and kind in UNFINISHED else BROKEN

    assert end_of({kind: ["something"], "impatient": ["a turn waited 9 s"]}, undecided).code == expected


def test_losses_doubles_and_wrong_orders_are_proofs_in_an_unfinished_run_too() -> None:
    assert not UNFINISHED & {"lost", "doubled", "disordered", "stale", "shuffled", "rerun", "backward", "stopped"}


@each_row("kind", sorted(LATE))
def test_a_run_that_was_only_late_is_inconclusive_and_says_why(kind: str) -> None:
    end = end_of({kind: ["it took 9 s"], "lost": []}, "")

    assert end.code == INCONCLUSIVE
    assert "it took 9 s" in end.text


def drained(*looks: tuple[float, int], done: Sequence[int] = (), disturbed: bool = False) -> Drain:
    """What a wait of 300 s at most finds, or 120 s without progress, that sees so many messages at each time."""
    drain = Drain(limit_s=300.0, still_s=120.0)
    for number, (at_s, count) in enumerate(looks):
        if not drain.goes_on(at_s, {"messages": count}, done=done[number] if done else 0, disturbed=disturbed):
            break
    return drain


def test_a_drain_in_which_answers_come_slowly_has_not_stopped_and_is_undecided_at_its_limit() -> None:
    drain = drained((0, 5), (110, 4), (220, 3), (301, 2))

    assert (drain.stopped, drain.undecided) == ("", "2 messages after 300 s, and the work had not stopped")


def test_a_drain_in_which_no_answer_comes_has_stopped() -> None:
    drain = drained((0, 5), (1, 5), (121, 5))

    assert (drain.stopped, drain.undecided) == ("5 messages: nothing has moved for 120 s", "")
    assert drained((0, 3), (100, 5), (121, 4)).stopped, "what only comes back is no progress"


def test_a_drain_to_the_end_says_nothing() -> None:
    drain = drained((0, 5), (100, 0))

    assert (drain.stopped, drain.undecided, drain.left) == ("", "", {"messages": 0})


def test_a_drain_goes_on_while_other_work_is_done_or_a_process_starts_or_the_server_is_away() -> None:
    assert not drained((0, 5), (110, 5), (220, 5), done=(1, 2, 3)).stopped
    assert not drained((0, 5), (121, 5), (250, 5), disturbed=True).stopped
    assert not drained((0, 5), (121, -1), (230, 5)).stopped
    assert drained((0, 5), (121, 5), (301, 5), disturbed=True).undecided


async def test_a_session_that_rests_after_deaths_of_its_workers_has_not_stopped(bus: Bus, tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, {}, sabotage="")
    session, now_ms = bus.keys.session("web:s01"), await server_ms(bus)
    await bus.call("ZADD", bus.keys.due(0), now_ms + 9_000, "web:s01")
    await bus.call("HSET", session, "parked_why", "death: 5 workers died", "retry_at", now_ms + 320_000)

    assert await fleet.is_disturbed(bus)
    await bus.call("HSET", session, "retry_at", now_ms)
    assert not await fleet.is_disturbed(bus), "its rest is over"
    await bus.call("HSET", session, "parked_why", "server: it is away", "retry_at", now_ms + 320_000)
    assert not await fleet.is_disturbed(bus), "nobody died"
    await bus.call("DEL", session, bus.keys.due(0))


def test_a_run_that_did_too_little_proves_nothing() -> None:
    run = Trial(HELD, "Plan(kills=9)\nCounts(kills=2, late=7)\n     0  messages doubled in a log\nheld")

    assert run.found == {"messages doubled in a log": 0}
    assert run.undecided({"kills": 2, "late": 7}) == ""
    assert run.undecided({"kills": 3}).startswith("inconclusive: too little was done, {'kills': 2} of {'kills': 3}")
    assert Trial(INCONCLUSIVE, "inconclusive: too slow").undecided({}) == "inconclusive: too slow"


def test_what_is_wrong_at_the_platform_is_found() -> None:
    assert wrong(replace(CLEAN, attempts=[sent(0)])) == {"unsent"}
    assert wrong(replace(CLEAN, attempts=[sent(3), sent(0)])) == {"shuffled"}
    assert wrong(replace(CLEAN, stale=["somebody"])) == {"stale"}
    assert wrong(replace(CLEAN, unmarked=["something"])) == {"unmarked"}


def message(**fields: Any) -> LogEntry:
    return LogEntry(time="", turn=0, tokens=1, wire=msgspec.Raw(msgspec.json.encode(fields)))


def calling(*names: str) -> LogEntry:
    calls = [{"id": name, "type": "function", "function": {"name": "note", "arguments": "{}"}} for name in names]
    return message(role="assistant", tool_calls=calls)


def result(name: str, content: str) -> LogEntry:
    return message(role="tool", tool_call_id=name, content=content)


def run(name: str, place: str) -> Run:
    return Run(session=CHAT, turn=0, place=place, call=name, job=f"m-{place}")


A, B, C = run("a", "1-0"), run("b", "1-1"), run("c", "4-0")
TOOLS = Record(
    accepted={CHAT: ["m"]},
    logs={
        CHAT: [
            *(entry(0, message_id="m"), calling("a", "b"), result("b", INTERRUPTED), result("a", "noted a")),
            *(calling("c"), result("c", "noted c"), entry(0, answers=("m",))),
        ]
    },
    runs=Runs(began=(A, B, C), ended=frozenset({A, C})),
    told=Told(results={"a": {"noted a"}, "b": {INTERRUPTED}, "c": {"noted c"}}),
)


def with_log(*changes: tuple[int, LogEntry | None]) -> Record:
    """The same with some entries of the log replaced, or taken out."""
    log = list[LogEntry | None](TOOLS.logs[CHAT])
    for at, changed in changes:
        log[at] = changed
    return replace(TOOLS, logs={CHAT: [each for each in log if each is not None]})


def test_nothing_is_wrong_with_tools_that_ran_once_and_of_which_the_model_was_told() -> None:
    assert wrong(TOOLS) == set()


def test_a_tool_that_ran_twice_is_found_whatever_the_model_called_it_the_second_time() -> None:
    again = replace(B, call="d", turn=1, place="2-0")

    assert wrong(replace(TOOLS, runs=Runs(began=(A, B, C, A), ended=TOOLS.runs.ended))) == {"rerun"}
    assert wrong(replace(TOOLS, runs=Runs(began=(A, B, C, again), ended=TOOLS.runs.ended))) == {"rerun", "unrecorded"}


def test_a_tool_that_ran_for_no_call_on_record_is_found() -> None:
    assert wrong(replace(TOOLS, runs=Runs(began=(A, B, C, run("e", "9-0")), ended=TOOLS.runs.ended))) == {"unrecorded"}


def test_calls_and_results_that_do_not_belong_together_are_found() -> None:
    assert wrong(with_log((2, None))) == {"mismatched", "untold"}
    assert wrong(with_log((2, result("a", "noted a")))) == {"mismatched", "untold"}
    assert wrong(with_log((5, result("a", "noted a")))) == {"mismatched", "untold"}, "an earlier answer's"
    assert wrong(with_log((3, result("z", "noted z")))) == {"mismatched", "untold"}


def test_a_result_that_no_run_gave_is_found() -> None:
    assert wrong(with_log((2, result("b", "noted b")))) == {"invented", "untold"}
    assert wrong(replace(TOOLS, runs=replace(TOOLS.runs, ended=frozenset({A})))) == {"invented"}


def test_a_model_that_was_told_something_else_or_nothing_is_found() -> None:
    told = TOOLS.told.results

    assert wrong(replace(TOOLS, told=Told(results={**told, "b": set()}))) == {"untold"}
    assert wrong(replace(TOOLS, told=Told(results={**told, "b": {INTERRUPTED, "noted b"}}))) == {"untold"}


def test_what_is_noted_is_read_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes"

    assert read(notes) == Runs()
    for word, each in ((BEGAN, A), (BEGAN, B), (ENDED, A)):
        append(notes, word, each)
    assert read(notes) == Runs(began=(A, B), ended=frozenset({A}))


def test_the_model_of_a_run_calls_at_once_and_one_after_the_other_and_no_id_twice() -> None:
    talker, messages = Talker(), [{"role": "user", "content": "note 2 1 for m"}]

    asked = []
    while calls := talker({"messages": messages}).calls:
        asked.append([call.id for call in calls])
        messages.append({"role": "assistant", "tool_calls": [{"id": call.id} for call in calls]})
        messages += [{"role": "tool", "tool_call_id": call.id, "content": f"noted {call.id}"} for call in calls]

    assert asked == [["call_0", "call_1"], ["call_2"]]
    assert talker.told == Told(results={f"call_{number}": {f"noted call_{number}"} for number in range(3)})


def listing(attempts: Sequence[Attempt], *lines: Outcome, noted: Sequence[Place] = (), **leaders: str) -> set[str]:
    """What is wrong when the first reply was sent like that; ``leaders``: who began those that did not arrive."""
    began = {attempt.place: attempt.leader for attempt in attempts}
    began |= {place(0, int(number.removeprefix("at"))): leader for number, leader in leaders.items()}
    book = Book(asked={str(each): each for each in began}, leaders=began, noted=set(noted))
    return wrong(replace(CLEAN, attempts=[*attempts, sent(3)], unknown=lines, book=book))


CUT, AGAIN = sent(0, answered=False), sent(0, 2)
LOST = sent(0, taken=False, answered=False)
REFUSED = sent(0, taken=False)


def test_a_part_that_was_cut_is_sent_once_more_and_listed() -> None:
    assert listing([CUT, AGAIN], line(0)) == set()
    assert listing([AGAIN, CUT], line(0)) == set(), "what was stopped before it left may arrive last"
    assert listing([LOST, AGAIN], line(0)) == set()
    assert listing([AGAIN], line(0), at1="first") == set(), "marked, and its sender died before it left"
    assert listing([REFUSED, AGAIN]) == set(), "a refusal that was heard"


def test_an_answer_that_nobody_noted_is_unknown_only_to_another_leader() -> None:
    assert listing([sent(0), sent(0, 2, leader="second")], line(0)) == set()
    assert listing([sent(0), AGAIN], line(0)) == {"unfounded"}
    assert listing([sent(0, in_time=False), AGAIN], line(0)) == set(), "it had given up waiting"
    assert listing([REFUSED, AGAIN], line(0)) == {"unfounded"}


@each_row("first", [CUT, LOST, sent(0, leader="dead")])
def test_what_is_sent_again_and_not_listed_is_found(first: Attempt) -> None:
    assert listing([first, AGAIN]) == {"unlisted"}
    assert listing([first, replace(AGAIN, place=place(0))]) == {"unlisted"}, "the same attempt twice"


def test_what_was_gone_on_with_and_not_listed_is_found_though_nothing_arrived() -> None:
    assert "unlisted" in listing([CUT], at2="second")


def test_a_line_without_an_attempt_is_found() -> None:
    assert listing([sent(0)], line(0)) == {"unfounded"}, "nothing followed"
    assert listing([sent(0, 2)], line(0)) == {"unfounded"}, "nobody ever asked for the first"
    assert listing([CUT, AGAIN], line(0), noted=[place(0)]) == {"unfounded"}, "its outcome was noted"


def test_a_part_is_sent_again_only_once_and_then_given_up() -> None:
    cut_again, given_up = replace(AGAIN, answered=False), line(0, 2, GIVEN_UP)

    assert listing([CUT, cut_again], line(0), given_up, at3="first") == set()
    assert listing([CUT, cut_again], given_up, at3="first") == {"unlisted"}
    assert listing([CUT, cut_again, sent(0, 3)], line(0), line(0, 2)) == {"unlisted"}
    assert listing([CUT, cut_again, sent(0, 3)], line(0), given_up) == {"unlisted"}


def test_as_many_parts_arrive_twice_as_are_listed_so() -> None:
    attempts, lines = [CUT, AGAIN, replace(LOST, place=place(3)), sent(3, 2)], [line(0), line(3)]

    assert (doubled(attempts), listed_doubled(attempts, lines)) == (1, 1)
    assert (doubled(attempts), listed_doubled(attempts, lines[1:])) == (1, 0)


def test_of_a_part_that_was_given_up_no_order_is_expected() -> None:
    lines = (line(0), line(0, 2, GIVEN_UP))

    assert listing([], *lines, at1="first", at2="first", at3="first") == set()
    assert wrong(replace(CLEAN, attempts=[sent(3), CUT], unknown=[line(0, 1, GIVEN_UP)])) == {"unlisted", "unfounded"}


async def test_the_platform_knows_whether_its_answer_was_taken_in() -> None:
    leave_early, in_time = 0.05, 5.0
    async with (
        sink([None, Refuse(429), Garbled(), CutOff(), Slow(0.3), Hang()]) as platform,
        httpx2.AsyncClient() as client,
    ):
        for timeout_s in (in_time, in_time, in_time, in_time, leave_early, leave_early):
            with suppress(httpx2.TransportError):
                await client.post(platform.url, json={}, timeout=timeout_s)
        await platform.settled()

    assert [attempt.answered for attempt in platform.attempts] == [True, True, True, False, False, False]


async def test_the_platform_knows_that_its_answer_lay_unread_when_its_sender_was_killed() -> None:
    async with sink() as platform:
        _, _, port = platform.url.strip("/").rpartition(":")
        request = b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
        asks = f"s = socket.create_connection(('127.0.0.1', {port})); s.sendall({request}); time.sleep(60)"
        sender = await anyio.open_process([sys.executable, "-c", f"import socket, time; {asks}"])
        await platform.asked(1)
        sender.kill()
        await sender.wait()
        await platform.settled()

    assert [(attempt.delivered, attempt.answered) for attempt in platform.attempts] == [(True, False)]


def marking(nonce: bytes, *steps: tuple[str, int, str]) -> Sequence[bytes]:
    """Steps: what, attempt and mark; all of the first part of one reply."""
    args = [arg for what, number, mark in steps for arg in (what, "1-1", 0, number, mark, 1, "", "")]
    keys = [b"leader", b"out", b"unknown", *(key for _ in steps for key in (b"mp:{0}:sent:r#0", b"traces"))]
    shared = (nonce, b"1", b"1", b"1", b"1", b"5", b"1")
    return (b"EVALSHA", b"k", str(len(keys)).encode(), *keys, *shared, pack(args))


def test_marks_are_entered_in_the_book() -> None:
    witness, first = Witness(NAMES), Place(reply="r#0", part=0, number=1)
    command = marking(b"n", ("sending", 1, "n-0"), ("sent", 1, "n-0"))

    witness.asked(command)
    witness.answered(command, [b"send", 0, b"noted", 0])

    assert witness.book == Book(asked={"n-0": first}, leaders={first: "n"}, noted={first})


def test_a_mark_by_a_leader_whose_lease_went_to_another_is_noticed() -> None:
    lead = {nonce: (b"EVALSHA", b"l", b"1", b"leader", nonce, b"0", b"1", b"w") for nonce in (b"old", b"new")}
    granted = [(lead[b"old"], [b"held", 1, 9]), (lead[b"new"], [b"held", 2, 9])]
    mark = ("sending", 1, "m")

    assert seen(*granted, (marking(b"new", mark), [b"send", 0]), (marking(b"old", mark), [b"stale", 0])) == []
    assert len(seen(*granted, (marking(b"old", mark), [b"send", 0]))) == 1
