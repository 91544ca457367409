"""What is shown of a session whose older messages were consolidated: on the command line, and by ``/status``."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from daemon.cli.output import session_view as cli_shown
from daemon.cli.session_command import print_prompt
from daemon.errors import ModelUnavailable
from daemon.events import LogEntry
from daemon.process import Process
from tests.conftest import Lab
from tests.integration.test_turns import Bot, notices_of
from tests.limits import until
from tests.memorylab import MemoryLab, Summaries, saves, small_window
from workers.agent.prompt.prompt_preview import preview
from workers.consolidation import ConsolidationRequest


@pytest.fixture
def small(process: Process) -> Process:
    return replace(process, config=small_window(process.config))


@pytest.fixture
def model() -> Summaries:
    said = saves("[2026-11-20 09:00] They talked.", memory="Ann asks.", continuity="Ann wants to know why.")
    return Summaries(said, *[ModelUnavailable("away")] * 3)


@pytest.fixture
async def settled(small: Process, lab: Lab, model: Summaries) -> MemoryLab:
    """A session of which a range was summarised and another one taken in as it was."""
    memory = MemoryLab(small, lab, model)
    await memory.talk(6)
    await memory.consolidator.consolidate("web:ann", ConsolidationRequest(at="now"))
    await memory.talk(4)
    for _ in range(3):
        await memory.consolidator.consolidate("web:ann", ConsolidationRequest(at="now"))
    return memory


async def shown(memory: MemoryLab, *, after: int | None = None, limit: int = 20) -> cli_shown.SessionView:
    state = await memory.state()
    return await cli_shown.shown(memory.process, state, after=after, limit=limit)


def printed(found: cli_shown.SessionView, capsys: pytest.CaptureFixture[str]) -> str:
    cli_shown.print_shown(found)
    return capsys.readouterr().out


async def test_ranges_are_shown_with_their_entries_and_their_archive(settled: MemoryLab) -> None:
    found = await shown(settled)

    assert [(row["first"], row["upto"], row["entry"], row["kind"]) for row in found.consolidated] == [
        (0, 8, 0, "summary"),
        (8, 16, 1, "raw"),
    ]
    assert [row["model"] for row in found.consolidated] == ["summaries", ""]
    assert [row["segment"]["name"].endswith("_0-8.jsonl.gz") for row in found.consolidated] == [True, False]
    assert (found.positions["cursor"], found.positions["head"], found.positions["failures"]) == (16, 20, 0)
    assert found.sizes["target"] < found.sizes["flush_point"] < found.sizes["consolidation_start"]
    assert found.sizes["prompt"] > (await settled.state()).tokens_start + 300
    msgspec.json.encode(found)


async def test_the_log_is_drawn_with_its_cursor(settled: MemoryLab, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(await shown(settled, after=13, limit=4), capsys)

    lines = text.splitlines()
    drawn = lines[lines.index(next(line for line in lines if line.startswith("log: "))) + 1]
    assert sorted(set(drawn)) == sorted("░x█")
    assert drawn == "░" * drawn.count("░") + "x" * drawn.count("x") + "█" * drawn.count("█")
    assert "└ cursor = start 16" in text
    assert "8-15" in text
    assert lines[-5:-3] == [line for line in lines if line.startswith(("[14]", "[15]"))]
    assert (
        lines[-3] == "──── cursor = start 16: the messages above this line are summarized in memory, "
        "the messages from here on are sent to the model"
    )
    assert lines[-2].startswith("[16]")
    assert max(map(len, lines[: lines.index("")])) < 80


async def test_messages_before_a_new_conversation_are_marked(settled: MemoryLab, capsys: pytest.CaptureFixture[str]):
    await answered(settled, "new", command="new", text="/new")

    found = await shown(settled)
    text = printed(found, capsys)

    assert found.positions["unsettled"] is True
    assert (found.positions["cursor"], found.positions["start"]) == (16, 20)
    assert "└ start = head 20" in text
    assert "▓ messages before /new that are not summarized in memory yet" in text
    assert text.splitlines()[-1] == "──── start 20: the messages from here on are sent to the model"


async def test_a_consolidation_and_a_turn_in_progress_are_shown(
    settled: MemoryLab, lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = await settled.stores.locks.take("web:ann")
    assert lock is not None
    await settled.stores.locks.note(lock, "failures", 2)
    await lab.publish("waits", session="web:ann")
    claim = await lab.claim("web:ann")
    step: list[LogEntry] = [*await settled.entries(99, turn=claim.begun.head, words=2)]
    await lab.sessions.journal(claim, step=0, entries=step)

    found = await shown(settled)
    text = printed(found, capsys)

    assert found.positions["consolidated_by"] == settled.process.name
    assert (found.positions["failures"], found.positions["journal"]) == (2, 2)
    assert "> turn in progress" in text
    assert text.splitlines()[-1] == "──── head 20: the turn in progress starts here"


async def test_a_range_that_was_archived_and_not_applied_is_shown_as_that(
    settled: MemoryLab, lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    raws = await lab.bus.call("LRANGE", lab.bus.keys.log("web:ann"), 16, 17)
    await settled.stores.archive.write("web:ann", 16, raws)

    found = await shown(settled)

    assert [row["entry"] for row in found.consolidated] == [0, 1, None]
    assert "only archived" in printed(found, capsys)


async def test_without_its_bot_a_session_is_shown_without_sizes(settled: MemoryLab) -> None:
    settled.process = replace(settled.process, config=msgspec.structs.replace(settled.process.config, bots={}))

    found = await shown(settled)

    assert found.sizes == {}
    assert len(found.consolidated) == 2


async def test_the_prompt_shown_has_memory_and_continuity_as_they_are_sent(
    settled: MemoryLab, lab: Lab, model: Summaries, capsys: pytest.CaptureFixture[str]
) -> None:
    await lab.publish("next", session="web:ann")

    found = await preview(settled.process, "web:ann")
    await answered(settled)
    print_prompt(found)

    [sent] = model.prompts
    parts = found["parts"]
    assert found["messages"] == [msgspec.json.decode(wire) for wire in sent.messages]
    assert (found["tokens"], sum(parts.values())) == (sent.tokens, found["budget_tokens"])
    assert found["history_turns"] == 2
    [memory] = [section for section in found["system"] if section["part"] == "memory"]
    assert "Ann asks." in memory["text"]
    assert parts["memory"] == memory["tokens"] > 0
    assert parts["continuity"] > 0
    text = capsys.readouterr().out
    assert f"──── continuity, {parts['continuity']:,} tokens\nuser: [Conversation compressed." in text
    assert f"Continuing.\n\n──── history, 2 turns, {parts['history']:,} tokens\nuser: question 8" in text


async def test_status_counts_memory_and_what_stands_for_older_messages(settled: MemoryLab) -> None:
    parts = (await preview(settled.process, "web:ann"))["parts"]

    await answered(settled, "ask", command="status", text="/status")

    [notice] = await notices_of(settled.lab)
    assert f"memory {parts['memory']:,}, " in notice.text
    assert f"history {parts['continuity'] + parts['history']:,}, " in notice.text
    assert "Messages: 20, of which 16 are already summarized in memory" in notice.text


async def answered(memory: MemoryLab, message_id: str = "", **more: Any) -> None:
    """Have what waits dealt with, and ``message_id``, if there is one, before."""
    if message_id:
        await memory.lab.publish(message_id, session=memory.session, **more)

    async def done() -> bool:
        answered_aside = more.get("command") != "status" or bool(await notices_of(memory.lab))
        return answered_aside and await memory.lab.is_idle()

    async with Bot(memory.process).working():
        await until(done)
