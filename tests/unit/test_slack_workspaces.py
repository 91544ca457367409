"""Whose an event of Slack's is, whatever it looks like."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from channels.slack.workspaces import address_of
from tests.tables import each_row

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
fields = ["type", "team_id", "context_team_id", "authorizations", "event", "channel_id", "channel"]
payloads = st.dictionaries(st.sampled_from(fields), values, max_size=6)


@given(payloads)
def test_an_event_of_any_shape_has_an_address(payload: dict[str, Any]) -> None:
    address = address_of(json.dumps(payload).encode())

    assert all(isinstance(team, str) and team for team in address.teams)
    assert len(set(address.teams)) == len(address.teams)


@given(st.binary(max_size=64) | values.map(lambda value: json.dumps(value).encode()))
def test_what_is_no_event_is_told_apart(found: bytes) -> None:
    try:
        address_of(found)
    except ValueError:
        return
    assert isinstance(json.loads(found), dict)


@given(payloads, st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8))
def test_the_one_that_it_was_given_to_counts_before_the_speakers(payload: dict[str, Any], ours: str, speakers: str):
    found = {**payload, "authorizations": [{"team_id": ours}], "context_team_id": speakers, "team_id": speakers}

    assert address_of(json.dumps(found).encode()).teams == tuple(dict.fromkeys((ours, speakers)))


@each_row("channel", ["C0LAKE", "D0ANN"])
def test_events_and_commands_of_a_chat_have_one_address(channel: str) -> None:
    event = {"type": "event_callback", "team_id": "T0", "event": {"type": "message", "channel": channel}}
    command = {"team_id": "T0", "channel_id": channel, "command": "/millpond"}

    assert address_of(json.dumps(event).encode()).chat == address_of(json.dumps(command).encode()).chat != b""
