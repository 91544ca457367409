"""Records of all kinds without what was forgotten."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from daemon.events import Continuity, LogEntry
from daemon.forget.text_matcher import FORGOTTEN, TextMatcher
from daemon.forget.tombstone import EVERYTHING, continued, forgotten, payload_texts, tombstone
from daemon.memory import HistoryEntry, Note, Version

BERLIN = TextMatcher("berlin")


def count(wire: bytes) -> int:
    return len(wire)


def entry(wire: dict[str, Any], **more: Any) -> LogEntry:
    return LogEntry(
        time="2026-11-20T09:00:00.000Z", turn=4, tokens=99, wire=msgspec.Raw(msgspec.json.encode(wire)), **more
    )


def call(arguments: str, *, identity: str = "call_1") -> dict[str, Any]:
    return {"id": identity, "function": {"name": "write_file", "arguments": arguments}, "type": "function"}


TEXTS = st.sampled_from(["in Berlin", "tea", "柏林 ist BERLIN", "", "b\\u0065rlin"])
WIRES = st.one_of(
    st.builds(lambda text: {"role": "user", "content": text}, TEXTS),
    st.builds(lambda text: {"role": "tool", "content": text, "tool_call_id": "call_1"}, TEXTS),
    st.builds(
        lambda text, told: {
            "role": "assistant",
            "content": text,
            "tool_calls": [call(told), call("{}", identity="c2")],
        },
        st.one_of(st.none(), TEXTS),
        st.sampled_from(
            ['{"a":"Berlin"}', '{"Berlin":[1]}', '{"a":"B\\u0065rlin"}', '{"a":["x",{"b":"ＢＥＲＬＩＮ"}]}', "no JSON"]
        ),
    ),
    st.builds(
        lambda text, url: {
            "role": "user",
            "content": [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}],
        },
        TEXTS,
        st.sampled_from(["https://x/berlin.png", "data:image/png;base64,xx"]),
    ),
)


@given(WIRES)
def test_a_tombstone_holds_nothing_of_it_and_is_still_the_same_message(wire: dict[str, Any]) -> None:
    before = entry(wire, id="m1", sender="Ann", answers=("m0",))
    after = tombstone(before, BERLIN, count)

    if after is None:
        assert not BERLIN.stands_in(" ".join(payload_texts(before.wire)))
        return
    buried = msgspec.json.decode(after.wire)
    assert not BERLIN.hits(bytes(after.wire).decode())
    assert (after.time, after.turn, after.id, after.sender, after.answers) == (before.time, 4, "m1", "Ann", ("m0",))
    assert buried["role"] == wire["role"]
    assert buried.get("tool_call_id") == wire.get("tool_call_id")
    assert [(c["id"], c["function"]["name"], c["type"]) for c in buried.get("tool_calls", [])] == [
        (c["id"], c["function"]["name"], c["type"]) for c in wire.get("tool_calls", [])
    ]
    assert all(msgspec.json.decode(c["function"]["arguments"]) == {} for c in buried.get("tool_calls", []))
    assert after.tokens == len(after.wire)
    assert tombstone(after, BERLIN, count) is None


@given(WIRES)
def test_everything_of_a_message_is_forgotten_once(wire: dict[str, Any]) -> None:
    after = tombstone(entry(wire, sender="Ann"), EVERYTHING, count)

    assert after is not None
    assert after.sender == FORGOTTEN
    assert tombstone(after, EVERYTHING, count) is None


def test_a_call_without_content_stays_without() -> None:
    after = tombstone(entry({"role": "assistant", "tool_calls": [call('{"x":"Berlin"}')]}), BERLIN, count)

    assert after is not None
    assert msgspec.json.decode(after.wire) == {"role": "assistant", "tool_calls": [call("{}")]}


def test_the_name_of_who_spoke_goes_when_it_is_what_was_asked_for() -> None:
    after = tombstone(entry({"role": "user", "content": "hello"}, sender="Ann Berlin"), BERLIN, count)

    assert after is not None and after.sender == FORGOTTEN


def test_an_entry_keeps_its_range_and_its_time() -> None:
    before = HistoryEntry(
        time="t", session="web:ann", first=3, upto=9, kind="summary", text="[2026-11-20 09:12] Berlin."
    )
    after = forgotten(before, BERLIN)

    assert after == msgspec.structs.replace(before, text=f"[2026-11-20 09:12] {FORGOTTEN}")
    assert forgotten(after, BERLIN) is None
    assert forgotten(before, EVERYTHING) == after
    assert forgotten(after, EVERYTHING) is None


def test_a_raw_entry_loses_the_lines_and_no_others() -> None:
    text = "[2026-11-20 09:12] [RAW] 2 messages\n[2026-11-20 09:00] USER: in Berlin\n[2026-11-20 09:01] ASSISTANT: nice"
    before = HistoryEntry(time="t", session="web:ann", first=0, upto=2, kind="raw", text=text)
    after = forgotten(before, BERLIN)

    assert after is not None
    assert after.text.splitlines() == [
        "[2026-11-20 09:12] [RAW] 2 messages",
        f"[2026-11-20 09:00] USER: {FORGOTTEN}",
        "[2026-11-20 09:01] ASSISTANT: nice",
    ]


def test_a_version_loses_it_in_all_that_it_says() -> None:
    before = Version(
        version=3, kind="flush", time="t", reason="left Berlin out", added="- in Berlin", text="# Ann\n- in Berlin"
    )
    after = forgotten(before, BERLIN)

    assert after == msgspec.structs.replace(before, reason="", added="", text="# Ann\n")


def test_a_note_is_never_empty() -> None:
    note = Note(time="t", date="2026-11-20", session="web:ann", cycle=0, text="- in Berlin")

    assert forgotten(note, BERLIN) == msgspec.structs.replace(note, text=FORGOTTEN)


def test_a_continuity_loses_it() -> None:
    before = Continuity(transcript="transcript_1", text="Ann is in Berlin. She wants tea.")

    assert continued(before, BERLIN) == Continuity(transcript="transcript_1", text="She wants tea.")
    assert continued(Continuity(text="tea"), BERLIN) is None


def test_a_payload_that_cannot_be_read_is_searched_as_it_is() -> None:
    assert payload_texts(b'{"text":"B\\u0065rlin"') == ['{"text":"B\\u0065rlin"']
    assert "Berlin" in payload_texts(b'{"text":"B\\u0065rlin"}')


def test_what_only_the_model_understands_of_an_answer_is_searched_and_forgotten_with_it() -> None:
    own = msgspec.Raw(b'{"of":"h m","message":{"reasoning_content":"She lives in Berlin."}}')
    answer = entry({"role": "assistant", "content": "Noted."}, own=own, own_tokens=9)

    buried = tombstone(answer, BERLIN, count)

    assert buried is not None
    assert b"own" not in msgspec.json.encode(buried)
    assert tombstone(answer, TextMatcher("reasoning"), count) is None
