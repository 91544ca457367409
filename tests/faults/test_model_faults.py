"""A whole Millpond whose model and tools go wrong in every way, each in a conversation of its own, all at once.

One real process, a model that is a real server, a platform that is one. Each conversation has a message that meets the
fault, and one after it; the tests look at what they left.
"""

import itertools
import json
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from anyio import to_thread

from channels.inbound import accept, make_inbound
from daemon.bus.dead_letters import DeadLetter, DeadLetters
from daemon.config import Config, load
from daemon.events import LogEntry
from daemon.process import Process
from daemon.run import open_process
from daemon.session import SessionReader
from daemon.wording import text as say
from tests.chaos.runs import called, mismatched
from tests.fakes import tool_server
from tests.fakes.openai_server import Call, Events, Failure, Plain, Reply, Say, delta, fake_openai
from tests.fakes.said import said
from tests.fakes.sink import Sink, sink
from tests.limits import HANG_S
from tests.places import TEMPORARY
from tests.processes import STOP_LIMIT_S, environment_of, shut_down
from tests.tables import each_row

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

LIMIT_S = 5 * HANG_S
ITERATIONS = 25
ATTEMPTS = 2
PARK_MAX_S = 20.0
RETRY_AFTER_S = 2.2  # above what is waited out within a call

FINE, AGAIN = "fine", "and now?"
GIVEN_UP = say("poison", "en", attempts=ATTEMPTS, correlation="")[:40]
TOO_LONG = say("too_long", "en", correlation="")[:60]
TIME = "(UTC)"  # what the tool ``time`` says in the end
NOTICE = say("parked", "en")[:40]
"""Sent only if an outage lasts for 10 s, as on a busy machine."""
OUTAGE = say("outage", "en", correlation="")[:60]

CONFIG = """
data_dir = "{data_dir}"
[run]
grace_s = 5.0
[queue]
lease_s = 15.0
wakeup_s = 0.5
renew_s = 0.5
attempts_max = {attempts}
backoff_min_s = 0.05
backoff_max_s = 5.0
park_max_s = {park_max_s}
[agent]
tool_timeout_s = 20.0
iterations_max = {iterations}
[bots.pond.mcp.fake]
command = "{python}"
args = ["{tool_server}"]
timeout_s = {hang_s}
[bots.pond.mcp.stuck]
command = "{python}"
args = ["{tool_server}"]
timeout_s = 10.0
"""
BOT = """
[bots.{bot}]
tools = ["time", "read_file", "act"]
[bots.{bot}.model]
name = "{bot}"
base_url = "{model}"
call_timeout_s = 90.0
chunk_timeout_s = 10.0
[channels.{bot}]
type = "testing"
bot = "{bot}"
url = "{platform}"
send_timeout_s = 10.0
streaming = false
"""
BOTS = ("pond", "limited", "broken")
"""What befalls a model's server befalls all of its bot's conversations: those have bots of their own."""

OVERFLOW = Failure(400, "maximum context length is 10 tokens", code="context_length_exceeded")

Replies = Callable[[int, Sequence[Mapping[str, Any]]], Reply]
"""What the model says: to which request about a message, counted from 0, with the results in its turn so far."""


def always(reply: Reply) -> Replies:
    return lambda _number, _results: reply


def first(*replies: Reply) -> Replies:
    """These in order, and then a proper answer."""
    return lambda number, _results: replies[number] if number < len(replies) else Say(FINE)


def calls(*wanted: Call, then: Sequence[Call] = ()) -> Replies:
    """These calls, when they have results one at a time those after them, and then a proper answer."""

    def reply(_number: int, results: Sequence[Mapping[str, Any]]) -> Reply:
        done = len(results) - len(wanted)
        if done < 0:
            return Say(calls=wanted)
        return Say(calls=[then[done]]) if done < len(then) else Say(FINE)

    return reply


def act(what: str, *, tool: str = "act", call: str = "call_1") -> Call:
    return Call(tool, json.dumps({"what": what}), id=call)


def echo(server: str) -> Call:
    return Call(f"{server}_echo", '{"text": "still here"}', id="call_2")


TWICE = (Call("time", id="same"), Call("time", id="same"))
UNTIL_NEXT = Call("read_file", '{"path": "results/turn-0-call-1-0.txt", "offset": 1, "limit": 1}', id="call_2")


@dataclass(frozen=True, kw_only=True)
class Case:
    replies: Replies
    people_read: Sequence[str] = (FINE,)  # what each line holds that its people get
    results: Sequence[str] = ()  # what each result holds that stands in the log
    requests: int = 0  # how often the model is asked; 0: as often as it likes
    dead: str = ""  # reason of its dead letter
    bot: str = "pond"


def half(text: str = "half of an answer") -> Say:
    return Say(text, cut_after=3)


CASES: Mapping[str, Case] = {
    # Answers.
    "nothing": Case(
        replies=always(Events([delta(finish="stop")])), people_read=[GIVEN_UP], requests=ATTEMPTS, dead="attempts"
    ),
    "nothing once": Case(replies=first(Events([delta(finish="stop")])), requests=2),
    "garbage": Case(
        replies=always(Events([b"data: {not json\n\n", b"\xff\xfe\x00"])),
        people_read=[GIVEN_UP],
        requests=ATTEMPTS,
        dead="attempts",
    ),
    "an answer that is no object": Case(replies=first(Plain(b"[1, 2]", content_type="application/json")), requests=2),
    "half a stream": Case(replies=first(half()), requests=2),
    "half a stream, cut": Case(
        replies=first(Events([delta(content="half of "), delta(content="it")], abort=True)), requests=2
    ),
    "a stream that falls silent": Case(replies=first(Events([delta(content="wait"), HANG_S])), requests=2),
    # The request to continue it ends with other words, by which it is not counted here.
    "cut off for its length": Case(replies=first(Say("it goes on and", finish="length")), requests=1),
    # Calls.
    "two calls with one id": Case(replies=calls(*TWICE), results=[TIME] * 2, requests=2),
    "a tool that does not exist": Case(
        replies=calls(Call("teleport")), results=["Error: The tool 'teleport' was not found"], requests=2
    ),
    "a name that is none": Case(
        replies=calls(Call("rm -rf /\n" + "x" * 500)), results=["Error: The tool 'rm"], requests=2
    ),
    "a call without a name": Case(replies=first(Say(calls=[Call("")])), requests=2),
    "arguments that are no JSON": Case(
        replies=calls(Call("act", '{"what": ')), results=["Error: The arguments are not valid JSON"], requests=2
    ),
    "arguments that are no object": Case(
        replies=calls(Call("act", "[[]]")), results=["Error: The arguments must be a JSON object"], requests=2
    ),
    "arguments nested for ever": Case(
        replies=calls(Call("act", '{"a":' * 50_000)), results=["Error: The arguments"], requests=2
    ),
    "tools for ever": Case(
        replies=always(Say(calls=[Call("time")])),
        people_read=[say("too_many_steps", "en", count=ITERATIONS)],
        results=[TIME] * ITERATIONS,
        requests=ITERATIONS,
    ),
    "a hundred calls at once": Case(
        replies=calls(*(Call("time", id=f"call_{number}") for number in range(100))), results=[TIME] * 100, requests=2
    ),
    # Refusals.
    "too large a prompt": Case(replies=always(OVERFLOW), people_read=[TOO_LONG], dead="ContextOverflow"),
    "too large a prompt, once\n" + "word " * 20_000: Case(replies=first(OVERFLOW), requests=2),
    "a short limit": Case(replies=first(Failure(429, headers={"Retry-After": "0.2"})), people_read=[FINE], requests=2),
    "a long limit": Case(
        replies=first(*[Failure(429, headers={"Retry-After": str(RETRY_AFTER_S)})] * 2),
        requests=3,
        bot="limited",
    ),
    "failing for ever": Case(replies=always(Failure(500)), people_read=[OUTAGE], dead="outage", bot="broken"),
    "a message that is refused": Case(
        replies=always(Failure(400, "that is not to be said")),
        people_read=[say("message_refused", "en", status=400, correlation="")[:60]],
        requests=ATTEMPTS,
        dead="(400)",
    ),
    # Tools.
    "a tool that hangs": Case(
        replies=calls(act("hang")),
        results=["Error: act did not finish within 20 s. It is unknown whether the call had an effect"],
    ),
    "a tool that raises": Case(
        replies=calls(act("raise")), results=["Error: act failed: _Bug: a bug in a tool"], requests=2
    ),
    "a tool that exits": Case(replies=calls(act("exit")), results=["Error: act failed: SystemExit"], requests=2),
    "a tool that gives nothing": Case(replies=calls(act("none")), results=["Error: act failed: TypeError"], requests=2),
    "a tool that floods the output": Case(replies=calls(act("print")), results=["done"], requests=2),
    "a tool that gives 10 MB": Case(
        replies=calls(act("large"), then=[UNTIL_NEXT]), results=["0123456789", "0123456789"], requests=3
    ),
    # Tool servers.
    **{
        f"a server that does {what!r} in a call": Case(
            replies=calls(act(what, tool=f"{server}_act"), then=[echo(server)]),
            results=[holds, "still here"],
            requests=3,
        )
        for server, what, holds in (
            ("fake", "die", "Error: the tool server fake disconnected"),
            ("stuck", "hang", "Error: the tool server stuck did not respond to act within 10 s"),
            ("fake", "flood", "Error: the tool server fake disconnected"),
            ("fake", "stderr", "done"),
            ("fake", "large", "the server sent a line of more than"),
            ("fake", "garbage", "Error: "),
            ("fake", "child", "Error: "),
        )
    },
}


@dataclass(kw_only=True)
class Seen:
    logs: dict[str, list[LogEntry]] = field(default_factory=dict[str, list[LogEntry]])
    read: dict[str, list[str]] = field(default_factory=dict[str, list[str]])  # what people got, by case
    asked: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """When the model was asked about the message that meets the fault; seconds since 1970, as the server counts."""
    illegal: list[str] = field(default_factory=list[str])  # what is wrong with requests that the model got
    letters: dict[str, list[DeadLetter]] = field(default_factory=lambda: defaultdict(list))
    code: int = -1  # exit code of the process
    output: str = ""  # what it logged


class Talker:
    """The model: does for each message what its case says."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        messages: Sequence[Mapping[str, Any]] = body["messages"]
        self._seen.illegal += illegal(messages)
        at = max(place for place, message in enumerate(messages) if message["role"] == "user")
        text = said(messages[at]["content"])
        # One that is shortened begins as ever.
        name = next((name for name in CASES if name.split("\n")[0] == text.split("\n")[0]), "")
        if not name:
            return Say(FINE)
        self._seen.asked[name].append(time.time())
        results = [message for message in messages[at:] if message["role"] == "tool"]
        return CASES[name].replies(len(self._seen.asked[name]) - 1, results)


def illegal(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What a strict server would refuse: calls without results, results without calls, empty messages."""
    waiting: list[str] = []
    for number, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"{number}: a result for {message['tool_call_id']}, of which none is wanted"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"{number}: {message['role']} while results are wanted for {waiting}"
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        if len(set(waiting)) < len(waiting):
            yield f"{number}: two calls with one id"
        if not waiting and not message.get("content"):
            yield f"{number}: an empty message"
    if waiting:
        yield f"no results for {waiting}"


def session_of(name: str) -> str:
    return f"{CASES[name].bot}:s{list(CASES).index(name)}"


def configured(folder: Path, *, model: str, platform: str) -> Config:
    general = CONFIG.format(
        data_dir=folder / "data",
        attempts=ATTEMPTS,
        park_max_s=PARK_MAX_S,
        iterations=ITERATIONS,
        python=sys.executable,
        tool_server=tool_server.__file__,
        hang_s=HANG_S,
    )
    text = general + "".join(BOT.format(bot=bot, model=model, platform=platform) for bot in BOTS)
    file = folder / "millpond.toml"
    file.write_text(text)
    return load(file, environ={}).config


def started(folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.fakes.tool_worker", "--config", str(folder / "millpond.toml")),
                *("run", "--role", "agent", "--role", "channels"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment_of(folder / "data", {}),
        )


async def converse(folder: Path) -> Seen:
    """All conversations, from their first message to the answer of their last."""
    seen = Seen()
    async with fake_openai(Talker(seen)) as model, sink() as platform:
        config = configured(folder, model=model.base_url, platform=platform.url)
        async with open_process(config, folder / "data") as process:
            worker = started(folder)
            try:
                await publish(process)
                with anyio.move_on_after(LIMIT_S):
                    while await left(process):  # noqa: ASYNC110 - nobody tells when all is quiet
                        await anyio.sleep(0.1)
                await look(process, platform, seen)
            finally:
                worker.send_signal(signal.SIGTERM)
                seen.code = await to_thread.run_sync(worker.wait, STOP_LIMIT_S)
                seen.output = (folder / "log").read_text(errors="replace")
    return seen


async def publish(process: Process) -> None:
    for name, case in CASES.items():
        chat = session_of(name).partition(":")[2]
        for number, text in enumerate((name, AGAIN)):
            # A person each: tool servers are shared by what belongs to one.
            inbound = make_inbound(
                process, channel=case.bot, chat=chat, text=text, sender_id=chat, message_id=f"m{number}"
            )
            await accept(process, inbound)


async def left(process: Process) -> int:
    keys, bus = process.bus.keys, process.bus
    lengths = [await bus.call("XLEN", key) for key in (keys.inbox(0), *(keys.out(0, bot) for bot in BOTS))]
    return sum(map(int, lengths))


async def look(process: Process, platform: Sink, seen: Seen) -> None:
    reader, letters = SessionReader(process.bus), DeadLetters(process.bus, process.config.queue)
    for name in CASES:
        seen.logs[name] = [entry for _, entry in await reader.committed(session_of(name), limit=1_000)]
        seen.read[name] = platform.texts(session_of(name))
    names = {session_of(name): name for name in CASES}
    for letter in await letters.newest(limit=1_000):
        seen.letters[names[letter.session]].append(letter)


@pytest.fixture
def seen() -> Iterator[Seen]:
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as name:
        try:
            yield anyio.run(converse, Path(name))
        finally:
            shut_down(Path(name) / "data")


def hold(found: Sequence[str], parts: Sequence[str]) -> bool:
    return len(found) == len(parts) and all(map(str.__contains__, found, parts))


def people_get_one_clear_line_and_the_conversation_goes_on(seen: Seen, name: str) -> None:
    case = CASES[name]

    read = [text for text in seen.read[name] if not text.startswith(NOTICE)]
    assert hold(read, [*case.people_read, FINE]), read
    settled = [each for entry in seen.logs[name] for each in (*entry.answers, *entry.dead)]
    assert settled == ["m0", "m1"]


def every_call_in_the_log_has_its_result(seen: Seen, name: str) -> None:
    results = [result for each in called(seen.logs[name]) for result in each.results]

    assert mismatched(name, seen.logs[name]) == []
    assert hold(results, CASES[name].results), results


def the_model_is_asked_as_often_as_it_takes(seen: Seen, name: str) -> None:
    assert not CASES[name].requests or len(seen.asked[name]) == CASES[name].requests


def what_cannot_be_answered_is_a_dead_letter_and_nothing_else_is(seen: Seen, name: str) -> None:
    expected = ["m0"] if CASES[name].dead else []

    assert [letter.id for letter in seen.letters[name]] == expected
    assert all(CASES[name].dead in letter.reason for letter in seen.letters[name])


def no_request_is_one_that_a_strict_server_refuses(seen: Seen) -> None:
    assert seen.illegal == []


def a_limit_of_its_rate_is_obeyed(seen: Seen) -> None:
    times = seen.asked["a long limit"]

    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert min(gaps) >= RETRY_AFTER_S * 0.95


def an_outage_is_waited_out_for_as_long_as_the_configuration_says(seen: Seen) -> None:
    [letter] = seen.letters["failing for ever"]

    assert int(letter.stream_id.partition("-")[0]) / 1000 - seen.asked["failing for ever"][0] > PARK_MAX_S


def a_result_of_10_mb_is_shown_by_its_ends_and_can_be_read(seen: Seen) -> None:
    shown, read = (each.results[0] for each in called(seen.logs["a tool that gives 10 MB"]))

    assert len(shown) < 25_000
    assert "of 10,000,000 characters left out; the whole result is in the file results/" in shown
    assert read.startswith("0123456789")


def the_process_lives_through_all_of_it_and_ends_in_order(seen: Seen) -> None:
    events = [json.loads(line) for line in seen.output.splitlines() if line.startswith("{")]

    assert seen.code == 0, seen.output[-3_000:]
    assert [event for event in events if event["level"] in ("error", "critical")] == []


EACH = (
    people_get_one_clear_line_and_the_conversation_goes_on,
    every_call_in_the_log_has_its_result,
    the_model_is_asked_as_often_as_it_takes,
    what_cannot_be_answered_is_a_dead_letter_and_nothing_else_is,
)
"""What holds in each conversation; below, what holds once."""

ONCE = (
    no_request_is_one_that_a_strict_server_refuses,
    a_limit_of_its_rate_is_obeyed,
    an_outage_is_waited_out_for_as_long_as_the_configuration_says,
    a_result_of_10_mb_is_shown_by_its_ends_and_can_be_read,
    the_process_lives_through_all_of_it_and_ends_in_order,
)


@each_row("rule", [*ONCE, *(partial(rule, name=name) for rule in EACH for name in CASES)])
def test_whatever_goes_wrong_people_are_told_and_conversations_go_on(seen: Seen, rule: Callable[[Seen], None]) -> None:
    rule(seen)
