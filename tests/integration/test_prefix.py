"""Consecutive prompts of a conversation begin with the same bytes, which providers' prefix caches need."""

import itertools
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.forget import ForgetOrder
from daemon.memory import HistoryEntry, Memories, Version
from daemon.process import Process
from daemon.testing import ScriptedModel
from tests.conftest import Lab
from tests.forgetlab import Pond
from tests.integration.test_turns import worked_off
from tests.peoplelab import ANN, BOB, PeopleLab, session_of
from tests.prefixlab import conversations_in_turns, plain_turns, talking, tool_turns


async def test_plain_turns_share_92_parts_of_100_with_the_prompt_before(process: Process) -> None:
    async with talking(process) as talk:
        shares = (await plain_turns(talk))["web:ann"]

        plain = [sent for sent in talk.model.sent["web:ann"] if sent.kind == "plain"]
        assert {sent.settled for sent in plain} == {1}
        assert len({sent.memory for sent in plain}) == 2  # a flush came between two of them
    assert len(shares) == len(plain) - 2
    assert min(shares) >= 0.92, shares


async def test_calls_of_tool_turns_share_90_parts_of_100_with_the_prompt_before(process: Process) -> None:
    async with talking(process) as talk:
        shares = (await tool_turns(talk))["web:ann"]

    assert len(shares) == 5 * 4 - 1
    assert min(shares) >= 0.90, shares


async def test_two_conversations_of_a_person_each_share_90_parts_of_100_with_their_prompt_before(
    process: Process,
) -> None:
    async with talking(process) as talk:
        found = await conversations_in_turns(talk)

        assert talk.model.settled == {"web:ann": 2, "web:ann-too": 1}
    assert len(found["web:ann-too"]) == 5
    for session, shares in found.items():
        assert min(shares) >= 0.90, (session, shares)


WORKSPACE, TIME = "pond:workspace", "2026-11-20T09:00:00.000Z"


async def test_requests_of_a_conversation_have_a_cache_key_of_their_own(process: Process, lab: Lab) -> None:
    model = ScriptedModel()
    for number, session in enumerate(("web:ann", "web:bob", "web:ann")):
        await lab.publish(f"m{number}", session=session)
        await worked_off(process, lab, model, session)

    first, other, again = (request.cache_key for request in model.requests)

    assert first == again != other
    assert len(first) == 32
    assert "ann" not in first


class Remembered:
    """A conversation in a memory that others write to as well."""

    def __init__(self, process: Process, lab: Lab, session: str = "web:ann") -> None:
        self.process, self.lab, self.memories, self.session = process, lab, Memories(lab.bus), session
        self._numbers = itertools.count()

    async def asked(self) -> Sequence[bytes]:
        """Say something: the messages of the prompt."""
        model, number = ScriptedModel(), next(self._numbers)
        await self.lab.publish(f"m{number}", session=self.session, text="hello")
        await worked_off(self.process, self.lab, model, self.session)
        return model.requests[-1].messages

    async def prompt(self) -> tuple[str, str]:
        """Say something: the system message of the prompt and its newest message."""
        wires = [msgspec.json.decode(wire) for wire in await self.asked()]
        return wires[0]["content"], wires[-1]["content"]

    async def edit(self, text: str) -> None:
        current = await self.memories.current(WORKSPACE)
        await self.memories.edit(WORKSPACE, of=current.version, text=text, by="test", time=TIME)

    async def flush(self, added: str, session: str = "web:bob") -> None:
        opened = await self.memories.open(WORKSPACE, session, fence=1, nonce="n")
        update = Version(kind="flush", time=TIME, session=session, added=added)
        await self.memories.append(opened, update, cycle=next(self._numbers))

    async def consolidate(self, text: str, session: str) -> None:
        opened = await self.memories.open(WORKSPACE, session, fence=1, nonce="n")
        entry = HistoryEntry(
            time=TIME, session=session, first=opened.upto, upto=opened.upto + 2, kind="summary", text="[2026] ponds"
        )  # fmt: skip
        update = Version(kind="consolidation", time=TIME, session=session, text=text)
        await self.memories.apply(opened, entry, mark="{}", update=update)

    async def digest(self, text: str, session: str) -> None:
        opened = await self.memories.open(WORKSPACE, session, fence=1, nonce="n")
        await self.lab.bus.call("RPUSH", self.lab.bus.keys.undigested(WORKSPACE), 0)
        await self.memories.digest(opened, index=0, update=Version(kind="digest", time=TIME, text=text))


@pytest.fixture
def remembered(process: Process, lab: Lab) -> Remembered:
    return Remembered(process, lab)


async def test_what_memory_learns_stands_beside_the_message_until_the_conversation_is_consolidated(
    remembered: Remembered,
) -> None:
    await remembered.consolidate("- likes tea\n- lives in Bern", "web:bob")
    system, said = await remembered.prompt()
    assert "lives in Bern" in system
    assert "Memory Changes" not in said

    await remembered.flush("- plays the cello")
    await remembered.consolidate("- likes tea\n- lives in Rome\n- plays the cello", "web:bob")
    after, said = await remembered.prompt()
    assert after == system
    assert "\n## Memory Changes\nMEMORY.md has changed" in said
    assert "\n- - lives in Bern\n+ - lives in Rome\n+ - plays the cello\n" in said

    await remembered.consolidate("- likes tea\n- lives in Oslo", "web:ann")
    system, said = await remembered.prompt()
    assert "lives in Oslo" in system
    assert "Memory Changes" not in said

    await remembered.digest("- lives in Oslo\n- has a boat", "web:ann")
    system, said = await remembered.prompt()
    assert "lives in Oslo\n- has a boat" in system
    assert "Memory Changes" not in said


async def test_a_first_memory_stands_beside_the_message_of_a_conversation_that_has_begun(
    remembered: Remembered,
) -> None:
    system, _ = await remembered.prompt()

    await remembered.flush("- plays the cello", "web:ann")

    after, said = await remembered.prompt()
    assert after == system
    assert "+ - plays the cello" in said


async def test_an_edit_is_shown_at_once_with_all_that_was_learnt_before(remembered: Remembered) -> None:
    await remembered.consolidate("- likes tea", "web:bob")
    await remembered.prompt()
    await remembered.flush("- plays the cello")

    await remembered.edit("- likes tea\n- plays the cello\n- lives in Rome")

    system, said = await remembered.prompt()
    assert "lives in Rome" in system
    assert "Memory Changes" not in said


async def test_a_restored_version_is_shown_at_once(remembered: Remembered) -> None:
    await remembered.consolidate("- likes tea", "web:bob")
    await remembered.prompt()
    await remembered.consolidate("- likes coffee", "web:bob")
    assert "likes tea" in (await remembered.prompt())[0]

    await remembered.flush("- plays the cello")

    await remembered.memories.restore(WORKSPACE, version=2, by="test", time=TIME)

    system, said = await remembered.prompt()
    assert "likes coffee" in system and "cello" not in system
    assert "Memory Changes" not in said


async def test_a_conversation_that_was_begun_anew_shows_the_newest_version(remembered: Remembered) -> None:
    await remembered.consolidate("- likes tea", "web:bob")
    await remembered.prompt()
    await remembered.flush("- plays the cello")
    assert "Memory Changes" in (await remembered.prompt())[1]

    await remembered.lab.publish("new", text="/new", command="new")
    await worked_off(remembered.process, remembered.lab, ScriptedModel(then="[2026-11-20 09:00] They said hello."))

    system, said = await remembered.prompt()
    assert "plays the cello" in system
    assert "Memory Changes" not in said


async def test_what_was_forgotten_is_in_no_prompt_though_an_older_version_was_shown(remembered: Remembered) -> None:
    await remembered.consolidate("- likes tea\n- lives in Bern", "web:bob")
    await remembered.prompt()
    await remembered.consolidate("- likes tea", "web:bob")
    assert "Bern" in "".join(await remembered.prompt())

    order = ForgetOrder(name=WORKSPACE, scopes=(WORKSPACE,))
    await Pond(remembered.process, remembered.lab).forget("lives in Bern", order=order)

    system, said = await remembered.prompt()
    assert "likes tea" in system
    assert "Bern" not in system + said and "Memory Changes" not in said


async def test_changes_that_are_too_long_are_taken_in_and_later_ones_stand_beside_again(
    remembered: Remembered,
) -> None:
    await remembered.consolidate("- likes tea", "web:bob")
    await remembered.prompt()
    await remembered.flush("- rain " + "and rain " * 500)
    system, said = await remembered.prompt()
    assert "and rain and rain" in system
    assert "Memory Changes" not in said

    await remembered.flush("- sun")

    after, said = await remembered.prompt()
    assert after == system
    assert "+ - sun" in said
    assert "rain" not in said


async def test_a_version_that_nobody_knows_any_more_is_shown_by_the_newest_one(remembered: Remembered) -> None:
    await remembered.consolidate("- likes tea", "web:bob")
    await remembered.prompt()
    await remembered.consolidate("- likes coffee", "web:bob")
    keys = remembered.lab.bus.keys
    await remembered.lab.bus.call("LPOP", keys.versions(WORKSPACE))
    await remembered.lab.bus.call("HSET", keys.memory(WORKSPACE), "versions_base", 1)

    system, said = await remembered.prompt()

    assert "likes coffee" in system
    assert "Memory Changes" not in said


async def shown(people: PeopleLab, scope: str) -> str:
    """MEMORY.md as the prompts of a person's chat show it, which must be the newest version."""
    found = await people.memories.pinned(scope, session_of(scope))
    assert found.text == found.current.text
    return str(found.text)


async def test_linked_and_unlinked_people_see_their_memory_at_once(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.jobs.job_runner.LOOK_S", 0.01)
    people = PeopleLab(process, lab)
    # The numbers of Bob's versions are higher than those of the memory that both share then.
    for scope, text in ((ANN, "ann has a cat"), (BOB, "bob rows"), *((BOB, f"bob has {n} boats") for n in range(4))):
        await people.remember(scope, text)
        assert text in await shown(people, scope)

    await people.link(ANN, BOB)
    for scope in (ANN, BOB):
        text = await shown(people, scope)
        assert "ann has a cat" in text and "bob rows" in text

    await people.remember(ANN, "ann sings")
    assert (await people.memories.pinned(BOB, session_of(BOB))).text != (await people.memories.current(BOB)).text
    await people.part(BOB)
    assert "bob rows" in await shown(people, BOB)
    assert "ann sings" in await shown(people, ANN)


_sessions = itertools.count()
EVENTS = ("say", "say", "flush", "consolidate", "digest")
"""Plain turns, and what others add to the memory between them."""


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.sampled_from(EVENTS), min_size=2, max_size=12))
async def test_each_prompt_of_plain_turns_begins_with_the_one_before_whatever_happens(
    process: Process, lab: Lab, steps: list[str]
) -> None:
    remembered = Remembered(process, lab, session=f"web:{next(_sessions)}")
    await remembered.consolidate("- likes tea", "web:bob")
    before = await remembered.asked()

    for number, step in enumerate([*steps, "say"]):
        match step:
            case "flush":
                await remembered.flush(f"- has {number} boats")
            case "consolidate":
                await remembered.consolidate(f"- likes tea\n- lives in house {number}", "web:bob")
            case "digest":
                await remembered.digest(f"- likes coffee\n- lives in house {number}", "web:bob")
            case _:
                now = await remembered.asked()
                assert now[: len(before) - 1] == before[:-1]  # the newest message loses its runtime context
                assert len(now) == len(before) + 2
                before = now
