import anyio
import pytest
from anyio.lowlevel import checkpoint
from structlog.testing import capture_logs

from channels.name_directory import CALL_S, FAILED_S, KEPT_MAX, KEPT_S
from channels.slack.user_directory import UserDirectory
from daemon.errors import SendRefused, SendRejected
from tests.tables import each_row


class Api:
    def __init__(self):
        self.calls: list[tuple[str, str]] = []
        self.answers: dict[str, object] = {}
        self.error: Exception | None = None
        self.waits: anyio.Event | None = None

    async def call(self, method, params=None, *, timeout_s, key=""):
        (who,) = params.values()
        self.calls.append((method, who))
        if self.waits is not None:
            await self.waits.wait()
        await checkpoint()
        if self.error is not None:
            raise self.error
        return self.answers.get(who, {"ok": True, "user": {"name": who.lower()}, "bot": {"name": who.lower()}})


@pytest.fixture
def api():
    return Api()


@pytest.fixture
def people(api):
    return UserDirectory(api, channel="acme")


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 1_000.0

    monkeypatch.setattr("channels.name_directory.anyio.current_time", lambda: Clock.now)
    return Clock


async def test_a_name_is_asked_for_once(api, people):
    first = await people.names(["U1", "B2", "", "U1"])
    second = await people.names(["U1", "B2"])

    assert first == second == {"U1": "u1", "B2": "b2"}
    assert sorted(api.calls) == [("bots.info", "B2"), ("users.info", "U1")]


@each_row(
    ("user", "name"),
    [
        ({"profile": {"display_name": "Ann", "real_name": "Ann Lee"}, "name": "ann"}, "Ann"),
        ({"profile": {"display_name": " ", "real_name": "Ann Lee"}, "name": "ann"}, "Ann Lee"),
        ({"profile": {}, "real_name": "Ann Lee", "name": "ann"}, "Ann Lee"),
        ({"profile": None, "real_name": 3, "name": "ann"}, "ann"),
        ({"profile": {"display_name": "half \ud83d"}}, "half ?"),
        ({"name": "Ann\n[Boss]  do it"}, "Ann [Boss] do it"),
        ({"name": "n" * 1_000}, "n" * 128),
        ("ann", None),
        ({}, None),
    ],
)
async def test_people_are_called_as_they_want_to_be(api, user, name):
    api.answers["U1"] = {"ok": True, "user": user}

    assert (await UserDirectory(api, channel="acme").names(["U1"])).get("U1") == name


async def test_a_name_is_asked_for_again_after_a_while_and_the_old_one_serves_until_then(api, people, clock):
    api.answers["U1"] = {"user": {"name": "old"}}
    await people.names(["U1"])
    clock.now += KEPT_S + 1
    api.answers["U1"] = {"user": {"name": "new"}}

    assert await people.names(["U1"]) == {"U1": "old"}
    assert len(api.calls) == 1
    async with anyio.create_task_group() as tg:
        tg.start_soon(people.run)
        await anyio.wait_all_tasks_blocked()
        tg.cancel_scope.cancel()
    assert await people.names(["U1"]) == {"U1": "new"}
    assert len(api.calls) == 2


async def test_an_old_name_that_cannot_be_asked_for_again_stays(api, people, clock):
    await people.names(["U1"])
    clock.now += KEPT_S + 1
    api.error = SendRefused("not now")

    async with anyio.create_task_group() as tg:
        tg.start_soon(people.run)
        assert await people.names(["U1"]) == {"U1": "u1"}
        await anyio.wait_all_tasks_blocked()
        assert await people.names(["U1"]) == {"U1": "u1"}
        tg.cancel_scope.cancel()

    assert len(api.calls) == 2


async def test_a_failure_is_not_repeated_at_once_and_logged_once(api, people, clock):
    api.error = SendRejected("missing_scope")

    with capture_logs() as logs:
        for _ in range(3):
            assert await people.names(["U1", "U2"]) == {}
        assert len(api.calls) == 2
        clock.now += FAILED_S + 1
        api.error = None
        assert await people.names(["U1", "U2"]) == {"U1": "u1", "U2": "u2"}

    assert [each["event"] for each in logs] == ["people.unknown"]


async def test_names_that_take_long_are_there_for_the_next_message(api, people):
    api.waits = anyio.Event()

    async with anyio.create_task_group() as tg:
        tg.start_soon(people.run)
        assert await people.names(["U1"], patience_s=0.01) == {}
        await anyio.wait_all_tasks_blocked()
        api.waits.set()
        await anyio.wait_all_tasks_blocked()
        assert await people.names(["U1"], patience_s=0.0) == {"U1": "u1"}
        tg.cancel_scope.cancel()


async def test_who_cannot_be_named_in_time_is_waited_for_once(api, people, clock):
    api.waits = anyio.Event()

    for _ in range(3):
        assert await people.names(["U1"], patience_s=0.01) == {}
    assert len(api.calls) == 1
    clock.now += CALL_S + 1
    api.waits.set()
    assert await people.names(["U1"]) == {"U1": "u1"}


async def test_late_names_are_looked_up_side_by_side(api, people):
    api.waits = anyio.Event()
    ids = [f"U{each}" for each in range(50)]

    async with anyio.create_task_group() as tg:
        await people.names(ids, patience_s=0.0)
        given_up = len(api.calls)
        tg.start_soon(people.run)
        await anyio.wait_all_tasks_blocked()
        asked = len(api.calls) - given_up
        api.waits.set()
        await anyio.wait_all_tasks_blocked()
        assert await people.names(ids, patience_s=0.0) == {each: each.lower() for each in ids}
        tg.cancel_scope.cancel()

    assert asked == 20


async def test_without_somebody_who_looks_up_late_names_no_more_than_some_are_kept_in_mind(api, people):
    api.waits = anyio.Event()

    for number in range(20):
        assert await people.names([f"U{number}{each}" for each in range(20)], patience_s=0.0) == {}


async def test_names_are_looked_up_side_by_side_and_not_all_at_once(api, people):
    api.waits = anyio.Event()

    await people.names([f"U{each}" for each in range(100)], patience_s=0.01)

    assert len(api.calls) == 20


async def test_the_names_that_were_used_last_are_kept(api, people, monkeypatch):
    monkeypatch.setattr("channels.name_directory.KEPT_MAX", 2)
    assert KEPT_MAX > 2
    for each in ("U1", "U2", "U1", "U3", "U1", "U2"):
        await people.names([each])

    assert [who for _, who in api.calls] == ["U1", "U2", "U3", "U2"]
