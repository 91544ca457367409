"""Whatever an app is brought, nobody stumbles over it: the way from the wire to the intake, in one."""

import json

import anyio
import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from channels.arrival import Arrival
from channels.slack.event_inlet import EventInlet
from channels.slack.slack_events import Me
from channels.slack.socket_mode import Envelope, Envelopes
from channels.slack.user_directory import UserDirectory
from channels.slack.workspaces import App
from tests.limits import HANG_S
from tests.tables import each_row

ME = Me(team="T1", user="U0", bot="B0", name="pond")

SAID = {
    "type": "event_callback",
    "team_id": "T1",
    "context_team_id": "T1",
    "api_app_id": "A0",
    "event_id": "Ev1",
    "authorizations": [{"team_id": "T1", "user_id": "U0", "is_bot": True}],
    "event": {
        "type": "message",
        "channel": "D1",
        "channel_type": "im",
        "user": "U7",
        "ts": "1700000000.000100",
        "text": "<@U8> hello",
        "files": [{"id": "F1", "name": "a.png"}],
        "message": {"text": "better", "ts": "1700000000.000100", "user": "U7"},
    },
}
COMMAND = {
    "command": "/millpond",
    "text": "hi",
    "team_id": "T1",
    "channel_id": "D1",
    "user_id": "U7",
    "trigger_id": "1.2",
}

ODD = [
    *(b"", b"{", b"[]", b"null", b"3", b'"x"', b"\xff\xfe", b'{"type": "\xff"}', b'{"team_id": "T1", "type": "\xff"}'),
    *(b'{"team_id": "\\ud800"}', b'{"team_id": "T1", "event": {"type": "message", "channel": "\xff"}}'),
    *(b'{"event": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", b'{"authorizations": [{"team_id": "\xff"}]}'),
    *(b'{"team_id": "T1", "event": ' + b'{"message": ' * 900 + b"1" + b"}" * 901, b'{"team_id": ["T1"], "event": 3}'),
]


class Api:
    async def call(self, method, params=None, *, timeout_s, key=""):
        return {"ok": True, "user": ["odd"]}


class Intake:
    def __init__(self):
        self.taken: list[Arrival] = []

    async def take(self, arrival):
        msgspec.json.encode(arrival)
        self.taken.append(arrival)


def opened() -> tuple[App, EventInlet, Intake]:
    intake = Intake()
    inlet = EventInlet(
        intake, ME, UserDirectory(Api(), channel="acme"), channel="acme", everything=True, now=lambda: 5.0
    )
    return App(frozenset({"acme"}), channel="acme"), inlet, intake


async def dealt_with(payload: bytes, kind) -> bool:
    app, inlet, _ = opened()
    with app.joined("acme", ME.team, inlet):
        return await app.take(kind, payload)


@each_row("payload", ODD)
@each_row("kind", ["events_api", "slash_commands", "other"])
async def test_what_nobody_can_understand_is_dealt_with(payload, kind):
    assert await dealt_with(payload, kind)


@each_row("payload", ODD)
async def test_an_envelope_that_nobody_can_understand_holds_up_none_behind_it(payload):
    app, inlet, intake = opened()
    acknowledged: list[str] = []

    def put(number: int, found: bytes) -> None:
        async def acknowledge() -> None:
            acknowledged.append(f"e{number}")

        envelope = Envelope(type="events_api", envelope_id=f"e{number}", payload=msgspec.Raw(found))
        envelopes.put(envelope, acknowledge)

    with anyio.fail_after(HANG_S), app.joined("acme", ME.team, inlet):
        async with anyio.create_task_group() as tg:
            envelopes = Envelopes(app, tg, channel="acme")
            put(1, payload)
            put(2, json.dumps(SAID).encode())

    assert sorted(acknowledged) == ["e1", "e2"]
    assert [each.text for each in intake.taken] == ["@U8 hello"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def spoilt(draw, whole):
    """``whole`` with some values, at any depth, replaced by anything."""
    found = json.loads(json.dumps(whole))
    for _ in range(draw(st.integers(1, 3))):
        at = found
        while True:
            key = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
            inside = at[key]
            if not isinstance(inside, (dict, list)) or not inside or draw(st.booleans()):
                at[key] = draw(JSON)
                break
            at = inside
    raw = json.dumps(found).encode()
    cut = draw(st.integers(0, len(raw)))
    return draw(st.sampled_from([raw, raw, raw, raw[:cut], raw[:cut] + b"\xff" + raw[cut:]]))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(spoilt(SAID) | st.binary(max_size=30))
def test_whatever_an_event_is_it_is_dealt_with_or_belongs_to_nobody(payload):
    assert anyio.run(dealt_with, payload, "events_api")


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(spoilt(COMMAND) | st.binary(max_size=30))
def test_whatever_a_slash_command_is_it_is_dealt_with_or_belongs_to_nobody(payload):
    assert anyio.run(dealt_with, payload, "slash_commands")
