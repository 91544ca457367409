"""The system as an operator sees it: computed once for all lookers, and dead letters with what becomes of them."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import Route

from channels.leader_election import Lease, LeaseTerms
from channels.web import event_streams
from channels.web.access import Operators
from channels.web.app import application
from channels.web.request_guard import OpenRequests
from channels.web.settings import settings_routes
from channels.web.site import Site
from channels.web.system import system_endpoints
from channels.web.system.system_endpoints import without_ages
from daemon.access import Pauses
from daemon.bus import DeadLetters, excerpt_of
from daemon.config import (
    BotConfig,
    CostConfig,
    EachConfig,
    LimitsConfig,
    ModelConfig,
    PricesConfig,
    Secret,
    TestingConfig,
    WebConfig,
)
from daemon.errors import BusUnavailable, InvalidAnswer, ModelTimeout, ModelUnavailable, RateLimited
from daemon.heartbeat import beat
from daemon.model import Answer, Request, note_failure, read_failures
from daemon.operators import LoginCodes, OperatorAudit
from daemon.process import Process
from daemon.server import Address
from daemon.session import Sessions
from daemon.testing import FailingBus, ManualClock, ScriptedModel
from daemon.usage import Amount, UsageBook, User
from tests.conftest import Lab, an_inbound
from tests.integration.test_dead_letters import die
from tests.integration.test_publish import waiting_ids
from tests.integration.test_turns import Bot
from tests.limits import HANG_S, until
from tests.weblab import TOKEN, Page, page_of
from workers.model_health import LoggedModel


@pytest.fixture
async def page(process: Process) -> AsyncIterator[Page]:
    async with page_of(process) as page:
        yield page


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_endpoints, "FRESH_S", 0.0)
    monkeypatch.setattr(system_endpoints, "SHARE", 0)
    monkeypatch.setattr(system_endpoints, "FRESH_S", 0.02)


async def test_an_empty_system_is_all_zeros(page: Page) -> None:
    system = await page.get("/api/system")

    assert set(system) == {
        *("workers", "leaders", "leases", "queue", "parked", "parked_chats", "model_errors", "problems")
    }
    assert system["leases"] == system["leaders"] == system["parked"] == system["parked_chats"] == []
    queue = dict(system["queue"])
    assert queue.pop("out") == {}
    assert set(queue.values()) == {0}
    assert system["model_errors"] == {"minutes": [0] * 15, "kinds": {}, "last": ""}


async def test_who_works_what_is_held_and_what_rests_are_shown(process: Process, lab: Lab) -> None:
    for name in ("held", "backing", "parked", "ready"):
        await lab.publish("a", session=f"web:{name}")
    patient = Sessions(lab.bus, msgspec.structs.replace(lab.queue, lease_s=60.0), worker="worker")
    await patient.claim("web:held")
    await lab.sessions.back_off(await lab.claim("web:backing"), delay_s=60.0)
    await lab.sessions.park(await lab.claim("web:parked"), delay_s=60.0, reason="setup: no key")
    await Pauses(lab.bus, lab.queue).pause("pond", "support:1", by="ann", time="2026-11-20T09:00:00.000Z")

    async with page_of(process) as page, anyio.create_task_group() as tg:
        tg.start_soon(beat, process, "agent", lambda: 3)
        await until(lambda: _is_there(lab, "agent"))
        system = await page.get("/api/system")
        tg.cancel_scope.cancel()

    [agent] = [one for one in system["workers"] if one["role"] == "agent"]
    assert (agent["name"], agent["holding"], agent["seen_s"]) == (process.name, 3, 0)
    assert process.name.startswith(f"{agent['host']}-")
    [lease] = system["leases"]
    assert (lease["session"], lease["worker"], lease["fence"]) == ("web:held", "worker", 1)
    assert 0 < lease["left_s"] <= 60
    backing, parked = system["parked"]
    assert (backing["session"], backing["since"]) == ("web:backing", "")
    assert (parked["session"], parked["reason"], backing["reason"]) == ("web:parked", "setup: no key", "")
    assert parked["since"] < parked["until"]
    [chat] = system["parked_chats"]
    assert (chat["bot"], chat["chat"]) == ("pond", "support:1")
    assert re.fullmatch(r"20\d\d-.*Z", chat["since"])
    assert {name: system["queue"][name] for name in ("backlog", "due", "ready", "in_flight", "parked")} == {
        "backlog": 4, "due": 4, "ready": 1, "in_flight": 3, "parked": 2,
    }  # fmt: skip


async def _is_there(lab: Lab, role: str) -> bool:
    return any(role.encode() in key for key in await lab.bus.call("HKEYS", lab.bus.keys.workers))


async def test_who_sends_and_who_asks_a_platform_are_shown_while_they_do(process: Process, lab: Lab) -> None:
    channels = {"support": TestingConfig(url="http://127.0.0.1:9")}
    config = msgspec.structs.replace(process.config, channels=channels)
    keys = [lab.bus.keys.leader(0, "support"), lab.bus.keys.poller("support")]
    leases = [Lease(bus=lab.bus, terms=LeaseTerms(key=key, lease_s=5.0, renew_s=1.0, worker="w-1")) for key in keys]
    for lease in leases:
        await lease.ask()
    await lab.bus.call("XADD", lab.bus.keys.out(0, "support"), "*", "reply", "{}")
    served = replace(process, config=config)

    system = system_endpoints.form_of(await system_endpoints.read_system(served.bus, served.config, served.clock))
    await leases[0].resign(channel="c", said="s")
    later = system_endpoints.form_of(await system_endpoints.read_system(served.bus, served.config, served.clock))

    assert [(one["does"], one["partition"], one["worker"]) for one in system["leaders"]] == [
        ("asks", None, "w-1"), ("sends", 0, "w-1"),
    ]  # fmt: skip
    assert all(0 < one["left_s"] <= 5 for one in system["leaders"])
    assert system["queue"]["out"] == {"support": 1}
    assert [one["does"] for one in later["leaders"]] == ["asks"]


async def test_however_many_look_it_is_computed_once(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_endpoints, "FRESH_S", 60.0)
    read, computed = system_endpoints.read_system, list[None]()

    async def counting(*args: Any) -> Any:
        computed.append(None)
        return await read(*args)

    monkeypatch.setattr(system_endpoints, "read_system", counting)
    async with anyio.create_task_group() as tg:
        for _ in range(50):
            tg.start_soon(page.get, "/api/system")

    assert len(computed) == 1


async def test_wherever_redis_goes_away_it_is_one_outage_for_all_who_look(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    counting = FailingBus(lab.bus, at=0)
    await system_endpoints.SystemSnapshots(replace(process, bus=counting)).get()

    for at in range(1, counting.calls + 1):
        failing = FailingBus(lab.bus, at=at)
        lookers, refused = system_endpoints.SystemSnapshots(replace(process, bus=failing)), 0
        for _ in range(3):
            try:
                await lookers.get()
            except BusUnavailable:
                refused += 1
        assert (refused, failing.calls <= counting.calls) == (3, True), at


Event = tuple[str, Any]


@asynccontextmanager
async def watching(page: Page) -> AsyncIterator[AsyncIterator[Event]]:
    async with page.client.stream("GET", "/api/system/events") as response:
        assert response.status_code == 200, await response.aread()
        async with aclosing(events_of(response)) as events:
            yield events


async def events_of(response: httpx2.Response) -> AsyncIterator[Event]:
    name = ""
    async for line in response.aiter_lines():
        kind, _, value = line.partition(": ")
        if kind == "event":
            name = value
        elif kind == "data":
            yield name, json.loads(value)


async def following(events: AsyncIterator[Event]) -> Any:
    with anyio.fail_after(HANG_S):
        name, data = await anext(events)
        assert name == "system"
        return data


@pytest.mark.usefixtures("_at_once")
async def test_a_looker_gets_it_at_once_and_whenever_it_has_changed(page: Page, lab: Lab) -> None:
    async with watching(page) as events:
        first = await following(events)
        while not first["workers"]:  # the first beat
            first = await following(events)
        await lab.publish("a")
        second = await following(events)
        await Sessions(lab.bus, msgspec.structs.replace(lab.queue, lease_s=60.0), worker="worker").claim("web:ann")
        third = await following(events)

    assert [each["queue"]["backlog"] for each in (first, second, third)] == [0, 1, 1]
    assert [len(each["leases"]) for each in (first, second, third)] == [0, 0, 1]


@pytest.mark.usefixtures("_at_once")
async def test_without_changes_ages_are_told_at_intervals(page: Page, lab: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(system_endpoints, "AGES_EVERY_S", 0.3)
    await until(lambda: _is_there(lab, "web"))

    async with watching(page) as events:
        await following(events)
        await following(events)

    shown = system_endpoints.SystemSnapshot(at=1.0, body=b"", number=1)
    assert not msgspec.structs.replace(shown, at=1.2).is_news_after(shown)
    assert msgspec.structs.replace(shown, at=1.4).is_news_after(shown)
    assert msgspec.structs.replace(shown, number=2).is_news_after(shown)


@pytest.mark.usefixtures("_at_once")
async def test_silence_is_broken_and_an_outage_ends_no_stream(page: Page, lab: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_streams, "KEEP_ALIVE_S", 0.05)
    read = system_endpoints.read_system
    gone = True

    async def away(*args: Any) -> Any:
        if gone:
            raise BusUnavailable("gone")
        return await read(*args)

    await until(lambda: _is_there(lab, "web"))
    async with page.client.stream("GET", "/api/system/events") as response:
        lines = response.aiter_lines()
        with anyio.fail_after(HANG_S):
            assert await anext(lines) == "retry: 1000"
            while await anext(lines) != "event: system":  # on a slow machine, comments come before it
                pass
            monkeypatch.setattr(system_endpoints, "read_system", away)
            while await anext(lines) != ": keep-alive":
                pass
            refused = await page.client.get("/api/system")
            gone = False
            await lab.publish("a")
            while await anext(lines) != "event: system":
                pass

    assert refused.status_code == 503


async def test_streams_are_for_operators_end_with_the_process_and_are_not_counted_when_gone(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await page.stranger.get("/api/system/events")).status_code == 401
    monkeypatch.setattr("channels.web.event_streams.VIEWERS_MAX", 1)
    async with watching(page) as events:
        await following(events)
        crowded = await page.client.get("/api/system/events")
    with anyio.fail_after(HANG_S):
        while (await page.client.head("/api/system/events")).status_code != 200:
            pass
        async with watching(page) as events:
            await following(events)
            page.process.stopping.set()
            assert [event async for event in events] == []

    assert crowded.status_code == 503


@given(st.dictionaries(st.sampled_from(["left_s", "seen_s", "oldest_s", "fence", "session"]), st.integers(0, 10**6)))
def test_ages_alone_are_no_news(fields: dict[str, int]) -> None:
    older = {name: value + 1 if name.endswith("_s") else value for name, value in fields.items()}
    newer = {name: value if name.endswith("_s") else value + 1 for name, value in fields.items()}

    def shape(each: dict[str, int]) -> bytes:
        return without_ages(msgspec.json.encode({"a": [each], "text": '"left_s":1'}))

    assert shape(fields) == shape(older)
    assert (shape(fields) == shape(newer)) == (fields == newer)


async def test_dead_letters_are_listed_newest_first_without_their_texts(page: Page, lab: Lab) -> None:
    await die(lab, "old")
    await lab.publish("x", text="many\nwords " * 100)
    await die(lab, "new", session="web:bob", reason="ModelTimeout")

    newest, oldest = (await page.get("/api/dead"))["dead"]

    assert (newest["session"], newest["message"], newest["reason"]) == ("web:bob", "new", "ModelTimeout")
    assert (oldest["kind"], oldest["attempts"], oldest["chars"]) == ("message", 1, len("text of old"))
    assert "text of old" not in json.dumps(oldest)
    assert oldest["time"] <= newest["time"]
    assert [each["message"] for each in (await page.get("/api/dead", limit=1))["dead"]] == ["new"]


async def test_an_excerpt_is_one_short_line(lab: Lab) -> None:
    key = lab.bus.keys.dead(0)
    inbound = msgspec.json.encode(an_inbound("a", text="a\u202e\n\x00 b" * 300))
    await lab.bus.call("XADD", key, "*", "session", "web:ann", "id", "a", "reason", "attempts", "message", inbound)

    [letter] = await DeadLetters(lab.bus, lab.queue).newest(limit=1)
    excerpt = excerpt_of(letter, most=200)

    assert len(excerpt) == 200
    assert excerpt.isprintable() and excerpt.endswith("…")


async def test_chosen_letters_are_replayed_once_and_in_their_place(page: Page, lab: Lab) -> None:
    await die(lab, "a", "b", "c")
    ids = {letter["message"]: letter["id"] for letter in (await page.get("/api/dead"))["dead"]}
    body = {"ids": [ids["a"], ids["c"]]}

    done = (await page.client.post("/api/dead/replay", json=body)).json()
    again = (await page.client.post("/api/dead/replay", json=body)).json()

    assert done == {"done": 2, "refused": []}
    assert again["done"] == 0
    assert [ids["a"] in again["refused"][0], ids["c"] in again["refused"][1]] == [True, True]
    assert await waiting_ids(lab) == ["a", "c"]
    assert [letter["message"] for letter in (await page.get("/api/dead"))["dead"]] == ["b"]
    deeds = await OperatorAudit(lab.bus).newest(limit=2)
    assert [(deed.action, deed.outcome) for deed in deeds] == [
        ("dead.replay", "0 done, 2 refused"), ("dead.replay", "2 done, 0 refused"),
    ]  # fmt: skip


async def test_all_of_a_reason_are_replayed_or_dropped(page: Page, lab: Lab) -> None:
    await die(lab, "a", "b")
    await die(lab, "c", reason="rejected: the chat is gone")

    replayed = await page.client.post("/api/dead/replay", json={"reason": "attempts"})
    dropped = await page.client.post("/api/dead/drop", json={"reason": "rejected"})

    assert replayed.json() == {"done": 2, "refused": []}
    assert dropped.json() == {"done": 1, "refused": []}
    assert await DeadLetters(lab.bus, lab.queue).newest(limit=10) == []
    assert sorted(await waiting_ids(lab)) == ["a", "b"]


@pytest.mark.parametrize(
    "body",
    [{}, {"ids": []}, {"reason": ""}, {"ids": ["1-1"], "reason": "attempts"}, {"ids": ["1-1"] * 1_001}, {"all": True}],
)
@pytest.mark.parametrize("action", ["replay", "drop"])
async def test_what_names_no_letters_does_nothing(page: Page, lab: Lab, action: str, body: dict[str, Any]) -> None:
    await die(lab, "a")

    assert await page.refused(f"/api/dead/{action}", 400, method="POST", json=body) == "bad_request"
    assert len((await page.get("/api/dead"))["dead"]) == 1


async def test_names_that_are_none_are_refused_and_keep_no_other_from_it(page: Page, lab: Lab) -> None:
    await die(lab, "a")
    [letter] = (await page.get("/api/dead"))["dead"]

    done = (await page.client.post("/api/dead/drop", json={"ids": ["nonsense", "1-1", letter["id"]]})).json()

    assert (done["done"], len(done["refused"])) == (1, 2)


async def test_unknown_sends_are_listed_newest_first(page: Page, lab: Lab) -> None:
    key = lab.bus.keys.unknown(0)
    for part in ("0", "1"):
        fields = {"session": "support:eve", "reply": "support:eve#0", "part": part, "attempt": "1", "action": "resent"}
        await lab.bus.call("XADD", key, f"{int(part) + 1}-0", *[word for pair in fields.items() for word in pair])
    await lab.bus.call("XADD", key, "*", "session", "a hand wrote this")
    await lab.bus.call("PEXPIRE", key, 60_000)

    by_hand, second, first = (await page.get("/api/unknown"))["unknown"]

    assert (by_hand["session"], by_hand["part"]) == ("a hand wrote this", 0)
    assert (second["part"], first["part"]) == (1, 0)
    assert first == {
        "time": "1970-01-01T00:00:00.001Z", "session": "support:eve", "reply": "support:eve#0",
        "part": 0, "attempt": 1, "action": "resent",
    }  # fmt: skip


async def test_failures_are_counted_by_the_minute_and_forgotten(lab: Lab) -> None:
    clock = ManualClock()
    await note_failure(lab.bus, clock, RateLimited("slow down", retry_after_s=None))
    clock.advance(14 * 60)
    for error in (ModelTimeout("slow"), ModelTimeout("slow")):
        await note_failure(lab.bus, clock, error)
    all_of_them = await read_failures(lab.bus, clock)
    clock.advance(60)
    later = await read_failures(lab.bus, clock)
    clock.advance(15 * 60)

    assert all_of_them.minutes == [1] + [0] * 13 + [2]
    assert (all_of_them.kinds, all_of_them.last) == ({"RateLimited": 1, "ModelTimeout": 2}, "ModelTimeout")
    assert (sum(later.minutes), later.kinds) == (2, {"ModelTimeout": 2})
    assert (await read_failures(lab.bus, clock)).minutes == [0] * 15


@pytest.mark.parametrize("failure", [ModelUnavailable("away"), InvalidAnswer("nonsense")])
async def test_a_turn_that_a_model_fails_is_counted(process: Process, lab: Lab, failure: Exception) -> None:
    await lab.publish("a")

    async def answered() -> bool:
        return (await lab.state()).head > 0

    async with Bot(process, ScriptedModel(failure, failure, "here again")).working():  # type: ignore[arg-type]
        await until(answered)

    failures = await read_failures(lab.bus, process.clock)
    assert failures.kinds == {type(failure).__name__: 2}
    assert failures.minutes[-1] == 2


async def test_a_summary_that_a_model_fails_is_counted(process: Process) -> None:
    model = LoggedModel(ScriptedModel(ModelTimeout("slow"), "fine"), ModelConfig(), process)
    request = Request(messages=[], tokens=1, max_completion_tokens=10)

    with pytest.raises(ModelTimeout):
        async for _ in model.stream(request):
            pass
    answers = [chunk async for chunk in model.stream(request) if isinstance(chunk, Answer)]

    assert [answer.text for answer in answers] == ["fine"]
    assert (await read_failures(process.bus, process.clock)).kinds == {"ModelTimeout": 1}


API_KEY = "sk-planted-key"
PAGE_PATHS = re.compile(r"\{[^}]+\}")


async def test_no_secret_stands_in_any_answer(process: Process, lab: Lab, address: Address) -> None:
    """Token, API key, the server's password, a login code and a cookie: looked for in all that can be asked."""
    model = ModelConfig(base_url="http://127.0.0.1:9/v1", name="m", api_key=Secret(API_KEY))
    process = replace(process, config=msgspec.structs.replace(process.config, bots={"pond": BotConfig(model=model)}))
    await die(lab, "a")
    await lab.publish("b")
    logins = LoginCodes(lab.bus)
    code, secret = await logins.offer("web"), await logins.redeem(await logins.offer("web"), "web")
    secrets = [TOKEN, API_KEY, address.password.reveal(), code, secret]
    site = Site(process=process, name="web", config=WebConfig(), address="")
    every = [*application(site, OpenRequests()).routes, *settings_routes(site, Operators(site).only)]
    routes = [route for route in every if isinstance(route, Route)]
    looked: list[str] = []

    async with page_of(process) as page:
        for route in routes:
            for path in {PAGE_PATHS.sub(name, route.path) for name in ("web:ann", "pond%3Aperson%3Aweb%3Aann", "0")}:
                for method in route.methods or set():
                    if path.endswith("/events"):
                        continue
                    answer = await page.client.request(
                        method, path, params={"session": "ann", "q": "a"}, headers={"Accept": "text/html"}
                    )
                    looked.append(f"{answer.status_code} {path}")
                    said = answer.text + repr(answer.headers)
                    assert [each for each in secrets if each in said] == [], f"{method} {path}"
        async with watching(page) as events:
            shown = json.dumps(await following(events))
            assert [each for each in secrets if each in shown] == []

    assert all(secrets)
    assert {"200 /api/system", "200 /api/dead", "200 /api/me", "200 /metrics", "200 /api/audit"} <= set(looked)


async def test_usage_and_what_is_left_of_the_limits_are_shown(process: Process, lab: Lab) -> None:
    limits = LimitsConfig(
        tokens_per_day=EachConfig(person=1_250, chat=625, bot=2_500),
        cost_per_day=CostConfig(bot=10.0),
        reserved_for_memory=0.2,
    )
    bots = {"pond": BotConfig(limits=limits, model=ModelConfig(prices=PricesConfig(currency="EUR")))}
    process = replace(process, config=msgspec.structs.replace(process.config, bots=bots))
    book, at_nine = UsageBook(lab.bus), 9 * 3_600
    for number, (name, tokens) in enumerate((("ann", 450), ("bob", 900))):
        user = User(bot="pond", session=f"web:{name}", channel="web", sender_id=name)
        used = Amount(calls=1, tokens_in=tokens, cached_in=90, cacheable_in=180, cached_nano={"EUR": 10**6})
        used.costs_nano = {"EUR": 3 * 10**8, "USD": 10**9}
        await book.note(str(number), user, "2026-11-20", {"m": used}, second=at_nine - 1_800)

    async with page_of(process) as page:
        shown = await page.get("/api/usage?by=person&days=2")
        assert await page.refused("/api/usage?by=week", 400) == "bad_request"
        assert await page.refused("/api/usage?days=401", 400) == "bad_request"
        by_day = await page.get("/api/usage")

    assert shown["days"] == ["2026-11-19", "2026-11-20"]
    assert [(row["name"], row["tokens_in"], row["cached_share"]) for row in shown["usage"]] == [
        *(("pond web:bob", 900, 0.5), ("pond web:ann", 450, 0.5))
    ]
    assert (by_day["usage"][0]["name"], by_day["usage"][0]["cached_cost"]) == ("2026-11-20", "0.0020 EUR")
    assert len(by_day["days"]) == 7
    assert [(row["limit"], row["name"], row["used"], row["left"], row["lasts_s"]) for row in shown["limits"]] == [
        ("tokens_per_day.chat", "web:bob", 900, 0, 0),
        ("tokens_per_day.person", "web:bob", 900, 100, 400),
        ("tokens_per_day.chat", "web:ann", 450, 50, 400),
        ("tokens_per_day.bot", "pond", 1_350, 650, 1_733),
        ("tokens_per_day.person", "web:ann", 450, 550, 4_400),
        ("cost_per_day.bot", "pond", 0.6, 7.4, 44_400),
    ]
