"""Frames of long connections, and signed and encrypted events by HTTP."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.feishu.api_types import Answer, MissingScope, Rejected, TokenExpired, TooMany, Unauthorized, judged
from channels.feishu.event_inlet import LOOK_S
from channels.feishu.events_endpoint import TAKE_S, decrypted, problem_of, signature_of
from channels.feishu.long_connection import endpoint_of, ping_s_of
from channels.name_directory import PATIENCE_S
from daemon.config import Secret
from daemon.errors import SendRefused
from daemon.setup.platforms.feishu_socket import Frame, decoded, encoded, ping, service_of
from tests.tables import each_row

KEY = Secret("test key")
BASE = "https://open.feishu.cn"
NUMBERS = st.integers(0, 2**64 - 1)
FRAMES = st.builds(
    Frame, seq_id=NUMBERS, log_id=NUMBERS, service=st.integers(0, 2**31 - 1), method=st.integers(0, 1),
    headers=st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=4), payload=st.binary(max_size=300),
    payload_type=st.text(max_size=5), payload_encoding=st.text(max_size=5), log_id_new=st.text(max_size=5),
)  # fmt: skip


@given(FRAMES)
def test_a_frame_is_read_as_it_was_written(frame: Frame) -> None:
    assert decoded(encoded(frame)) == frame


def test_a_ping_has_the_bytes_that_the_official_client_sends() -> None:
    # SeqID 0, LogID 0, service 7, method 0, header type=ping.
    assert ping(7) == b"\x08\x00\x10\x00\x18\x07\x20\x00\x2a\x0c\x0a\x04type\x12\x04ping"


def test_fields_that_are_not_known_are_passed_over() -> None:
    more = b"\x50\x07" + b"\x59" + bytes(8) + b"\x5d" + bytes(4) + b"\x62\x01x"

    assert decoded(ping(7) + more) == decoded(ping(7))


@given(st.binary(max_size=60))
def test_any_bytes_are_a_frame_or_are_refused(content: bytes) -> None:
    try:
        frame = decoded(content)
        _ = frame.parts
    except ValueError:  # UnicodeDecodeError is one
        return
    assert isinstance(frame, Frame)


@each_row(
    "headers, parts",
    [
        ({}, (1, 0)),
        ({"sum": "3", "seq": "2"}, (3, 2)),
        ({"sum": "3", "seq": "3"}, None),
        ({"sum": "9999"}, None),
        ({"sum": "x"}, None),
    ],
)
def test_the_parts_of_an_event_are_counted(headers: dict[str, str], parts: tuple[int, int] | None) -> None:
    frame = Frame(headers=headers)
    if parts is not None:
        assert frame.parts == parts
        return
    with pytest.raises(ValueError, match=r"part|invalid literal"):
        _ = frame.parts


def test_the_example_of_the_documentation_is_decrypted() -> None:
    body = b'{"encrypt": "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk="}'

    assert decrypted(KEY, body) == b"hello world"


@each_row(
    "body",
    [
        b"{}", b"[", b'{"encrypt": 7}', b'{"encrypt": "%%%"}', b'{"encrypt": ""}', b'{"encrypt": "AAAA"}',
        b'{"encrypt": "%s"}' % base64.b64encode(bytes(32)), b'{"encrypt": "%s"}' % base64.b64encode(bytes(40)),
    ],
)  # fmt: skip
def test_what_is_not_encrypted_with_the_key_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"crypt"):
        decrypted(KEY, body)


@each_row(
    "change, problem",
    [
        ({}, ""), ({"X-Lark-Signature": "0" * 64}, "not valid"), ({"X-Lark-Signature": ""}, "no Feishu signature"),
        ({"X-Lark-Request-Nonce": "other"}, "not valid"), ({"X-Lark-Request-Timestamp": "1"}, "not valid"),
        ({"X-Lark-Signature": "é"}, "not valid"),
    ],
)  # fmt: skip
def test_only_a_valid_signature_is_accepted(change: dict[str, str], problem: str) -> None:
    right = signature_of(KEY, "1700000000", "nonce", b"body")
    headers = {"X-Lark-Request-Timestamp": "1700000000", "X-Lark-Request-Nonce": "nonce", "X-Lark-Signature": right}

    found = problem_of(KEY, headers | change, b"body", now_s=1_700_000_100)

    assert (problem in found) and bool(found) == bool(problem)


def test_what_an_event_waits_for_leaves_time_to_store_it() -> None:
    assert LOOK_S + PATIENCE_S < TAKE_S


@each_row("stamped, fine", [("1700000000", True), ("1699999000", False), ("soon", False), ("9" * 400, False)])
def test_an_old_signature_is_not_accepted(stamped: str, fine: bool) -> None:
    right = signature_of(KEY, stamped, "n", b"b")
    headers = {"X-Lark-Request-Timestamp": stamped, "X-Lark-Request-Nonce": "n", "X-Lark-Signature": right}

    assert (problem_of(KEY, headers, b"b", now_s=1_700_000_000) == "") is fine


@each_row(
    "answer, reason",
    [
        ({}, "no WebSocket address"), ({"data": {"URL": "https://msg.feishu.cn/x"}}, "no WebSocket address"),
        ({"data": {"URL": "wss://evil.example/x"}}, "does not belong to Feishu"),
    ],
)  # fmt: skip
def test_a_connection_is_opened_at_feishu_alone(answer: dict[str, object], reason: str) -> None:
    with pytest.raises(SendRefused, match=reason):
        endpoint_of(answer, BASE)


@each_row(
    "codes, error",
    [
        ((10014, 99991401, 99991543, 99991662, 99991673), Unauthorized), ((99991672, 99991676), MissingScope),
        ((1, 1500, 1000040343), SendRefused), ((99991400, 230020), TooMany), ((230002, 1000040350), Rejected),
        ((99991663, 99991668, 20005), TokenExpired), ((230031,), Rejected),  # a card that is older than 14 days
    ],
)  # fmt: skip
def test_only_a_refusal_that_nobody_can_lift_is_one_for_good(codes: tuple[int, ...], error: type[Exception]) -> None:
    for code in codes:
        with pytest.raises(error) as failed:
            judged(Answer(found={"code": code}, status=400), method="POST /x", base=BASE, reads=False)
        assert type(failed.value) is error


def test_feishu_says_how_often_it_wants_a_ping() -> None:
    url = "wss://msg-frontier.feishu.cn/ws/v2?service_id=33&device_id=1"
    found = endpoint_of({"data": {"URL": url, "ClientConfig": {"PingInterval": 90}}}, BASE)

    assert (found.service, found.ping_s) == (33, 90.0)
    assert [ping_s_of(b'{"PingInterval": %s}' % each, 7.0) for each in (b"1", b"9" * 400)] == [5.0, 300.0]
    assert service_of(f"wss://h/?service_id={'9' * 5_000}") == 0
    assert [ping_s_of(each, 7.0) for each in (b"", b"{", b'{"PingInterval": "x"}', b"[]")] == [7.0] * 4
