"""What the chaos run knows of consolidation: that it would notice, and that its model says what it was shown."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio import Redis

from daemon.events import LogEntry
from daemon.memory import HistoryEntry, Note, Version
from daemon.server import Address
from daemon.tokens import load
from tests.chaos.cursors import Cursors
from tests.chaos.keeper import DEADLY, Keeper
from tests.chaos.kept import Conversation, Kept, Memory
from tests.chaos.marks import heard, mark, marked, together, told
from tests.chaos.shown import COMPRESSED, Gallery, Shown, orphaned, shown
from tests.chaos.tally import Record, Watched, tally
from tests.chaos.waits import SERVER, Halt, impatient, waits
from tests.fakes.openai_server import Hang, Say

SESSION, CHAT, SCOPE = "web:s01", "s01", "pond:person:web:p0"
BUDGET = 1_000


@given(st.dictionaries(st.from_regex(r"s\d\d", fullmatch=True), st.frozensets(st.integers(0, 300), min_size=1)))
def test_what_is_told_is_heard_again(messages: Mapping[str, frozenset[int]]) -> None:
    assert heard(f"# Facts\n{told(messages)}\nand more") == messages


def test_marks_and_what_is_told_of_them_are_not_taken_for_each_other() -> None:
    text = f"{mark('s01', 4)} hello {mark('s02', 17)}"

    assert marked(text) == {"s01": {4}, "s02": {17}}
    assert heard(text) == {}
    assert told(together(marked(text), {"s01": frozenset({3, 5, 9})})) == "s01: 3-5 9-9\ns02: 17-17"
    assert marked(told(marked(text))) == {}


def summary_request(conversation: str, *, memory: str = "(empty)", so_far: str = "") -> dict[str, Any]:
    known = f"\n\n## Summary So Far\n{so_far}" if so_far else ""
    text = f"Do.{known}\n\n## Current Long-term Memory\n{memory}\n\n## Conversation to Process\n{conversation}"
    tools = [{"type": "function", "function": {"name": "save_memory"}}]
    return {"messages": [{"role": "system", "content": "You are."}, {"role": "user", "content": text}], "tools": tools}


def flush_request(conversation: str) -> dict[str, Any]:
    text = f"## Recent Conversation\n{conversation}\n\n## What to Do\ntoday is 2026-11-20 (UTC)"
    system = "Session nearing compaction. Store durable memories now."
    return {"messages": [{"role": "system", "content": system}, {"role": "user", "content": text}]}


def calm(seed: int) -> Keeper:
    keeper = Keeper(random.Random(seed))
    keeper.calm = True
    return keeper


async def test_a_summary_tells_of_everything_it_was_shown_and_of_what_was_known() -> None:
    talk = f"[2026-11-20 09:00] USER: {mark(CHAT, 4)} hello\n[2026-11-20 09:01] USER: {mark(CHAT, 5)} well"

    reply = calm(1)(
        summary_request(talk, memory="s01: 0-3\ns02: 0-7\n\n- s01 up to 3 was kept", so_far="s01: 0-3"), "a"
    )

    assert isinstance(reply, Say)
    fields = json.loads(reply.calls[0].arguments)
    assert fields["history_entry"] == "They talked, s01: 4-5"
    assert fields["memory_update"] == "s01: 0-5\ns02: 0-7"
    assert fields["continuity"] == "s01: 0-5"


async def test_a_silent_turn_keeps_something_now_and_then_and_tells_of_no_message() -> None:
    keeper, talk = calm(1), f"[2026-11-20 09:00] USER: {mark(CHAT, 4)} hello"

    texts = {reply.text for reply in (keeper(flush_request(talk), "a") for _ in range(20)) if isinstance(reply, Say)}

    assert texts == {"NO_REPLY", "# MEMORY.md\n- s01 up to 4 was kept\n# 2026-11-20.md\n- they spoke in s01 up to 4"}
    assert heard("".join(texts)) == {}


async def test_the_first_requests_for_a_doomed_chat_kill_who_makes_them() -> None:
    killed: list[str] = []
    keeper = Keeper(random.Random(1), doomed=[CHAT])
    keeper.calm, keeper.kill = True, killed.append
    request = summary_request(f"USER: {mark(CHAT, 0)}")

    replies = [keeper(each, "worker") for each in (flush_request(mark(CHAT, 0)), *[request] * (DEADLY + 1))]

    assert killed == ["worker"] * DEADLY
    assert [isinstance(reply, Hang) for reply in replies] == [False, *[True] * DEADLY, False]


async def test_who_waits_for_an_answer_is_known_while_it_takes() -> None:
    keeper, request = calm(1), summary_request(mark(CHAT, 0))

    slow = next(each for each in map(str, range(100)) if (reply := keeper(request, each)) and reply.delay_s)

    assert slow in keeper.waiting()
    assert keeper.asked["summaries"] == int(slow) + 1


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_what_a_turn_shows_is_taken_apart() -> None:
    system = {"role": "system", "content": "# Memory\ns01: 0-3\ns02: 0-9"}
    summary = user(f"{COMPRESSED} Transcript: x]\n\ns01: 2-3")
    history = [user(f"{mark(CHAT, 4)} a"), {"role": "assistant", "content": f"about {mark(CHAT, 2)}"}]

    call = shown([system, summary, *history, user(f"{mark(CHAT, 5)} b {mark(CHAT, 6)} c")], 70, now=1.0)

    assert call == Shown(
        chat=CHAT,
        time=1.0,
        messages=frozenset({4, 5, 6}),
        memory=frozenset(range(4)),
        continuity=frozenset({2, 3}),
        tokens=70,
    )
    assert shown([system, user("no mark")]) is None


def test_calls_and_results_apart_are_found() -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]}
    a, b = ({"role": "tool", "tool_call_id": name} for name in "ab")

    assert not list(orphaned([user("x"), call, b, a, user("y")]))
    assert len(list(orphaned([user("x"), call, b, user("y"), a]))) == 2
    assert len(list(orphaned([user("x"), a]))) == 1
    assert len(list(orphaned([user("x"), call]))) == 2


async def test_prompts_above_the_window_or_a_turn_s_budget_are_found() -> None:
    tokenizer = await load("talker")
    gallery = Gallery(tokenizer=tokenizer, window_tokens=100, budget_tokens=60)
    messages = [{"role": "system", "content": "s"}, user(f"{mark(CHAT, 0)} " + "why " * 60)]

    gallery.see({"messages": [messages[0], user(mark(CHAT, 0))], "max_completion_tokens": 50})
    assert (gallery.overfull, len(gallery.calls)) == ([], 1)
    gallery.see({"messages": messages, "max_completion_tokens": 10})
    assert len(gallery.overfull) == 1, "the budget"
    gallery.see({**summary_request("why " * 60), "max_completion_tokens": 10})
    assert len(gallery.overfull) == 2, "the window"
    assert gallery.most_tokens > 60


def entry(number: int) -> LogEntry:
    """A turn of one message; its answer does not matter here."""
    wire = msgspec.json.encode(user(f"{mark(CHAT, number)} hello"))
    return LogEntry(time="", turn=number, tokens=100, id=f"m{number}", wire=msgspec.Raw(wire))


ENTRIES = [entry(number) for number in range(8)]
RAWS = [msgspec.json.encode(each) for each in ENTRIES]
TIME = "2026-11-20T09:00:00.000Z"
LATER = 1_800_000_000.0


def ranged(first: int, upto: int, **more: Any) -> HistoryEntry:
    text = f"[2026-11-20 09:00] They talked, s01: {first}-{upto - 1}"
    fields = {"time": TIME, "session": SESSION, "first": first, "upto": upto, "kind": "summary", "text": text}
    return HistoryEntry(**{**fields, **more})


def raw(first: int, upto: int) -> HistoryEntry:
    marks = "\n".join(mark(CHAT, number) for number in range(first, upto))
    return ranged(first, upto, kind="raw", text=f"[2026-11-20 09:00] [RAW] {upto - first} messages\n{marks}")


HISTORY = [ranged(0, 2), ranged(2, 5)]
VERSIONS = [
    Version(version=1, kind="consolidation", time=TIME, session=SESSION, first=0, upto=2, text="s01: 0-1"),
    Version(version=2, kind="rejected", time=TIME, session=SESSION, text="far too long"),
    Version(version=3, kind="consolidation", time=TIME, session=SESSION, first=2, upto=5, text="s01: 0-4"),
]
CONVERSATION = Conversation(
    session=SESSION,
    scope=SCOPE,
    cursor=5,
    base=5,
    head=len(ENTRIES),
    entries=ENTRIES,
    raws=RAWS,
    archived={at: frozenset({RAWS[at]}) for at in range(5)},
    upto=5,
)
MEMORY = Memory(
    scope=SCOPE,
    text="s01: 0-4",
    version=3,
    history=HISTORY,
    versions=VERSIONS,
    notes=[Note(time=TIME, date="2026-11-20", session=SESSION, cycle=0, text="noted")],
    files={
        "MEMORY.md": "s01: 0-4",
        "HISTORY.md": f"{HISTORY[0].text}\n\n{HISTORY[1].text}\n",
        "2026-11-20.md": "noted\n",
    },
)


def wrong(
    *,
    conversation: Conversation = CONVERSATION,
    memory: Memory = MEMORY,
    doomed: Sequence[str] = (),
    calls: Sequence[Shown] = (),
    **watched: Any,
) -> set[str]:
    kept = Kept(conversations=[conversation], memories={SCOPE: memory}, doomed=doomed)
    seen = Watched(calls=calls, budget_tokens=BUDGET, **watched)
    found = tally(Record(accepted={}, logs={}, kept=kept, watched=seen))
    return {kind for kind, findings in vars(found).items() if findings}


def with_history(*history: HistoryEntry) -> Memory:
    text = "\n".join(f"{each.text}\n" for each in history)
    return replace(MEMORY, history=history, files={**MEMORY.files, "HISTORY.md": text})


def test_nothing_is_wrong_where_all_was_kept() -> None:
    assert wrong() == set()
    assert wrong(memory=with_history(raw(0, 2), ranged(2, 4, lost=True), ranged(2, 5))) == set()


def test_entries_with_gaps_overlaps_or_another_end_are_found() -> None:
    assert wrong(memory=with_history(ranged(0, 2))) == {"untiled"}
    assert wrong(memory=with_history(ranged(0, 2), ranged(3, 5))) == {"untiled"}
    assert wrong(memory=with_history(ranged(0, 3), ranged(2, 5))) == {"untiled"}
    assert wrong(memory=with_history(ranged(0, 2), ranged(0, 2), ranged(2, 5))) == {"untiled"}
    assert wrong(conversation=replace(CONVERSATION, upto=4)) == {"untiled"}


def test_an_entry_of_other_messages_than_its_range_s_is_found() -> None:
    assert wrong(memory=with_history(ranged(0, 2), ranged(2, 5, text="They talked, s01: 2-3"))) == {"unsaid"}
    assert wrong(memory=with_history(ranged(0, 2), replace_text(raw(2, 5), raw(2, 4)))) == {"unsaid"}


def replace_text(entry: HistoryEntry, other: HistoryEntry) -> HistoryEntry:
    return msgspec.structs.replace(entry, text=other.text)


def test_a_summary_that_killed_its_workers_and_was_made_all_the_same_is_found() -> None:
    assert wrong(doomed=[CHAT]) == {"unraw"}
    assert wrong(doomed=["s07"]) == set()
    assert wrong(doomed=[CHAT], memory=with_history(raw(0, 2), ranged(2, 5))) == set()


def test_a_memory_that_is_not_its_newest_version_is_found() -> None:
    stale = {**MEMORY.files, "MEMORY.md": "s01: 0-1"}
    edit = msgspec.structs.replace(VERSIONS[2], kind="edit")
    flushed = [msgspec.structs.replace(VERSIONS[0], version=number, kind="flush") for number in (1, 2)]

    assert wrong(memory=replace(MEMORY, text="s01: 0-1", files=stale)) == {"unversioned"}
    assert wrong(memory=replace(MEMORY, versions=VERSIONS[1:])) == {"unversioned"}
    assert wrong(memory=replace(MEMORY, versions=[*VERSIONS[:2], edit])) == {"unversioned"}, "nobody edits here"
    assert wrong(memory=replace(MEMORY, versions=[*flushed, VERSIONS[2]])) == {"unversioned"}, "a cycle flushed twice"


def test_files_that_hold_something_else_are_found() -> None:
    for name in MEMORY.files:
        assert wrong(memory=replace(MEMORY, files={**MEMORY.files, name: "else"})) == {"unfiled"}
        assert wrong(memory=replace(MEMORY, files={**MEMORY.files, f"2{name}": "else"})) == {"unfiled"}


def test_messages_that_are_archived_otherwise_or_not_at_all_are_found() -> None:
    lacking = {at: raws for at, raws in CONVERSATION.archived.items() if at != 3}

    assert wrong(conversation=replace(CONVERSATION, archived=lacking)) == {"unarchived"}
    assert wrong(conversation=replace(CONVERSATION, archived={**lacking, 3: frozenset({b"x"})})) == {"unarchived"}
    assert wrong(conversation=replace(CONVERSATION, archived={**lacking, 3: frozenset({b"x", RAWS[3]})})) == {
        "unarchived"
    }


def test_messages_that_have_not_left_redis_or_are_nowhere_are_found() -> None:
    assert wrong(conversation=replace(CONVERSATION, base=2)) == {"untrimmed"}
    assert wrong(conversation=replace(CONVERSATION, head=len(ENTRIES) + 1)) == {"untrimmed"}


def test_what_is_held_or_waits_to_be_consolidated_at_the_end_is_found() -> None:
    assert wrong(conversation=replace(CONVERSATION, is_locked=True)) == {"unreleased"}
    assert wrong(conversation=replace(CONVERSATION, is_unsettled=True)) == {"unreleased"}


def test_what_was_seen_under_way_is_found() -> None:
    for kind in ("overfull", "orphaned", "backward", "impatient"):
        assert wrong(**{kind: ["something"]}) == {kind}


def call(*numbers: int, **more: Any) -> Shown:
    return Shown(**{"chat": CHAT, "time": LATER, "messages": frozenset(numbers), "tokens": 300, **more})


ALL = frozenset(range(5))


def test_a_prompt_that_shows_what_moved_from_log_to_memory_misses_nothing() -> None:
    assert (
        wrong(calls=[call(*range(8)), call(5, 6, 7, memory=ALL), call(3, 4, 5, memory=frozenset({0, 1, 2}))]) == set()
    )


def test_a_prompt_that_shows_neither_log_nor_memory_of_a_message_is_found() -> None:
    assert wrong(calls=[call(5, 6)]) == {"missing"}
    assert wrong(calls=[call(5, 6, memory=frozenset({0, 1}))]) == {"missing"}, "a memory older than its log"
    assert wrong(calls=[call(5, 7, memory=ALL)]) == {"missing"}, "a gap"
    assert wrong(calls=[call(6, 7, memory=ALL)]) == {"missing"}, "not consolidated, and there was room"
    assert wrong(calls=[call(5, 6, continuity=ALL)]) == {"missing"}, "MEMORY.md told of it by then"


def test_what_had_no_room_is_not_missed() -> None:
    assert wrong(calls=[call(6, 7, memory=ALL, tokens=900)]) == set()
    assert wrong(calls=[call(5, 7, memory=ALL, is_shortened=True)]) == set()


def test_what_memory_was_never_told_of_stands_elsewhere() -> None:
    unchanged = replace(MEMORY, versions=VERSIONS[:1], text="s01: 0-1", version=1)
    unchanged = replace(unchanged, files={**MEMORY.files, "MEMORY.md": "s01: 0-1"})
    as_it_was = replace(unchanged, history=[ranged(0, 2), raw(2, 5)])
    as_it_was = replace(
        as_it_was, files={**unchanged.files, "HISTORY.md": with_history(*as_it_was.history).files["HISTORY.md"]}
    )
    known = frozenset({0, 1})

    assert wrong(memory=as_it_was, calls=[call(5, 6, memory=known)]) == set(), "a raw entry stands in the history"
    assert wrong(memory=unchanged, calls=[call(5, 6, memory=known)]) == {"missing"}
    assert wrong(memory=unchanged, calls=[call(5, 6, memory=known, continuity=ALL)]) == set()
    assert wrong(memory=as_it_was, calls=[call(5, 6, memory=known, time=0.0)]) == {"missing"}, "not consolidated yet"


def waited(turn: int, waited_s: float) -> str:
    fields = {"timestamp": "2026-11-20T09:00:10.000000Z", "session": SESSION, "turn": turn, "waited_s": waited_s}
    return json.dumps({"event": "turn.waited", **fields})


def test_turns_that_waited_too_long_are_found_in_the_logs(tmp_path: Path) -> None:
    lines = ["Data directory: x", waited(4, 2.0), waited(8, 9.0), json.dumps({"event": "turn.done", "waited_s": 99.0})]
    (tmp_path / "agent-0.log").write_text("\n".join(lines))
    found, at = list(waits(tmp_path)), datetime.fromisoformat("2026-11-20T09:00:10Z").timestamp()

    def halted(name: str) -> list[str]:
        return impatient(found, [Halt(name=name, began=at - 20, ended=at - 2)], most_s=3.0)

    assert impatient(found, [], most_s=3.0) == [f"{SESSION} turn 8 waited 9.0 s"]
    assert halted("agent-0") == halted(SERVER) == [], "seven of its nine seconds were not its own"
    assert len(halted("agent-1")) == 1


async def test_a_cursor_that_goes_back_is_seen(address: Address, prefix: str) -> None:
    keys = [f"{prefix}-a", f"{prefix}-b"]
    async with Redis(port=address.port, password=address.password.reveal()) as redis:
        cursors = Cursors(redis, keys)
        await cursors.look()
        for a, b in ((3, 4), (3, 2), (5, 4)):
            await redis.hset(keys[0], "cursor", str(a))
            await redis.hset(keys[1], "cursor", str(b))
            await cursors.look()

    assert (cursors.looks, cursors.back) == (4, [f"{keys[1]}: from 4 to 2"])
