"""Where what was backed up goes in a database of other partitions: nothing is lost, doubled or out of order."""

import zlib

from hypothesis import example, given
from hypothesis import strategies as st

from daemon.data.backup_records import SessionTaken, StreamTaken, bytes_of, name_bytes, name_text, text_of
from daemon.data.key_names import KeyName, key_of, name_of
from daemon.data.record_writer import Repartition, pieces, renamed
from daemon.data.scope_rules import covered
from daemon.data.snapshot import position

NAMES = [f"web:{letter}" for letter in "abcdefgh"]
ids = st.builds(lambda ms, number: f"{ms}-{number}", st.integers(1, 3), st.integers(0, 2))
sessions = st.dictionaries(st.sampled_from(NAMES), st.lists(ids, max_size=6, unique=True))
values = st.one_of(st.binary(max_size=20), st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace")))


def spread_of(found: dict[str, list[str]], partitions: int) -> tuple[Repartition, list[SessionTaken]]:
    spread = Repartition(
        partition=lambda name: zlib.crc32(name.encode()) % partitions, partitions=partitions, before=64
    )
    taken = [
        SessionTaken(
            name=name,
            fields={"stop_upto": waiting[-1]} if waiting else {},
            waiting=waiting[1:],
            asides=waiting[:1],
            inbox=[(each, ["session", name, "id", each]) for each in waiting],
        )
        for name, waiting in found.items()
    ]
    for session in taken:
        spread.add_session(session)
    return spread, taken


@given(sessions, st.sampled_from([1, 2, 5, 64]))
def test_every_message_waits_in_its_session_as_it_did(found: dict[str, list[str]], partitions: int) -> None:
    spread, taken = spread_of(found, partitions)
    streams = {name.partition: entries for name, entries in spread.streams()}
    changed = spread.new_ids()

    for session in taken:
        new = renamed(session, changed)
        there = dict(streams.get(spread.partition(session.name), []))
        for before, after in zip(session.waiting + session.asides, new.waiting + new.asides, strict=True):
            assert there[after] == ["session", session.name, "id", before]
        if session.inbox:
            last = (new.asides + new.waiting)[-1]
            assert new.fields["stop_upto"] == last
        by_age = sorted(session.waiting, key=position)
        assert [new.waiting[session.waiting.index(each)] for each in by_age] == sorted(new.waiting, key=position)
    assert sum(map(len, streams.values())) == sum(map(len, found.values()))


@given(sessions, st.sampled_from([1, 2, 5]))
def test_ids_of_a_stream_rise_and_none_is_there_twice(found: dict[str, list[str]], partitions: int) -> None:
    spread, _ = spread_of(found, partitions)

    for _, entries in spread.streams():
        places = [position(stream_id) for stream_id, _ in entries]
        assert places == sorted(set(places))


@given(sessions)
def test_where_nothing_meets_nothing_is_called_otherwise(found: dict[str, list[str]]) -> None:
    apart = {
        name: [f"{int(each.split('-')[0]) + 10 * number}-{each.split('-')[1]}" for each in waiting]
        for number, (name, waiting) in enumerate(found.items())
    }
    spread, _ = spread_of(apart, 3)

    assert spread.new_ids() == {}


def test_what_nobody_can_tell_of_whom_it_is_stays_where_it_was_as_far_as_it_can() -> None:
    spread = Repartition(partition=lambda _name: 0, partitions=4, before=8)
    spread.add_stream(StreamTaken(kind="out", rest="support", partition=6, entries=[("1-1", ["reply", "{"])]))
    spread.add_stream(StreamTaken(kind="dead", rest="", partition=6, entries=[("1-1", ["session", "web:a"])]))

    assert [name for name, _ in spread.streams()] == [
        KeyName(kind="dead", partition=0, rest=""),
        KeyName(kind="out", partition=2, rest="support"),
    ]


@given(values)
@example(b"\0")
def test_what_is_stored_reads_the_same_from_a_backup(value: bytes) -> None:
    assert bytes_of(text_of(value)) == value
    assert name_bytes(name_text(value)) == value


@given(st.lists(st.lists(st.binary(max_size=5), min_size=1, max_size=3), max_size=30))
def test_pieces_hold_all_in_order(words: list[list[bytes]]) -> None:
    assert [each for piece in pieces(words) for each in piece] == words


@given(
    st.sampled_from(["in", "log", "seen", "sent", "memory", "job", "meta", "usage"]),
    st.one_of(st.none(), st.integers(0, 99)),
    st.text("abc:%#{}.~-", max_size=12),
)
def test_a_name_is_taken_apart_and_put_together_again(kind: str, partition: int | None, rest: str) -> None:
    name = KeyName(kind=kind, partition=partition, rest=rest)

    assert name_of("mp", key_of("mp", name).encode()) == name


def test_whose_a_key_is() -> None:
    owners = {
        "mp:{0}:log:web:ann": "web:ann",
        "mp:{0}:seen:web:ann:t:m%3A1": "web:ann:t",
        "mp:{0}:sent:support:7#message-4-1-0:web:bob": "support:7",
        "mp:{0}:memory:pond:person:web:ann": "pond:person:web:ann",
        "mp:{0}:out:support": "",
        "mp:usage:{2026-11-20}:bot": "",
    }

    for key, owner in owners.items():
        name = name_of("mp", key.encode())
        assert name is not None and name.is_known and name.owner == owner


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6), st.integers(0, 20), st.integers(0, 20))
def test_what_no_range_covers_is_told_exactly(ranges: list[tuple[int, int]], first: int, upto: int) -> None:
    held = {index for begin, end in ranges for index in range(begin, end)}

    gaps = covered([each for each in ranges if each[0] < each[1]], first, upto)

    assert {index for begin, end in gaps for index in range(begin, end)} == set(range(first, upto)) - held
