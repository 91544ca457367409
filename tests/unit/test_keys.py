"""Key names: one slot a session, no two names alike, the same for ever."""

import inspect
import re

from hypothesis import given
from hypothesis import strategies as st

from daemon.bus import Keys
from daemon.sessionkey import SessionKey
from tests.tables import each_row

OF_SESSION = ("session", "log", "waiting", "live", "notices", "lock", "traces")
OF_PARTITION = ("inbox", "ready", "due", "asides", "grew", "unsettled", "dead", "unknown")
NO_KEYS = (
    "partition", "of", "accepting", "claiming", "committing", "delivering", "commands", "nudges", "leaders", "rulings",
    "events",
)  # fmt: skip
"""Methods of ``Keys`` that name no key."""

names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
sessions = st.builds(
    lambda channel, chat, thread: SessionKey(channel=channel, chat=chat, thread=thread),
    names,
    names,
    st.one_of(st.just(""), names),
)


def slot_of(key: str) -> str:
    """What a cluster hashes: what stands between the first { and the next }."""
    return key[key.index("{") + 1 : key.index("}")]


@given(sessions, names, st.sampled_from([1, 3, 64]))
def test_all_keys_of_a_session_lie_in_one_slot(session: SessionKey, message_id: str, partitions: int) -> None:
    keys, name = Keys(prefix="mp", partitions=partitions), str(session)
    partition = keys.partition(name)

    made = [getattr(keys, kind)(name) for kind in OF_SESSION] + [
        getattr(keys, kind)(partition) for kind in OF_PARTITION
    ]
    made += [keys.seen(name, message_id), keys.sent(name, f"{name}#7")]
    made += [keys.overheard(name), keys.bots(name), keys.told(name, "error")]
    made += [keys.out(partition, session.channel), keys.leader(partition, session.channel)]

    assert {slot_of(key) for key in made} == {str(partition)}
    assert len(set(made)) == len(made)
    assert all(key.isascii() and key.startswith("mp:{") for key in made)


@given(sessions, st.sampled_from([1, 64]))
def test_the_keys_of_a_session_are_those_that_are_asked_for_one_by_one(session: SessionKey, partitions: int) -> None:
    keys, name = Keys(prefix="mp", partitions=partitions), str(session)
    together = keys.of(name)._asdict()

    for kind, key in together.items():
        assert key == getattr(keys, kind)(name if kind in OF_SESSION else keys.partition(name)), kind
    assert set(together) == {*OF_SESSION, *OF_PARTITION} - {"unknown"}


@given(sessions, sessions, names, names)
def test_different_sessions_or_messages_never_share_a_key(one: SessionKey, other: SessionKey, a: str, b: str) -> None:
    keys = Keys(prefix="mp", partitions=64)

    assert (keys.log(str(one)) == keys.log(str(other))) == (one == other)
    assert (keys.seen(str(one), a) == keys.seen(str(other), b)) == (one == other and a == b)


def test_the_partition_of_a_session_never_changes_between_versions() -> None:
    keys = Keys(prefix="mp", partitions=64)

    assert [keys.partition(name) for name in ("web:ann", "tg:-100:7", "web:%E6%88%91")] == [59, 16, 4]


def test_partitions_are_used_evenly() -> None:
    keys = Keys(prefix="mp", partitions=64)
    counts = [0] * 64

    for number in range(6_400):
        counts[keys.partition(f"telegram:{number}")] += 1

    assert min(counts) > 50 and max(counts) < 200


def test_every_key_says_its_type_and_whether_it_has_a_ttl() -> None:
    for name, member in vars(Keys).items():
        found = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not callable(found) or name in NO_KEYS:
            continue
        assert re.match(r"``\w+``, (stream|hash|list|sorted set|string)[,:]", inspect.getdoc(found) or ""), name


@each_row("partitions", [1, 64])
def test_what_is_named_together_has_the_names_that_each_has_by_itself(partitions: int) -> None:
    keys, session, name = Keys(prefix="mp", partitions=partitions), "telegram:4%2F2:7", "m/1"
    reply = f"{session}#12"

    assert keys.accepting(session, name) == (
        keys.session(session),
        keys.waiting(session),
        keys.seen(session, name),
        keys.overheard(session),
    )
    of = keys.of(session)
    assert keys.claiming(session) == (of.session, of.log, of.waiting)
    out = keys.out(keys.partition(session), "a/b")
    assert keys.committing(session, "a/b") == (of.session, of.log, of.waiting, of.live, out, of.notices, of.traces)
    assert keys.delivering(session, reply) == (keys.sent(session, reply), of.traces)
