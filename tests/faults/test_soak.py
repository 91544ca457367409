"""The soak's own judgement: what is planted is found, what is well is left alone; and that its parts do their work."""

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.events import LogEntry
from daemon.tokens import load
from tests.chaos.ends import BROKEN, HELD, INCONCLUSIVE, LATE
from tests.chaos.marks import mark, marked, told
from tests.chaos.outcomes import GIVEN_UP, RESENT
from tests.chaos.tally import Record, Tally, tally
from tests.fakes.openai_server import Received, Say
from tests.soak import sent
from tests.soak.__main__ import plan_of
from tests.soak.chats import Chat, Crowd
from tests.soak.disk import small_disk
from tests.soak.findings import NOT_LOOKED_AT, OF_CHAOS, OWN, Findings
from tests.soak.flat import MIB, Limits, Sample, Span, growing, least, rise, slope
from tests.soak.gauges import Gauges, sample
from tests.soak.judged import LIMITS as LIMITS_OF_ALL
from tests.soak.judged import growth_of
from tests.soak.mind import HEARD, MOODS, SHORTENED, Mind
from tests.soak.plan import DISK, KILL, MODEL, PAUSE, ROLL, SERVER, SERVER_UNTIL, Plan, troubles
from tests.soak.readers import Reader, unseen
from tests.soak.sent import Reply, Talk
from tests.tables import each_row

RUN = Span(began_s=0.0, seconds=200.0)
FEW = 30  # examples of what is looked at hundreds of times in each
LIMITS = {"agent": Limits(memory=10 * MIB, files=8.0)}


def samples(
    memory: Sequence[float],
    files: Sequence[int] = (),
    *,
    indexes: Sequence[int] = (),
    name: str = "agent-0",
    pid: int = 7,
    keys: int = 0,
) -> list[Sample]:
    """One a second."""
    return [
        Sample(
            name=name,
            pid=pid,
            at_s=float(at),
            memory=int(held * MIB),
            files=files[at] if files else 20,
            cpu_s=0.0,
            keys=keys * at,
            indexes=indexes[at] if indexes else 0,
        )
        for at, held in enumerate(memory)
    ]


@settings(max_examples=FEW)
@given(rise_per_s=st.floats(-5.0, 5.0), begins=st.floats(0.0, 1e3), count=st.integers(2, 100))
def test_a_straight_line_has_its_own_slope(rise_per_s: float, begins: float, count: int) -> None:
    line = [(float(at), begins + rise_per_s * at) for at in range(count)]

    assert slope(line) == pytest.approx(rise_per_s, abs=1e-6)


@settings(max_examples=FEW)
@given(st.lists(st.tuples(st.floats(0.0, 1e4), st.floats(0.0, 1e9)), max_size=60))
def test_no_sample_makes_it_fail(points: list[tuple[float, float]]) -> None:
    assert set(least(points)) <= set(points)
    assert isinstance(rise(points), float)


@settings(max_examples=FEW)
@given(burst=st.floats(0.0, 60.0), seed=st.integers(0, 1_000))
def test_what_is_held_for_a_moment_is_no_leak(burst: float, seed: int) -> None:
    # In each ten seconds there is a quiet one, whatever happens in the others.
    dice = random.Random(seed)
    quiet = {start + dice.randrange(10) for start in range(0, 200, 10)}
    memory = [100.0 + (0.0 if at in quiet else dice.uniform(0.0, burst)) for at in range(200)]

    assert list(growing(samples(memory), RUN, LIMITS)) == []


@settings(max_examples=FEW)
@given(leak=st.floats(0.25, 5.0), burst=st.floats(0.0, 5.0), seed=st.integers(0, 1_000))
def test_a_leak_of_memory_is_found_under_what_is_held_for_a_moment(leak: float, burst: float, seed: int) -> None:
    dice = random.Random(seed)
    memory = [100.0 + leak * at + dice.uniform(0.0, burst) for at in range(200)]

    [found] = growing(samples(memory), RUN, LIMITS)

    assert found.startswith("agent-0: its memory rose by")


def test_a_leak_of_files_is_found() -> None:
    files = [20 + at // 5 + at % 3 for at in range(200)]

    [found] = growing(samples([100.0] * 200, files), RUN, LIMITS)

    assert found.startswith("agent-0: its open files rose by")


def test_what_is_held_for_search_indexes_is_no_leak_until_there_are_too_many() -> None:
    limits = {"agent": Limits(indexes=600)}
    opened = [at * 2 for at in range(200)]
    memory = [100.0 + 0.2 * number for number in opened]

    assert list(growing(samples(memory, indexes=opened), RUN, limits)) == []
    [too_much] = growing(samples([memory[at] + at for at in range(200)], indexes=opened), RUN, limits)
    assert too_much.startswith("agent-0: its memory rose by")
    [too_many] = growing(samples([100.0] * 200, indexes=[601] * 200), RUN, limits)
    assert too_many == "agent-0: 601 files of search indexes are open (at most 600)"


def test_a_leak_is_found_though_search_indexes_are_opened_meanwhile() -> None:
    # What was allowed for each of their files was eight times what was measured: in a short run no leak was above that.
    opened = [at * 3 // 2 for at in range(200)]
    leaked = [17 / 16 * at for at in range(200)]  # 17 turns a second, half of them all, with 64 KiB each
    memory = [200.0 + 0.06 * files + leak for files, leak in zip(opened, leaked, strict=True)]
    short = Span(began_s=0.0, seconds=100.0)

    limits = {"agent": LIMITS_OF_ALL["agent"]}
    [found] = growing(samples(memory, indexes=opened), short, limits)

    assert found.startswith("agent-0: its memory rose by")


def test_what_a_process_takes_when_it_begins_is_no_leak() -> None:
    memory = [min(160.0, 50.0 + 2.0 * at) for at in range(200)]

    assert list(growing(samples(memory), RUN, LIMITS)) == []


def later(by_s: float, found: Sequence[Sample]) -> list[Sample]:
    return [replace(each, at_s=each.at_s + by_s) for each in found]


def test_each_life_is_judged_by_itself() -> None:
    # It was killed, and the one that followed holds more than it did, all the time.
    first, second = samples([100.0] * 150, pid=1), later(150.0, samples([150.0] * 50, pid=2))

    assert list(growing([*first, *second], RUN, LIMITS)) == []


def test_what_did_not_live_for_long_enough_is_not_judged_and_nothing_before_the_middle_of_a_run() -> None:
    leaking = samples([50.0 + at for at in range(40)])

    assert list(growing(later(155.0, leaking), RUN, LIMITS)) == []
    assert list(growing(later(50.0, leaking), RUN, LIMITS)) == []
    assert len(list(growing(later(40.0, leaking), Span(began_s=0.0, seconds=80.0), LIMITS))) == 1


def test_what_a_server_keeps_for_others_is_no_leak_of_its_own() -> None:
    memory = [20.0 + at for at in range(200)]

    assert list(growing(samples(memory, keys=MIB), RUN, LIMITS)) == []
    assert len(list(growing(samples(memory), RUN, LIMITS))) == 1


def test_only_who_has_a_limit_is_judged() -> None:
    assert list(growing(samples([float(at) for at in range(200)], name="driver-0"), RUN, LIMITS)) == []


async def test_a_sample_tells_what_a_process_holds(tmp_path: Path) -> None:
    search = tmp_path / "search"
    search.mkdir()
    before = sample("agent-0", os.getpid(), 0.0, searched=search)
    ballast = b"x" * (64 * MIB)
    with (tmp_path / "file").open("w"), (search / "index").open("w"):
        after = sample("agent-0", os.getpid(), 1.0, searched=search)

    assert (after.files, after.indexes) == (before.files + 1, before.indexes + 1)
    assert after.memory >= before.memory + len(ballast) // 2
    assert after.cpu_s >= before.cpu_s > 0.0


def test_the_time_used_is_that_of_all_who_filled_a_place() -> None:
    gauges = Gauges(dict, Path(), lambda: None)
    first = [replace(one, cpu_s=10.0 + one.at_s) for one in samples([1.0] * 10, pid=1)]
    second = [replace(one, at_s=20.0 + one.at_s, cpu_s=one.at_s / 2) for one in samples([1.0] * 10, pid=2)]
    gauges.samples = [*first, *second]

    # What was used before the run had begun is not its own.
    assert gauges.cpu_s(5.0) == {"agent-0": pytest.approx(5.0 + 4.5)}


def a_talk(count: int, **more: Any) -> Talk:
    replies = [Reply(turn=2 * at, text=HEARD + told({"s01": frozenset({at})}), answers=[at]) for at in range(count)]
    shown = [reply.text for reply in replies]
    return replace(Talk(session="lake:1", name="s01", replies=replies, shown=shown), **more)


def wrong_with(talk: Talk) -> set[str]:
    return {check.__name__ for check in sent.CHECKS if list(check(talk))}


@given(st.integers(0, 20))
def test_a_talk_in_which_all_is_well_is_left_alone(count: int) -> None:
    assert wrong_with(a_talk(count)) == set()
    assert wrong_with(a_talk(count, shown=None)) == set()


@given(count=st.integers(1, 20), at=st.integers(0, 19))
def test_a_lost_reply_is_found_unless_it_is_given_up(count: int, at: int) -> None:
    whole = a_talk(count)
    shown = [reply.text for reply in whole.replies if reply.turn != 2 * (at % count)]

    assert wrong_with(replace(whole, shown=shown)) == {"unsent"}
    assert wrong_with(replace(whole, shown=shown, listed={2 * (at % count): [RESENT, GIVEN_UP]})) == set()
    assert sent.given_up(replace(whole, listed={2 * (at % count): [RESENT, GIVEN_UP]})) == 1


@given(count=st.integers(1, 20), at=st.integers(0, 19))
def test_a_doubled_reply_is_found_unless_it_is_listed_and_a_third_one_always(count: int, at: int) -> None:
    whole = a_talk(count)
    again = whole.replies[at % count]
    twice, listed = [*(whole.shown or ()), again.text], {again.turn: [RESENT]}

    assert wrong_with(replace(whole, shown=twice)) == {"unlisted"}
    assert wrong_with(replace(whole, shown=twice, listed=listed)) == set()
    assert wrong_with(replace(whole, shown=[*twice, again.text], listed=listed)) == {"unlisted"}
    assert sent.doubled(replace(whole, shown=twice)) == 1


@given(count=st.integers(2, 20), at=st.integers(0, 18))
def test_replies_in_another_order_are_found(count: int, at: int) -> None:
    whole = a_talk(count)
    shown, first = list(whole.shown or ()), at % (count - 1)
    shown[first], shown[first + 1] = shown[first + 1], shown[first]

    assert wrong_with(replace(whole, shown=shown)) == {"shuffled"}


def test_a_reply_that_nobody_gave_is_found() -> None:
    assert wrong_with(a_talk(3, shown=[*(a_talk(3).shown or ()), "heard s01: 7-7"])) == {"made_up"}


def test_a_turn_that_answers_what_it_was_not_shown_is_found() -> None:
    whole = a_talk(3)
    replies = [*whole.replies[:2], replace(whole.replies[2], answers=[2, 3])]

    assert wrong_with(replace(whole, replies=replies)) == {"unheard"}


def test_of_what_has_no_room_the_newest_is_to_be_shown() -> None:
    whole = a_talk(1)

    def answering(*numbers: int) -> set[str]:
        replies = [replace(whole.replies[0], text=f"heard s01: 0-3 9-9{SHORTENED}", answers=numbers)]
        return wrong_with(replace(whole, replies=replies, shown=None))

    assert answering(0, 1, 5, 9) == set()
    assert answering(0, 1, 5) == {"unheard"}


def entry(content: str, turn: int, **more: Any) -> LogEntry:
    wire = msgspec.Raw(msgspec.json.encode({"role": "user" if "id" in more else "assistant", "content": content}))
    return LogEntry(time="2026-11-22T09:00:00.000Z", turn=turn, tokens=1, wire=wire, **more)


def a_log(count: int) -> list[LogEntry]:
    said = [(entry("x", 2 * at, id=f"m{at}"), entry("y", 2 * at, answers=(f"m{at}",))) for at in range(count)]
    return [one for turn in said for one in turn]


@each_row(
    ("spoil", "kind"),
    [
        (lambda log: [one for one in log if one.id != "m3"], "lost"),
        (lambda log: [one for one in log if one.answers != ("m3",)], "lost"),
        (lambda log: [*log, *log[4:6]], "doubled"),
        (lambda log: [*log[2:4], *log[:2], *log[4:]], "disordered"),
    ],
)
def test_a_message_that_is_lost_doubled_or_out_of_order_in_a_log_is_found(spoil: Any, kind: str) -> None:
    accepted = {"site:s01": [f"m{at}" for at in range(6)]}
    well, ill = Findings(), Findings()

    well.take(tally(Record(accepted=accepted, logs={"site:s01": a_log(6)})))
    ill.take(tally(Record(accepted=accepted, logs={"site:s01": spoil(a_log(6))})))

    assert well.end("").code == HELD
    assert ill.end("").code == ill.end("5 not answered").code == BROKEN
    assert ill.lines[kind].found


def test_each_kind_of_the_chaos_run_is_looked_at_here_or_knowingly_not() -> None:
    assert OF_CHAOS.keys() == set(Tally.__annotations__)
    assert OF_CHAOS.keys() >= NOT_LOOKED_AT


@each_row("kind", sorted({*OWN, *OF_CHAOS.keys() - NOT_LOOKED_AT}))
def test_whatever_is_found_makes_a_run_fail_and_is_shown(kind: str) -> None:
    findings = Findings()
    findings.add(kind, ["something about a pond"])

    assert findings.end("").code == (INCONCLUSIVE if kind in LATE else BROKEN)
    assert "something about a pond" in findings.report()
    assert Findings().end("").code == HELD


def test_a_rate_that_the_machine_could_not_keep_is_inconclusive_and_a_loss_beside_it_is_not() -> None:
    findings = Findings()
    findings.add("slow", ["3.0 messages a second were answered, 50 were asked for"])
    assert findings.end("").code == INCONCLUSIVE
    assert "3.0 messages a second" in findings.end("").text

    findings.add("unsent", ["lake:1 turn 3"])
    assert findings.end("").code == BROKEN
    assert findings.end("7 not sent by lake").code == INCONCLUSIVE, "it may still come"
    findings.add("unlisted", ["lake:1 turn 3: shown 2 times, listed 0 times"])
    assert findings.end("7 not sent by lake").code == BROKEN


def test_a_growth_is_a_proof_in_a_run_of_many_messages_that_kept_its_rate() -> None:
    assert growth_of(9_000, is_slow=False) == "growing"
    assert growth_of(9_000, is_slow=True) == growth_of(800, is_slow=False) == "warming"


def test_twice_the_patience_is_as_many_messages_in_twice_the_time() -> None:
    plan = plan_of(["--seconds", "180", "--rate", "50", "--patience", "2"])

    assert (plan.seconds, plan.rate) == (360.0, 25.0)
    assert plan.drain.limit_s == 2 * Plan().drain.limit_s


def shown(*indexes: int) -> Reader:
    async def say(_chat: Chat, _text: str) -> None: ...

    reader = Reader(None, Chat(name="s01", channel="site", say=say, session="site:s01"), random.Random(1))  # type: ignore[arg-type]
    for index in indexes:
        reader.see(index)
    return reader


def test_a_reader_who_misses_a_message_or_sees_one_twice_is_found() -> None:
    assert shown(0, 1, 2).wrong == []
    assert len(shown(0, 2, 3).wrong) == 1
    assert len(shown(0, 1, 1, 2).wrong) == 1
    assert len(unseen([shown(0, 1), shown(0, 1), shown()], [2, 3, 0])) == 1


@settings(max_examples=FEW)
@given(seconds=st.sampled_from([180.0, 600.0, 3_600.0]), seed=st.integers(0, 1_000))
def test_a_seed_tells_what_goes_wrong_and_everything_does(seconds: float, seed: int) -> None:
    plan = Plan(seconds=seconds, seed=seed)
    planned = troubles(plan)
    at = [trouble.at_s for trouble in planned]

    assert planned == troubles(plan)
    assert {trouble.kind for trouble in planned} == {KILL, PAUSE, SERVER, ROLL, MODEL, DISK}
    assert at == sorted(at)
    assert 0.0 < at[0] < at[-1] < seconds
    # Every process is restarted in order while it may be, and the server grows as old as has to be.
    assert any(trouble.kind == ROLL and trouble.elders for trouble in planned)
    assert all(one.at_s <= SERVER_UNTIL * seconds for one in planned if one.kind in (SERVER, DISK))


@given(st.floats(1.0, 60.0))
def test_however_short_a_run_is_it_has_a_plan(seconds: float) -> None:
    assert all(0.0 <= trouble.at_s <= seconds for trouble in troubles(Plan(seconds=seconds)))


async def test_a_chat_says_one_thing_after_the_other() -> None:
    heard: list[tuple[str, int]] = []

    async def say(chat: Chat, text: str) -> None:
        await anyio.sleep(0.001)
        heard.extend((name, number) for name, numbers in marked(text).items() for number in numbers)

    channels = ("site", "support", "lake", "work", "terminal")
    chats = [Chat(name=f"s{at:02}", channel=channels[at % 5], say=say) for at in range(15)]
    crowd = Crowd(chats, random.Random(1))
    async with anyio.create_task_group() as tg:
        for _ in range(40):
            if found := crowd.next():
                tg.start_soon(crowd.speak, *found)

    assert sum(chat.count for chat in chats) == crowd.said.total() == len(heard) > 15
    assert all([n for name, n in heard if name == chat.name] == list(range(chat.count)) for chat in chats)
    assert crowd.rest == 0


class _Server:
    requests: list[Received]

    def ask(self, mind: Mind, text: str) -> Any:
        body: Mapping[str, Any] = {"messages": [{"role": "system", "content": "x"}, {"role": "user", "content": text}]}
        self.requests = [Received(path="", headers={}, raw=msgspec.json.encode(body), body=dict(body))]
        return mind(body)


@pytest.fixture
async def mind() -> Mind:
    found = Mind(await load("soak"), {"s01": "p1", "s02": "p1", "s03": "p2"}, random.Random(1))
    found.server = _Server()  # type: ignore[assignment]
    return found


async def test_a_prompt_that_shows_what_others_said_is_found(mind: Mind) -> None:
    server: Any = mind.server

    assert server.ask(mind, f"{mark('s01', 3)} hello {mark('s01', 4)}") == Say("heard s01: 3-4")
    server.ask(mind, f"{mark('s01', 3)} hello {mark('s02', 4)}")  # the same person's
    assert mind.strange == []
    server.ask(mind, f"{mark('s01', 3)} hello {told({'s03': frozenset({1})})}")

    assert len(mind.strange) == 1


@each_row("mood", MOODS)
async def test_a_bad_mood_shows_in_some_answers_and_in_none_afterwards(mind: Mind, mood: str) -> None:
    server: Any = mind.server
    good = Say("heard s01: 3-3")

    mind.mood = mood
    bad = [server.ask(mind, mark("s01", 3)) for _ in range(50)]
    mind.mood = ""

    assert 5 <= sum(answer != good for answer in bad) <= 45
    assert server.ask(mind, mark("s01", 3)) == good


def test_a_small_disk_gets_full_and_has_room_again(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 8) as disk:
        if disk is None:
            pytest.skip("mount needs root with CAP_SYS_ADMIN: no disk can be made full here")
        file = tmp_path / "disk" / "file"
        file.write_bytes(b"x" * MIB)
        disk.fill()
        with pytest.raises(OSError, match="No space left"):
            file.with_name("more").write_bytes(b"x" * MIB)
        disk.empty()
        file.with_name("more").write_bytes(b"x" * MIB)

        assert file.read_bytes() == b"x" * MIB
