"""The chaos run itself: that it passes, that it would notice, and that its parts do what they say."""

import itertools
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import hiredis
import msgspec
import pytest
from anyio.abc import ByteStream
from hypothesis import given
from hypothesis import strategies as st

from daemon.events import LogEntry
from daemon.server import Address
from tests.chaos.proxy import Commands, Faults, Proxy, packed
from tests.chaos.tally import Outcome, Record, Sent, tally
from tests.chaos.witness import Witness

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[2]
PUSHES = b"redis.call('RPUSH', KEYS[1], ARGV[1]); return 'pushed'"
RUN_LIMIT_S = 200.0
SMALL = ("--messages", "200", "--sessions", "10", "--seconds", "10", "--late-max-s", "4", "--drain-s", "10")


# The run.


def chaos(*words: str) -> tuple[int, dict[str, int], str]:
    """Exit code, findings by kind, and all that was printed."""
    command = [sys.executable, "-m", "tests.chaos", *words]
    # A group of its own: were the run to hang, its processes would go on without it.
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=RUN_LIMIT_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    found = {text: int(count) for count, text in re.findall(r"^ *(\d+)  (\w.*)$", output, re.MULTILINE)}
    return process.returncode, found, output


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_short_run_loses_doubles_and_reorders_nothing() -> None:
    code, found, output = chaos()

    assert code == 0, output
    assert set(found.values()) == {0}, output
    late = re.search(r"late=(\d+)", output[output.index("Counts(") :])
    assert late is not None
    assert int(late[1]) >= 200, output


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("check", "faults", "noticed"),
    [
        (
            "nonce",
            ("--kills", "0", "--server-kills", "0", "--pauses", "12", "--drop", "0"),
            "writes by who had lost the lease",
        ),
        ("position", ("--kills", "2", "--server-kills", "0", "--late", "0.3"), "messages doubled in a log"),
        ("dedupe", ("--kills", "2", "--server-kills", "1", "--late", "0.1"), "messages doubled in a log"),
        ("reaper", ("--kills", "2", "--server-kills", "0"), "accepted messages without an answer"),
    ],
)
def test_a_run_without_one_of_the_checks_fails_for_that_reason(check: str, faults: Sequence[str], noticed: str) -> None:
    code, found, output = chaos(*SMALL, *faults, "--sabotage", check)

    assert code == 1, output
    assert found[noticed] > 0, output
    # Something was answered: a run in which nothing starts would fail as well, and prove nothing.
    assert found["accepted messages without an answer"] < 200, output


# The proxy.


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
    """A client of the shared server itself."""
    async with await anyio.connect_tcp("127.0.0.1", address.port) as client:
        await asked(client, (b"AUTH", address.password.reveal().encode()))
        yield client


async def asked(client: ByteStream, *commands: Sequence[bytes]) -> list[Any]:
    """The answers to a pipeline of commands."""
    await client.send(b"".join(map(packed, commands)))
    replies, reader = [], Commands()
    with anyio.fail_after(10):
        while len(replies) < len(commands):
            replies += reader.feed(await client.receive())
    return replies


async def test_commands_and_answers_pass_through_in_order(address: Address, prefix: str) -> None:
    key = prefix.encode()
    async with proxied(address, Faults(drop=1.0, late=1.0)) as (proxy, client):
        replies = await asked(client, (b"INCR", key), (b"INCR", key), (b"DEL", key), (b"PING",))

    assert replies == [1, 2, 1, b"PONG"]
    assert (proxy.dropped, proxy.pending, proxy.late) == (0, 0, 0), "only script calls may be lost or repeated"


async def test_a_script_whose_reply_is_dropped_was_carried_out_and_its_client_is_cut_off(
    address: Address, prefix: str
) -> None:
    key = prefix.encode()
    async with proxied(address, Faults(drop=1.0)) as (proxy, client), direct(address) as other:
        [sha] = await asked(client, (b"SCRIPT", b"LOAD", PUSHES))
        await client.send(packed((b"EVALSHA", sha, b"1", key, b"once")) + packed((b"RPUSH", key, b"after the cut")))
        with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)), anyio.fail_after(10):
            await client.receive()

        assert await asked(other, (b"BLPOP", key, b"10")) == [[key, b"once"]]
        assert await asked(other, (b"EXISTS", key)) == [0]
        assert proxy.dropped == 1


async def test_a_copy_of_a_script_call_arrives_late_and_its_reply_reaches_nobody(address: Address, prefix: str) -> None:
    key = prefix.encode()
    async with proxied(address, Faults(late=1.0, late_max_s=0.1)) as (proxy, client), direct(address) as other:
        [sha] = await asked(client, (b"SCRIPT", b"LOAD", PUSHES))
        assert await asked(client, (b"EVALSHA", sha, b"1", key, b"x")) == [b"pushed"]

        assert await asked(other, (b"BLPOP", key, b"10")) == [[key, b"x"]]
        assert await asked(other, (b"BLPOP", key, b"10")) == [[key, b"x"]], "the copy"
        assert await asked(client, (b"PING",)) == [b"PONG"]
        assert (proxy.dropped, await asked(other, (b"EXISTS", key))) == (0, [0])


async def test_a_client_of_a_server_that_is_away_is_cut_off() -> None:
    async with anyio.create_task_group() as tg:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        nobody = listener.extra(anyio.abc.SocketAttribute.local_port)
        await listener.aclose()
        port = await tg.start(Proxy(nobody, "", dice=random.Random(1), faults=Faults()).serve)
        async with await anyio.connect_tcp("127.0.0.1", port) as client:
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)), anyio.fail_after(10):
                await client.receive()
        tg.cancel_scope.cancel()


@given(st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=5), max_size=5), st.lists(st.integers(0, 400)))
def test_however_commands_are_cut_into_pieces_they_come_out_whole(
    commands: list[list[bytes]], places: list[int]
) -> None:
    sent, reader = b"".join(map(packed, commands)), Commands()
    cuts = [0, *sorted(min(place, len(sent)) for place in places), len(sent)]

    found = [command for at, end in itertools.pairwise(cuts) for command in reader.feed(sent[at:end])]

    assert found == commands


# The witness.

NAMES = {b"c": "claim.lua", b"m": "commit.lua", b"j": "journal.lua"}


def claim(nonce: bytes) -> Sequence[bytes]:
    keys = (b"in", b"ready", b"due", b"session", b"log", b"waiting")
    return (b"EVALSHA", b"c", b"6", *keys, b"worker", b"15000", b"60000", b"1", b"name", nonce)


def commit(nonce: bytes, turn: bytes = b"0") -> Sequence[bytes]:
    return (b"EVALSHA", b"m", b"1", b"session", b"name", nonce, turn)


def seen(*steps: tuple[Sequence[bytes], Any]) -> list[str]:
    witness = Witness(NAMES)
    for command, reply in steps:
        witness.asked(command)
        witness.answered(command, reply)
    return witness.stale


def test_a_write_under_an_older_fence_is_noticed() -> None:
    granted = [(claim(b"old"), [[b"claimed", 1]]), (claim(b"new"), [[b"claimed", 2]])]
    journal = (b"EVALSHA", b"j", b"1", b"session", b"old", b"0", b"0")

    assert len(seen(*granted, (commit(b"old"), [b"done"]))) == 1
    assert len(seen(*granted, (journal, b"done"))) == 1
    assert seen(*granted, (commit(b"old"), [b"stale"]), (commit(b"new"), [b"next", 2])) == []


def test_a_commit_that_is_repeated_after_the_next_claim_is_no_second_write() -> None:
    first, again = (claim(b"old"), [[b"claimed", 1]]), (claim(b"new"), [[b"claimed", 2]])

    assert seen(first, (commit(b"old"), [b"done"]), again, (commit(b"old"), [b"done"])) == []


def test_a_write_that_was_sent_before_the_next_claim_was_granted_is_not_judged() -> None:
    witness = Witness(NAMES)
    witness.answered(claim(b"old"), [[b"claimed", 1]])
    witness.asked(commit(b"old"))
    witness.answered(claim(b"new"), [[b"claimed", 2]])
    witness.answered(commit(b"old"), [b"done"])
    witness.answered(commit(b"old"), hiredis.ReplyError("LOADING"))

    assert witness.stale == []


# The tally.

CHAT = "support:ann"


def entry(turn: int, *, message_id: str = "", answers: tuple[str, ...] = ()) -> LogEntry:
    wire = msgspec.Raw(msgspec.json.encode({"role": "assistant", "content": "well then"}))
    return LogEntry(time="", turn=turn, tokens=1, id=message_id, answers=answers, wire=wire)


def turn(number: int, *ids: str) -> list[LogEntry]:
    return [*(entry(number, message_id=each) for each in ids), entry(number, answers=ids)]


def sent(number: int) -> Sent:
    return Sent(session=CHAT, reply=f"{CHAT}#{number}", part=0)


CLEAN = Record(
    accepted={CHAT: ["a", "b", "c"]},
    logs={CHAT: [*turn(0, "a", "b"), *turn(3, "c")]},
    sent=[sent(0), sent(3)],
    push=frozenset({CHAT}),
)


def wrong(record: Record) -> set[str]:
    """Kinds of what is wrong."""
    found = tally(record)
    assert found.ok == (not any(vars(found).values()))
    return {kind for kind, findings in vars(found).items() if findings}


def test_nothing_is_wrong_with_a_run_in_which_all_went_well() -> None:
    assert wrong(CLEAN) == set()
    assert re.findall(r"\d+", tally(CLEAN).report()) == ["0"] * 7


@pytest.mark.parametrize(
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


def test_what_is_wrong_at_the_platform_is_found() -> None:
    assert wrong(replace(CLEAN, sent=[sent(0)])) == {"unsent"}
    assert wrong(replace(CLEAN, sent=[sent(3), sent(0)])) == {"shuffled"}
    assert wrong(replace(CLEAN, sent=[sent(0), sent(3), sent(3)])) == {"resent"}
    assert wrong(replace(CLEAN, stale=["somebody"])) == {"stale"}


def test_a_doubled_send_is_allowed_once_for_a_part_that_is_listed_as_unknown() -> None:
    listed = replace(CLEAN, unknown=[Outcome(reply=f"{CHAT}#0", part=0, action="resent")])

    assert wrong(replace(listed, sent=[sent(0), sent(0), sent(3)])) == set()
    assert wrong(replace(listed, sent=[sent(0), sent(3), sent(0)])) == set(), "the first one is in order"
    assert wrong(replace(listed, sent=[sent(0), sent(0), sent(0), sent(3)])) == {"resent"}


def test_of_a_part_that_was_given_up_nothing_is_expected() -> None:
    given_up = replace(CLEAN, unknown=[Outcome(reply=f"{CHAT}#0", part=0, action="given up")])

    assert wrong(replace(given_up, sent=[sent(3)])) == set()
    assert wrong(replace(given_up, sent=[sent(3), sent(0)])) == set()
