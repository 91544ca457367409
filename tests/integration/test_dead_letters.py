"""Dead letters: listed, shown, replayed once and in their place, dropped."""

import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio import to_thread
from click.testing import CliRunner, Result

from daemon.bus import Bus, DeadLetter, DeadLetters, LetterSelection, open_bus, replayed, work_off
from daemon.cli.root_command import Options, root
from daemon.config import QueueConfig, RedisConfig
from daemon.errors import BusUnavailable, InboundError
from daemon.events import Reply
from daemon.session import Commit
from daemon.testing import FailingBus
from tests.conftest import Lab, an_entry, an_inbound, check_and_remove_keys
from tests.integration.test_publish import waiting_ids
from tests.tables import each_row

DEAD = "daemon.bus.dead_letters"
EVERYTHING = LetterSelection(everything=True)


async def die(lab: Lab, *ids: str, session: str = "web:ann", reason: str = "attempts") -> None:
    """Have messages accepted and given up, each in a millisecond of its own: they are listed by when they died."""
    for message_id in ids:
        await lab.publish(message_id, session=session)
        claim = await lab.claim(session)
        given_up = Commit(
            entries=(an_entry(claim.begun.head, dead=(message_id,)),), tokens=3,
            answered=tuple(waiting.stream_id for waiting in claim.begun.waiting), dead_reason=reason,
        )  # fmt: skip
        await lab.sessions.commit(claim, given_up, step=0, go_on=False)
        await anyio.sleep(0.002)


@pytest.fixture
def letters(lab: Lab) -> DeadLetters:
    return DeadLetters(lab.bus, lab.queue)


async def the_letter(letters: DeadLetters) -> DeadLetter:
    (letter,) = await letters.newest(limit=10)
    return letter


async def test_a_replayed_message_waits_behind_the_others_under_its_own_id(lab: Lab, letters: DeadLetters) -> None:
    await die(lab, "a")
    await lab.publish("b")
    letter = await the_letter(letters)

    assert await letters.replay(letter) == "replayed"

    assert (letter.id, letter.reason, letter.attempts) == ("a", "attempts", 1)
    assert await waiting_ids(lab) == ["b", "a"]
    assert await letters.newest(limit=10) == []
    claim = await lab.claim()
    following = await lab.commit(claim)
    assert following is not None
    assert following.begun.attempts == 1
    assert following.begun.waiting[0].inbound == an_inbound("a")
    await lab.commit(following)
    log = await lab.log()
    assert [entry.dead for entry in log if entry.dead] == [("a",)]
    assert [entry.answers for entry in log if entry.answers] == [("b",), ("a",)]


async def test_a_replay_wakes_its_session(lab: Lab, letters: DeadLetters) -> None:
    await die(lab, "a")

    await letters.replay(await the_letter(letters))

    assert await lab.ready() == ["web:ann"]
    assert await lab.due() is not None


async def test_a_replay_leaves_the_deadline_of_a_session_that_is_held_or_rests(lab: Lab, letters: DeadLetters) -> None:
    await die(lab, "a", "b")
    first, second = await letters.newest(limit=10)
    await lab.publish("c")
    claim = await lab.claim()
    held = await lab.due()

    await letters.replay(first)
    assert (await lab.due(), await lab.ready()) == (held, [])
    await lab.sessions.back_off(claim, delay_s=60.0)
    resting = await lab.due()
    await letters.replay(second)

    assert (await lab.due(), await lab.ready()) == (resting, [])
    assert await waiting_ids(lab) == ["c", "a", "b"]


async def test_a_replay_that_arrives_twice_or_late_changes_nothing(lab: Lab, letters: DeadLetters) -> None:
    await die(lab, "a")
    letter = await the_letter(letters)

    outcomes = [await letters.replay(letter), await letters.replay(letter)]
    after = await lab.dump()
    await lab.bus.repeat("replay.lua", back=2)

    assert outcomes == ["replayed", "gone"]
    assert await waiting_ids(lab) == ["a"]
    assert await lab.dump() == after


async def test_a_replay_after_a_lost_reply_is_harmless(lab: Lab) -> None:
    await die(lab, "a")
    failing = DeadLetters(FailingBus(lab.bus, at=1, carried_out=True), lab.queue)
    letter = await the_letter(DeadLetters(lab.bus, lab.queue))

    with pytest.raises(BusUnavailable):
        await failing.replay(letter)
    assert await failing.replay(letter) == "gone"

    assert await waiting_ids(lab) == ["a"]


async def test_what_cannot_be_read_cannot_be_replayed_and_says_so(lab: Lab, letters: DeadLetters) -> None:
    fields = ("session", "web:ann", "id", "a", "reason", "unreadable", "attempts", "1", "message", b"{garbage\xff")
    await lab.bus.call("XADD", lab.bus.keys.dead(0), "*", *fields)
    before = await lab.dump()

    with pytest.raises(InboundError, match="its stored message cannot be read"):
        await letters.replay(await the_letter(letters))

    assert await lab.dump() == before


@pytest.mark.parametrize("change", [{"command": "status"}, {"session": "web:bob"}])
async def test_commands_and_foreign_messages_are_not_replayed(lab: Lab, letters: DeadLetters, change: dict[str, Any]):
    payload = msgspec.json.encode(an_inbound("a", **change))
    fields = ("session", "web:ann", "id", "a", "reason", "failed", "attempts", "1", "message", payload)
    await lab.bus.call("XADD", lab.bus.keys.dead(0), "*", *fields)

    with pytest.raises(InboundError):
        await letters.replay(await the_letter(letters))


async def test_a_replay_into_a_full_or_missing_session_leaves_the_letter(lab: Lab, letters: DeadLetters) -> None:
    await die(lab, "a")
    letter = await the_letter(letters)
    for number in range(lab.queue.waiting_max):
        await lab.publish(f"m{number}")

    assert await letters.replay(letter) == "full"
    await lab.bus.call("DEL", lab.bus.keys.session("web:ann"))
    assert await letters.replay(letter) == "unknown"

    assert await letters.newest(limit=10) == [letter]


async def test_a_replayed_reply_goes_back_onto_out_once(lab: Lab, letters: DeadLetters) -> None:
    reply = Reply(id="support:eve#0", session="support:eve", turn=0, text="x", correlation="c")
    payload = msgspec.json.encode(reply)
    fields = ("session", "support:eve", "id", reply.id, "reason", "rejected: no", "attempts", "1", "reply", payload)
    await lab.bus.call("XADD", lab.bus.keys.dead(0), "*", *fields)
    letter = await the_letter(letters)

    assert [await letters.replay(letter), await letters.replay(letter)] == ["replayed", "gone"]

    ((_, found),) = await lab.bus.call("XRANGE", lab.bus.keys.out(0, "support"), "-", "+")
    assert msgspec.json.decode(found[b"reply"], type=Reply) == reply


async def test_all_replays_present_letters_and_none_that_die_meanwhile(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules[DEAD], "PAGE", 2)
    await die(lab, "a", "b", "c")
    await die(lab, "d", reason="ModelTimeout")
    letters = DeadLetters(lab.bus, lab.queue)

    async def work(letters: DeadLetters, letter: DeadLetter) -> str:
        outcome = await replayed(letters, letter)
        claim = await lab.claim()
        again = Commit(entries=(), tokens=0, answered=(claim.begun.waiting[0].stream_id,), dead_reason="again")
        await lab.sessions.commit(claim, again, step=0, go_on=False)
        return outcome

    assert (await work_off(letters, EVERYTHING, work)).outcomes == Counter({"replayed": 4})
    assert [letter.reason for letter in await letters.newest(limit=10)] == ["again"] * 4


async def test_all_goes_on_behind_what_cannot_be_replayed(lab: Lab, letters: DeadLetters) -> None:
    await lab.bus.call("XADD", lab.bus.keys.dead(0), "*", "strange", "fields")
    await die(lab, "a")

    outcomes = (await work_off(letters, EVERYTHING, replayed)).outcomes

    assert outcomes == Counter({"replayed": 1, "cannot be replayed": 1})


@pytest.fixture
async def many(server_dir: Path, prefix: str) -> AsyncIterator[Bus]:
    async with open_bus(RedisConfig(prefix=f"{prefix}-many", partitions=4), server_dir) as bus:
        yield bus
        await check_and_remove_keys(bus)


async def test_letters_of_several_partitions_are_found_with_and_without_it(many: Bus, queue: QueueConfig) -> None:
    lab, letters = Lab(many, queue), DeadLetters(many, queue)
    for name in ("ann", "bob", "cho", "dan"):
        await die(lab, name, session=f"web:{name}")
    partitions = {many.keys.partition(f"web:{name}") for name in ("ann", "bob", "cho", "dan")}

    found = await letters.newest(limit=10)

    assert [letter.id for letter in found] == ["ann", "bob", "cho", "dan"]
    assert len(partitions) > 1
    for letter in found:
        assert letter.name == f"{letter.partition}:{letter.stream_id}"
        assert await letters.named(letter.name) == [letter]
        assert letter in await letters.named(letter.stream_id)
        assert await letters.replay(letter) == "replayed"
    with pytest.raises(InboundError, match="was not found"):
        await letters.named("yesterday")
    assert await letters.named("9:1-1") == await letters.named("1-1") == []


Command = Callable[..., Result]


@pytest.fixture
def command(server_dir: Path, prefix: str, monkeypatch: pytest.MonkeyPatch) -> Command:
    """``millpond queue dead`` on the test's keys, with its connection opened in a thread of its own."""
    monkeypatch.setenv("MILLPOND_DATA_DIR", str(server_dir))
    monkeypatch.setenv("MILLPOND_REDIS__PREFIX", prefix)

    def run(*args: str) -> Result:
        return CliRunner().invoke(root, ["queue", "dead", *args], obj=Options())

    return run


async def in_thread(command: Command, *args: str) -> Result:
    return await to_thread.run_sync(lambda: command(*args))


async def test_the_command_lists_shows_replays_and_drops(lab: Lab, command: Command) -> None:
    await die(lab, "a", "b", "c")
    await die(lab, "d", reason="ModelTimeout")

    listed = json.loads((await in_thread(command, "list", "--json")).stdout)["dead"]
    assert [(row["message"], row["reason"]) for row in listed] == [
        *(("a", "attempts"), ("b", "attempts"), ("c", "attempts"), ("d", "ModelTimeout"))
    ]
    assert "text of a" in (await in_thread(command, "list")).stdout
    shown = json.loads((await in_thread(command, "show", listed[0]["id"], "--json")).stdout)
    assert json.loads(shown["payload"])["correlation"] == shown["correlation"] == "c-a"

    assert (await in_thread(command, "replay", listed[0]["id"])).stdout == "1 replayed\n"
    again = await in_thread(command, "replay", listed[0]["id"])
    assert (again.exit_code, "was not found" in again.stderr) == (65, True)
    assert (await in_thread(command, "replay", "--reason", "ModelTimeout")).stdout == "1 replayed\n"
    assert (await in_thread(command, "drop", listed[1]["id"])).stdout == "1 dropped\n"
    assert (await in_thread(command, "drop", "--all")).stdout == "1 dropped\n"
    assert (await in_thread(command, "drop", "--all")).stdout == "no dead letters match\n"

    assert await waiting_ids(lab) == ["a", "d"]


@each_row("args", [(), ("1-1", "--all"), ("--reason", "x", "--all")])
async def test_the_command_wants_one_choice(command: Command, args: tuple[str, ...]) -> None:
    assert (await in_thread(command, "drop", *args)).exit_code == 2


async def test_the_command_says_what_it_could_not_replay(lab: Lab, command: Command) -> None:
    await lab.bus.call("XADD", lab.bus.keys.dead(0), "*", "session", "web:ann", "id", "a", "message", "{garbage")

    done = await in_thread(command, "replay", "--all")

    assert done.exit_code == 65
    assert "cannot be read" in done.stderr
    assert "1 cannot be replayed" in done.stdout
