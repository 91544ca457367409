"""The terminal channel: its pure parts, a conversation with a real worker, and the screen in a pseudo-terminal."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, aclosing
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from channels.conversation import AnswerProgress, Conversation, ConversationEntry, Preview, Shown, delay
from channels.terminal.line_mode import LineMode, lines
from channels.terminal.screen import CommandCompleter, Interrupt, tail
from daemon.bus import Bus, Part
from daemon.cli.chat_command import answer_when_nobody_does
from daemon.clock import stamp
from daemon.errors import BusUnavailable
from daemon.events import Live, Notice
from daemon.heartbeat import ALIVE_S, Heartbeat
from daemon.process import Process
from daemon.services import service
from daemon.session import SessionNotice, tell
from daemon.sessionkey import SessionKey
from daemon.testing import ManualClock
from tests.cut_short import CutBus
from tests.integration.test_cli import Place, place
from tests.limits import HANG_S
from tests.tables import each_row
from tests.terminals import OnTerminal, on_terminal

__all__ = ["place"]
READY = r"\x1b\[\?2004h[^\n]*>"  # A prompt, drawn: bracketed paste is switched on first


def live(text: str, *, turn: int = 0, fence: int = 1, sequence: int = 0, offset: int = 0) -> Live:
    return Live(session="terminal:ann", turn=turn, fence=fence, sequence=sequence, offset=offset, text=text)


def test_pieces_make_the_text_until_the_turn_ends() -> None:
    preview = Preview()

    assert preview.hear(live("one "))
    assert preview.hear(live("two", sequence=1, offset=4))

    assert preview.text == "one two"
    preview.close(0, ended=True)
    assert not preview.hear(live(" three", sequence=2, offset=7)), "a late piece of a turn that ended"
    assert preview.text == ""


def test_a_higher_fence_starts_the_preview_afresh_and_the_lower_one_is_not_heard_any_more() -> None:
    preview = Preview()
    preview.hear(live("old", fence=1))

    assert preview.hear(live("new", fence=2))
    assert not preview.hear(live(" stale", fence=1, sequence=1, offset=3))

    assert preview.text == "new"


@given(
    text=st.text(min_size=1, max_size=40),
    cuts=st.sets(st.integers(1, 39)),
    order=st.lists(st.integers(0, 60), max_size=80),
)
def test_a_preview_of_any_pieces_is_a_beginning_of_the_text(text: str, cuts: set[int], order: list[int]) -> None:
    ends = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    pieces = [
        live(text[start:end], sequence=number, offset=start) for number, (start, end) in enumerate(pairwise(ends))
    ]
    preview = Preview()

    for number in order:
        preview.hear(pieces[number % len(pieces)])

        assert text.startswith(preview.text)


def test_interrupting_stops_a_turn_then_asks_then_quits() -> None:
    interrupt = Interrupt()

    assert [interrupt.press(running=True) for _ in range(3)] == ["stop", "ask", "quit"]
    interrupt.forget()
    assert [interrupt.press(running=False) for _ in range(2)] == ["ask", "quit"]


@given(text=st.text(alphabet="ab 中\n", max_size=300), columns=st.integers(2, 20), rows=st.integers(1, 8))
def test_the_tail_fits_and_is_the_end_of_the_text(text: str, columns: int, rows: int) -> None:
    shown = tail(text, columns=columns, rows=rows).split("\n")

    assert len(shown) <= rows
    assert all(sum(2 if char == "中" else 1 for char in line) <= columns for line in shown)
    assert text.replace("\n", "").endswith("".join(shown))


@given(raw=st.binary(max_size=200), size=st.integers(1, 50))
async def test_lines_come_out_as_they_went_in(raw: bytes, size: int) -> None:
    raw = raw.replace(b"\r", b"")
    reading, writing = os.pipe()

    async def feed() -> None:
        for at in range(0, len(raw), size):
            os.write(writing, raw[at : at + size])
            await anyio.lowlevel.checkpoint()
        os.close(writing)

    async with anyio.create_task_group() as tg:
        tg.start_soon(feed)
        found = [line async for line in lines(reading, 1_000)]
    os.close(reading)

    wanted = raw.split(b"\n")
    assert found == list(enumerate(wanted if wanted[-1] else wanted[:-1], 1))


@pytest.fixture
async def worker(process: Process) -> AsyncIterator[Process]:
    """A process in which an agent worker answers, with the offline model."""
    async with anyio.create_task_group() as tg:
        await tg.start(partial(service("agent"), process))
        yield process
        process.stopping.set()


async def until(conversation: Conversation, found: type[Shown] | None = None) -> list[Shown]:
    """What is shown until everything sent is answered, or until the first of a kind."""
    seen: list[Shown] = []
    with anyio.fail_after(HANG_S):
        async with aclosing(conversation.events()) as events:
            async for shown in events:
                seen.append(shown)
                if (found and isinstance(shown, found)) or (not found and not conversation.pending):
                    return seen
    raise AssertionError("events never end")


async def test_a_conversation_shows_the_preview_and_then_every_entry_once(worker: Process) -> None:
    conversation = await Conversation.open(worker, SessionKey(channel="terminal", chat="ann"))

    accepted = await conversation.send("count to 8")
    seen = await until(conversation)

    entries = [shown for shown in seen if isinstance(shown, ConversationEntry)]
    writings = [shown.text for shown in seen if isinstance(shown, AnswerProgress)]
    assert [(entry.index, entry.role) for entry in entries] == [(0, "user"), (1, "assistant")]
    assert entries[-1].entry.answers == (accepted.id,)
    assert writings
    assert all(entries[-1].text.startswith(text) for text in writings)


async def test_a_worker_that_was_killed_a_moment_ago_is_not_waited_for_for_ever(
    process: Process, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(answer_when_nobody_does.__globals__, "LOOK_S", 0.001)
    killed = Heartbeat(role="agent", started=stamp(clock.now()), seen=stamp(clock.now()), holding=0)
    await process.bus.call("HSET", process.bus.keys.workers, "killed agent", msgspec.json.encode(killed))
    conversation = await Conversation.open(process, SessionKey(channel="terminal", chat="ann"))
    await conversation.send("hello")

    async with anyio.create_task_group() as tg:
        await tg.start(answer_when_nobody_does, process)
        clock.advance(ALIVE_S - 1)
        await anyio.sleep(0.02)
        assert capsys.readouterr().err == ""
        clock.advance(2)
        seen = await until(conversation)
        process.stopping.set()

    assert "no agent worker is running" in capsys.readouterr().err
    assert isinstance(seen[-1], ConversationEntry) and seen[-1].text.endswith("Hello! What can I do for you?")


@each_row("told", [False, True])
async def test_a_message_without_an_answer_is_followed_by_its_reason_once(
    process: Process, monkeypatch: pytest.MonkeyPatch, *, told: bool
) -> None:
    monkeypatch.setattr("channels.conversation.POLL_S", 0.001)
    conversation = await Conversation.open(process, SessionKey(channel="terminal", chat=f"ann-{told}"))
    expected = "No agent worker is running. Start an agent worker with `millpond run`."
    if told:
        notice = Notice(kind="parked", text=f"The bot waits. {expected}", time=stamp(process.clock.now()))
        await tell(process.bus, process.config.queue, conversation.session, SessionNotice(notice=notice))
    await conversation.send("hello")
    notices: list[str] = []
    looks: list[str] = []
    looked = anyio.Event()

    async def counted(process: Process, session: str) -> str:
        looks.append(session)
        if len(looks) == 3:
            looked.set()
        return await delay(process, session)

    async def collect() -> None:
        async with aclosing(conversation.events()) as events:
            async for shown in events:
                notices.extend([shown.text] if isinstance(shown, Notice) else [])

    monkeypatch.setattr("channels.conversation.delay", counted)
    async with anyio.create_task_group() as tg:
        tg.start_soon(collect)
        with anyio.fail_after(HANG_S):
            await looked.wait()
        tg.cancel_scope.cancel()

    assert notices == [f"The bot waits. {expected}" if told else f"Your message is waiting: {expected}"]


class BrieflyAway(CutBus):
    """Redis is away for the first three messages that are handed in, and may have taken them in all the same."""

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        result = await call() if self._carried_out else None
        self.calls += 1
        if self.calls <= 3:
            while self._carried_out and not await self.call("HGET", self.keys.session("terminal:ann"), "head"):  # noqa: ASYNC110 - above
                await anyio.sleep(0.01)  # its answer comes first
            raise BusUnavailable("Redis is away")
        return result or await call()

    async def call(self, *command: Part) -> Any:
        return await Bus.call(self, *command)


@pytest.mark.parametrize("carried_out", [False, True])
async def test_an_outage_delays_a_piped_line_and_it_is_answered_once(
    worker: Process, *, carried_out: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # A full disk ended a chat behind a pipe, and the lines that nobody had read were never sent.
    reading, writing = os.pipe()
    os.write(writing, b"one fish\ntwo fish\n")
    os.close(writing)
    away = replace(worker, bus=BrieflyAway(worker.bus, at=0, carried_out=carried_out))
    conversation = await Conversation.open(away, SessionKey(channel="terminal", chat="ann"))

    with os.fdopen(reading) as lines_in:
        monkeypatch.setattr(sys, "stdin", lines_in)
        with anyio.fail_after(HANG_S):
            await LineMode(conversation, silence_s=HANG_S, max_bytes=1_000).run()

    shown = capfd.readouterr().out.splitlines()
    assert [line for line in shown if line.startswith("You said")] == ["You said: one fish", "You said: two fish"]


async def test_what_was_said_before_is_shown_on_entering_and_not_again(worker: Process) -> None:
    key = SessionKey(channel="terminal", chat="ann")
    first = await Conversation.open(worker, key)
    await first.send("one fish")
    await until(first)

    second = await Conversation.open(worker, key)
    await second.send("two fish")
    seen = await until(second)

    assert [entry.text for entry in await second.earlier(10)][:1] == ["one fish"]
    assert [shown.text for shown in seen if isinstance(shown, ConversationEntry)] == ["two fish", "You said: two fish"]


async def test_a_stop_ends_the_turn_and_what_was_said_stays(worker: Process) -> None:
    conversation = await Conversation.open(worker, SessionKey(channel="terminal", chat="ann"))
    counting = await conversation.send("count to 500")
    await until(conversation, AnswerProgress)

    stop = await conversation.send("/stop")
    seen = await until(conversation)

    last = seen[-1]
    assert isinstance(last, ConversationEntry)
    assert last.entry.stopped
    assert last.entry.answers == (counting.id, stop.id)
    assert last.text.endswith("[stopped]")


async def test_a_stop_with_nothing_to_stop_is_answered_aside(worker: Process) -> None:
    conversation = await Conversation.open(worker, SessionKey(channel="terminal", chat="ann"))

    await conversation.send("/stop")
    seen = await until(conversation)

    assert [shown.kind for shown in seen if isinstance(shown, Notice)] == ["aside"]


async def test_a_command_has_one_answer_also_for_whoever_sends_it_again(worker: Process) -> None:
    key = SessionKey(channel="terminal", chat="ann")
    first = await Conversation.open(worker, key)
    await first.send("hello")
    await first.send("/new", message_id="n")
    seen = await until(first)

    second = await Conversation.open(worker, key)
    again = await second.send("/new", message_id="n")
    found = await second.answer_to("n")

    assert again.status == "duplicate"
    assert [shown for shown in seen if isinstance(shown, Notice)] == [found]
    assert found is not None and found.text.startswith("A new conversation has started")


@each_row(
    ("typed", "completed"),
    [
        *(("/s", ["/stop", "/status"]), ("/WHO", ["/whoami"]), ("/qu", ["/quit"]), ("/model b", []), ("x /s", [])),
        ("", []),
    ],
)
def test_tab_completes_commands_at_the_beginning_of_a_line(typed: str, completed: list[str]) -> None:
    completer, document = CommandCompleter(["/quit"]), Document(typed)

    found = list(completer.get_completions(document, CompleteEvent(completion_requested=True)))

    assert [one.text for one in found] == completed
    assert all(one.start_position == -len(typed) for one in found)


def terminal(place: Place, *args: str) -> AbstractContextManager[OnTerminal]:
    return on_terminal(*args, environ=place.environ)


def test_on_a_screen_an_answer_streams_and_ctrl_c_twice_quits(place: Place) -> None:
    with terminal(place, "chat", "--session", "screen") as opened:
        opened.shows(r"Session terminal:screen")
        opened.shows(READY)
        opened.type("count to 12")
        opened.shows(r"\b1 2 3 4 5 6 7 8 9 10 11 12")
        opened.shows(READY)
        opened.press("\x03")
        opened.shows(r"Ctrl-C again to quit")
        opened.press("\x03")

        assert opened.ends() == 0
        assert opened.restored()


def test_an_answer_is_rendered_on_a_screen_and_stays_as_it_was_written_in_a_pipe(place: Place) -> None:
    text = "**two** fish\u202e"

    with terminal(place, "chat", "--session", "renderer") as opened:
        opened.shows(READY)
        opened.type(text)
        opened.shows(r"You said: \x1b\[0;1mtwo\x1b\[0m fish�")
        with terminal(place, "send", "renderer", text, "--wait", str(HANG_S)) as sending:
            sending.shows(r"You said: \x1b\[1mtwo\x1b\[0m fish�")
            assert sending.ends() == 0
        opened.press("\x04")
        assert opened.ends() == 0
    piped = place("chat", "--session", "renderer", given=text)

    assert piped.stdout.endswith(f"You said: {text}\n")


def test_a_terminal_without_escape_sequences_gets_none(place: Place) -> None:
    with on_terminal("chat", environ=place.environ | {"TERM": "dumb"}) as opened:
        opened.type("**two** fish")
        opened.shows(r"You said: two fish\n")
        opened.press("\x04")

        assert opened.ends() == 0
        assert "\x1b" not in opened.screen


def test_a_chat_shows_why_its_message_waits(place: Place) -> None:
    nowhere = {"OPENAI_API_KEY": "k", "OPENAI_MODEL": "m", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}

    with on_terminal("chat", "--session", "waiter", environ=place.environ | nowhere) as opened:
        opened.shows(READY)
        opened.type("hello")
        opened.shows(r"The bot cannot use its model: .*127\.0\.0\.1:1")
        opened.press("\x04")

        assert opened.ends() == 0


def test_a_command_is_completed_and_answered(place: Place) -> None:
    with terminal(place, "chat", "--session", "asker") as opened:
        opened.shows(READY)
        opened.press("/who\t")
        opened.shows(r"ami")
        opened.type()
        opened.shows(r"Session: terminal:asker")
        opened.shows(READY)
        opened.press("\x04")

        assert opened.ends() == 0


def test_ctrl_c_stops_the_answer_and_ctrl_d_leaves(place: Place) -> None:
    with terminal(place, "chat", "--session", "stopper") as opened:
        opened.shows(READY)
        opened.type("count to 500")
        opened.shows(r"\d \d")
        opened.press("\x03")
        opened.shows(r"\[stopped\]")
        opened.shows(READY)
        opened.press("\x04")

        assert opened.ends() == 0


def test_run_on_a_terminal_talks_keeps_its_logs_away_and_ends_with_the_chat(place: Place) -> None:
    with terminal(place, "run") as opened:
        opened.shows(r"Millpond listens on http://127.0.0.1:\d+")
        opened.shows(READY)
        opened.type("hello")
        opened.shows(r"What can I do for you\?")
        assert "turn.done" not in opened.screen
        opened.shows(READY)
        opened.type("/quit")

        assert opened.ends() == 0

    assert "turn.done" in (Path(place.data) / "logs" / "millpond.log").read_text()


def test_a_signal_ends_the_prompt_at_once_and_gives_the_terminal_back(place: Place) -> None:
    with terminal(place, "run") as opened:
        opened.shows(READY)
        opened.process.send_signal(signal.SIGTERM)

        assert opened.ends() == 0
        assert opened.restored()
