"""Whose turn it is: pure, so by properties."""

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from channels.outbox.retry_schedule import REST_MAX_S, ChatAgenda, rest_s
from daemon.config import QueueConfig
from daemon.events import Reply

steps = st.lists(st.tuples(st.sampled_from(["add", "next", "done", "park", "wait"]), st.integers(0, 3)), max_size=80)


@given(steps)
def test_each_chat_is_in_order_in_one_hand_and_none_is_forgotten(script: list[tuple[str, int]]) -> None:
    agenda, now = ChatAgenda(), 0.0
    added: dict[str, list[bytes]] = defaultdict(list)
    dealt: dict[str, list[bytes]] = defaultdict(list)
    hands, resting = [], {}
    for number, (what, value) in enumerate(script):
        if what == "add":
            added[str(value)].append(b"%d" % number)
            agenda.add(str(value), b"%d" % number, None)
        elif what == "next" and (chat := agenda.next(now)) is not None:
            assert chat not in hands
            assert resting.pop(chat.session, now) <= now
            hands.append(chat)
        elif what == "wait":
            now += value
        elif hands:
            chat = hands.pop(0)
            if what == "done":
                dealt[chat.session].append(chat.replies[0][0])
                agenda.done(chat)
            elif what == "park":
                resting[chat.session] = now + value
                agenda.park(chat, now + value)
            else:
                hands.append(chat)
    for chat in hands:
        agenda.park(chat, now)
    while (chat := agenda.next(now + 100)) is not None:
        dealt[chat.session].append(chat.replies[0][0])
        agenda.done(chat)

    assert dealt == added
    assert agenda.held == 0
    assert agenda.soonest() is None


def test_the_text_is_kept_of_a_reply_that_is_first_and_not_resting_alone() -> None:
    reply = Reply(id="a#0", session="a", turn=0, text="long", correlation="c")
    agenda = ChatAgenda()
    agenda.add("a", b"1", reply)
    agenda.add("a", b"2", reply)

    chat = agenda.next(0.0)
    assert chat is not None
    assert list(chat.replies) == [(b"1", reply), (b"2", None)]

    agenda.park(chat, 1.0)
    assert list(chat.replies) == [(b"1", None), (b"2", None)]


@given(st.integers(0, 10_000), st.none() | st.floats(allow_nan=False))
def test_a_rest_is_what_was_told_or_doubles_within_limits(failures: int, told_s: float | None) -> None:
    queue = QueueConfig(backoff_min_s=1.0, backoff_max_s=30.0)

    pause_s = rest_s(failures, queue, told_s=told_s)

    assert 0 <= pause_s <= (30 if told_s is None else REST_MAX_S)
    if told_s is None:
        assert pause_s >= 0.5
    elif 0 <= told_s <= REST_MAX_S:
        assert pause_s == told_s
