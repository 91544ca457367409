"""Thirty kinds of damage, one session each: its people are told, other sessions are answered, and a repair helps."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal

import anyio
import msgspec
from structlog.testing import capture_logs

from daemon.bus import Bus, pairs
from daemon.data import DataCheck
from daemon.errors import BusError
from daemon.events import Notice
from daemon.process import Process
from daemon.testing import ScriptedModel
from daemon.wording import text as say
from tests.conftest import Lab
from tests.integration.test_turns import Bot
from tests.limits import HANG_S, until
from tests.weblab import page_of

Outcome = Literal["answered", "told", "dead letter", "refused"]
"""Of a message: ``told``: its people were told that the data is damaged; ``refused``: nothing, but the log says why."""

Break = Callable[[Bus, str], Awaitable[Any]]


def field(name: str, value: str = "abc") -> Break:
    return lambda bus, session: bus.call("HSET", bus.keys.session(session), name, value)


def key(kind: str, command: str, *words: str | int) -> Break:
    return lambda bus, session: bus.call(command, getattr(bus.keys, kind)(session), *words)


def retype(kind: str) -> Break:
    return key(kind, "SET", "text")


KINDS: dict[str, tuple[Break, Outcome, str, Outcome]] = {
    # damage: what does it, what becomes of the next message, the rule that tells of it, the message after a repair
    "log shorter by one": (key("log", "RPOP"), "told", "session.log", "answered"),
    "log without its beginning": (key("log", "LPOP"), "told", "session.log", "answered"),
    "log lost": (key("log", "DEL"), "told", "session.log", "answered"),
    "log of another type": (retype("log"), "told", "key.type", "told"),
    "log with an unreadable message": (key("log", "LSET", 0, "{"), "dead letter", "log.message", "dead letter"),
    "head = abc": (field("head"), "told", "session.fields", "answered"),
    "start = abc": (field("start"), "told", "session.fields", "answered"),
    "tokens = abc": (field("tokens"), "told", "session.fields", "answered"),
    "tokens_start = abc": (field("tokens_start"), "told", "session.fields", "answered"),
    "fence = abc": (field("fence"), "told", "session.fields", "answered"),
    "claims = abc": (field("claims"), "told", "session.fields", "answered"),
    "attempts = abc": (field("attempts"), "told", "session.fields", "answered"),
    "deaths = -1": (field("deaths", "-1"), "told", "session.fields", "answered"),
    "base = abc": (field("base"), "told", "session.fields", "told"),
    "begins = abc": (field("begins"), "told", "session.fields", "told"),
    "cursor = abc": (field("cursor"), "told", "session.fields", "told"),
    "retry_at = abc": (field("retry_at"), "answered", "", "answered"),
    "parked_at = abc": (field("parked_at"), "answered", "", "answered"),
    "lease = abc": (field("lease"), "answered", "", "answered"),
    "lease without an end": (field("nonce"), "answered", "", "answered"),
    "debounce = abc": (field("debounce"), "answered", "", "answered"),
    "options unreadable": (field("options", "{"), "answered", "", "answered"),
    "continuity unreadable": (field("continuity", "{"), "answered", "", "answered"),
    "stop of no message": (field("stop_upto", "1-1"), "answered", "", "answered"),
    "start behind the head": (field("start", "99"), "answered", "session.positions", "answered"),
    "head too small": (field("head", "0"), "answered", "session.tokens", "answered"),
    "no scope": (key("session", "HDEL", "scope"), "answered", "session.scope", "answered"),
    "waiting message lost": (key("waiting", "RPUSH", "1-1"), "answered", "", "answered"),
    "waiting of another type": (retype("waiting"), "refused", "key.type", "refused"),
    "traces of another type": (retype("traces"), "answered", "key.ttl", "answered"),
    "session of another type": (retype("session"), "refused", "key.type", "refused"),
    "lock of another type": (retype("lock"), "answered", "key.type", "answered"),
    "segments of another type": (retype("segments"), "answered", "key.type", "answered"),
}

HEALTHY = "web:healthy"
TOLD = say("damaged", "en")


def session_of(kind: str) -> str:
    return f"web:damaged-{list(KINDS).index(kind):02}"


async def outcome(lab: Lab, session: str, message_id: str) -> Outcome:
    """What became of a message, as its people see it."""
    keys = lab.bus.keys
    for _, words in await lab.bus.call("XRANGE", keys.notices(session), "-", "+"):
        notice = msgspec.json.decode(dict(pairs(words))[b"notice"], type=Notice)
        if (notice.message_id, notice.text) == (message_id, TOLD):
            return "told"
    for _, words in await lab.bus.call("XRANGE", keys.of(session).dead, "-", "+"):
        letter = dict(pairs(words))
        if (letter[b"session"], letter[b"id"]) == (session.encode(), message_id.encode()):
            return "dead letter"
    with suppress(BusError):
        raws = await lab.bus.call("LRANGE", keys.log(session), 0, -1)
        if any(f'"answers":["{message_id}"]'.encode() in raw for raw in raws):
            return "answered"
    return "refused"


async def outcomes(process: Process, lab: Lab, message_id: str, expected: dict[str, Outcome]) -> dict[str, Outcome]:
    """Of one more message to each session, once a worker has done what it can."""
    found = dict[str, Outcome]()

    async def are_done() -> bool:
        for kind, wanted in expected.items():
            if found.get(kind) != wanted:
                found[kind] = await outcome(lab, session_of(kind), message_id)
        return found == expected and await outcome(lab, HEALTHY, message_id) == "answered"

    for session in (*map(session_of, KINDS), HEALTHY):
        with suppress(BusError):
            await lab.publish(message_id, session=session)
    async with Bot(process, ScriptedModel(*["yes"] * 4 * len(KINDS))).working():
        with anyio.move_on_after(HANG_S / 2):
            await until(are_done)
    return found


async def test_damage_is_told_and_mended_and_other_sessions_are_answered(process: Process, lab: Lab) -> None:
    for session in (*map(session_of, KINDS), HEALTHY):
        await lab.publish("first", session=session)
        await lab.commit(await lab.claim(session), go_on=False)
    for kind, (broken, *_) in KINDS.items():
        await broken(lab.bus, session_of(kind))

    with capture_logs() as logged:
        before = await outcomes(process, lab, "second", {kind: row[1] for kind, row in KINDS.items()})
    found = await DataCheck(lab.bus, None, waits_s=0.0).run()
    shown = await answers_of_the_api(process)
    await DataCheck(lab.bus, None, repairs=True, waits_s=0.0).run()
    after = await outcomes(process, lab, "third", {kind: row[3] for kind, row in KINDS.items()})

    assert before == {kind: row[1] for kind, row in KINDS.items()}
    assert shown == {"shown", "damaged"}
    assert after == {kind: row[3] for kind, row in KINDS.items()}
    assert [event for event in logged if event["event"] == "recall.failed"] == []
    for kind, (_, _, rule, _) in KINDS.items():
        rules = {flaw.rule for flaw in found.flaws if session_of(kind) in flaw.where}
        assert rule in rules if rule else not rules, kind
    assert [flaw for flaw in found.flaws if HEALTHY in flaw.where] == []


async def answers_of_the_api(process: Process) -> set[str]:
    """To who looks at each session."""
    async with page_of(process) as page:
        found = [await page.client.get(f"/api/sessions/{session_of(kind)}/timeline") for kind in KINDS]
    return {"shown" if each.status_code == 200 else each.json()["error"]["code"] for each in found}
