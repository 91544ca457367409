"""Answers shown while they are written, on a real server with a fake platform: one message that becomes the reply."""

from contextlib import AbstractAsyncContextManager
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import anyio
import msgspec
import pytest

from channels.base import Purpose, Rate
from channels.live_display import draft_message as drafts
from channels.live_display import streamer, typing_indicator
from channels.outbox import Outbox
from channels.testing import TestingChannel, connect
from channels.testing import channel as testing
from daemon.bus import Bus, Subscription, publish
from daemon.config import QueueConfig
from daemon.events import Attachment, Live, Moved, Reply
from daemon.process import Process
from tests.conftest import an_inbound
from tests.fakes.sink import Cut, Post, Refuse, Sink, sink
from tests.integration.test_outbox import ANN, BOB, NAME, Room, marks, pushing, replica, room, unknown, until_empty
from tests.limits import HANG_S, until

__all__ = ["room"]

REST_S = 0.3
TEXT = "The answer begins with words that are many enough to be shown at once"
QUEUE = QueueConfig(lease_s=60.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)


async def write(bus: Bus, text: str, *, session: str = ANN, turn: int = 0, fence: int = 1, sequence: int = 0) -> None:
    live = msgspec.json.encode(Live(session=session, turn=turn, fence=fence, sequence=sequence, offset=0, text=text))
    await bus.call("SET", bus.keys.live(session), live, "PX", 60_000)
    await bus.call("PUBLISH", bus.keys.events(session), live)


async def commit(bus: Bus, text: str, *, session: str = ANN, turn: int = 0, kind: str = "", **more: Any) -> str:
    """A turn's reply, or what is said aside, is committed; its id."""
    reply_id = f"{session}#{kind or turn}"
    reply = Reply(id=reply_id, session=session, turn=turn, text=text, correlation="c", **more)
    await bus.call("XADD", bus.keys.out(bus.keys.partition(session), NAME), "*", "reply", msgspec.json.encode(reply))
    return reply_id


async def end_turn(bus: Bus, *, session: str = ANN, head: int = 2) -> None:
    await bus.call(
        "PUBLISH", bus.keys.events(session), msgspec.json.encode(Moved(session=session, head=head, cursor=0))
    )


async def leads(process: Process) -> None:
    bus = process.bus
    with anyio.fail_after(HANG_S):
        while not await bus.call("HEXISTS", bus.keys.leader(0, NAME), "nonce"):  # noqa: ASYNC110 - no event tells of it
            await anyio.sleep(0.005)
        while not await bus.call("PUBSUB", "NUMPAT"):  # noqa: ASYNC110 - as above
            await anyio.sleep(0.005)


async def test_what_is_being_written_is_shown_and_becomes_the_reply(process: Process) -> None:
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        await write(process.bus, TEXT)
        await platform.count(1)
        assert platform.shown(ANN) == [TEXT]
        await write(process.bus, f"{TEXT} and goes on", sequence=1)
        await until(lambda: platform.shown(ANN) == [f"{TEXT} and goes on"])
        reply = await commit(process.bus, f"{TEXT} and ends.")
        await until_empty(process.bus)

        assert platform.shown(ANN) == [f"{TEXT} and ends."]
        assert len(platform.delivered) == 1
        assert await marks(process.bus, reply) == {"0": "sent m1", "preview": "shown 1"}
        assert await unknown(process.bus) == []


async def shown(process: Process, platform: Sink, text: str = TEXT, **more: Any) -> None:
    await write(process.bus, text, **more)
    await until(lambda: text in platform.shown(more.get("session", ANN)))


async def test_a_few_words_are_shown_when_they_have_stood_for_a_while(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "BEGIN_S", 0.1)
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        began = anyio.current_time()
        await shown(process, platform, "Few")

        assert anyio.current_time() - began >= 0.1


async def test_without_streaming_nothing_is_shown_before_the_reply(process: Process) -> None:
    async with sink() as platform, replica(pushing(process, platform, streaming=False)):
        await leads(process)
        await write(process.bus, TEXT)
        await commit(process.bus, TEXT)
        await until_empty(process.bus)

        assert [post["attempt"].find("preview") for post in platform.posts] == [-1]
        assert platform.acts_of("edit") == []


@pytest.mark.parametrize(
    ("shown", "hears"),
    [({"streaming": False, "typing": False}, False), ({"streaming": False}, True), ({"typing": False}, True)],
)
async def test_a_channel_that_shows_nothing_of_turns_does_not_listen_to_them(
    process: Process, monkeypatch: pytest.MonkeyPatch, shown: dict[str, bool], hears: bool
) -> None:
    asked: list[str] = []
    hear_all = process.listener.hear_all

    def hear(pattern: str) -> AbstractAsyncContextManager[Subscription]:
        asked.append(pattern)
        return hear_all(pattern)

    monkeypatch.setattr(process.listener, "hear_all", hear)

    async with sink() as platform, replica(pushing(process, platform, **shown)):
        await commit(process.bus, TEXT)
        await until_empty(process.bus)

    assert asked == [process.bus.keys.events("*")] * hears


async def test_edits_keep_to_their_time_and_the_last_text_wins(process: Process, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(testing, "EDIT_EVERY_S", 0.03)
    edit, times = TestingChannel.edit, list[tuple[float, float]]()

    async def noted(*args: Any, **more: Any) -> None:
        began = anyio.current_time()
        await edit(*args, **more)
        times.append((began, anyio.current_time()))

    monkeypatch.setattr(TestingChannel, "edit", noted)
    async with sink() as platform, replica(pushing(process, platform, typing=False)):
        await leads(process)
        number = 0
        while len(times) < 3:
            await write(process.bus, f"{TEXT} {number}", sequence=number)
            await anyio.sleep(0.005)
            number += 1
        await until(lambda: platform.shown(ANN) == [f"{TEXT} {number - 1}"])

    assert all(began - ended > 0.03 - 0.002 for (_, ended), (began, _) in pairwise(times))


async def test_what_is_said_aside_takes_the_text_away_which_is_shown_again_below(process: Process) -> None:
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform)
        aside = await commit(process.bus, "aside", kind="aside-1")
        await until(lambda: platform.shown(ANN) == ["aside", TEXT])
        reply = await commit(process.bus, f"{TEXT}, whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["aside", f"{TEXT}, whole"]
        assert await marks(process.bus, reply) == {"0": "sent m3", "preview": "shown 2"}
        assert await marks(process.bus, aside) == {"0": "sent m2"}


async def test_a_turn_that_ends_without_a_reply_leaves_no_text_behind(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "ORPHAN_S", 0.1)
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform)
        await end_turn(process.bus)
        await until(lambda: platform.shown(ANN) == [])

        assert len(platform.acts_of("remove")) == 1


async def test_a_blank_reply_leaves_no_text_behind(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "ORPHAN_S", 0.1)
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform)
        await commit(process.bus, " \n")
        await end_turn(process.bus)
        await until(lambda: platform.shown(ANN) == [])
        await until_empty(process.bus)


async def test_a_text_stays_while_its_reply_is_on_its_way(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "ORPHAN_S", 0.05)

    def refuse_the_last(post: Post) -> Refuse | None:
        if post.get("text") != "whole" or len(refused) == 10:
            return None
        refused.append(platform.shown(ANN))
        return Refuse(429, 0.02)

    refused: list[list[str]] = []
    async with sink(others=refuse_the_last) as platform, replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform)
        await commit(process.bus, "whole")
        await end_turn(process.bus)
        await until_empty(process.bus)
        assert refused == [[TEXT]] * 10
        assert platform.shown(ANN) == ["whole"]
        assert platform.acts_of("remove") == []
        assert await unknown(process.bus) == []


async def test_a_chat_that_refuses_a_preview_is_sent_nothing_until_it_may_be(process: Process) -> None:
    async with sink([Refuse(429, REST_S)]) as platform, replica(pushing(process, platform, sends_per_s=100)):
        await leads(process)
        began = anyio.current_time()
        await write(process.bus, TEXT)
        await platform.count(1)
        await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["whole"]
        assert len(platform.posts) == 2
        assert anyio.current_time() - began >= REST_S


async def test_no_text_is_shown_above_a_reply_that_is_still_to_be_sent(process: Process) -> None:
    async with sink([Refuse(429, 0.1)]) as platform, replica(pushing(process, platform)):
        await leads(process)
        await commit(process.bus, "The first answer.", turn=0)
        await until(lambda: bool(platform.posts))
        await shown(process, platform, turn=2)

        assert platform.shown(ANN) == ["The first answer.", TEXT]
        assert [post["attempt"].find("preview") >= 0 for post in platform.posts].index(True) == len(platform.posts) - 1


async def test_a_text_that_somebody_has_deleted_is_no_loss(process: Process) -> None:
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform)
        platform.messages.clear()
        reply = await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["whole"]
        assert await marks(process.bus, reply) == {"0": "sent m2", "preview": "gone 1"}
        assert await unknown(process.bus) == []


async def test_a_text_of_which_nobody_knows_whether_it_is_there_is_listed_and_the_reply_sent_once(process: Process):
    async with sink([Cut()]) as platform, replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform)
        await write(process.bus, f"{TEXT} and on", sequence=1)
        reply = await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == [TEXT, "whole"]
        assert await unknown(process.bus) == [(reply, "0", "preview")]


async def test_an_edit_that_was_cut_takes_the_text_away_for_it_might_arrive_after_the_last(process: Process) -> None:
    cuts: list[Post] = []

    def cut_one_edit(post: Post) -> Cut | None:
        if post["kind"] != "edit" or cuts:
            return None
        cuts.append(post)
        return Cut(delivered=False)

    async with sink(others=cut_one_edit) as platform, replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform)
        await write(process.bus, f"{TEXT} and on", sequence=1)
        await until(lambda: platform.shown(ANN) == [])
        await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["whole"]
        assert await unknown(process.bus) == []


async def test_a_last_edit_that_was_cut_is_repeated_and_not_listed(process: Process) -> None:
    cuts: list[Post] = []

    def cut_it_twice(post: Post) -> Cut | None:
        if post.get("text") != "whole" or len(cuts) == 2:
            return None
        cuts.append(post)
        return Cut()

    async with sink(others=cut_it_twice) as platform, replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform)
        await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["whole"]
        assert len(cuts) == 2
        assert await unknown(process.bus) == []


async def test_a_successors_text_begins_afresh_in_the_same_message(process: Process) -> None:
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform)
        await shown(process, platform, "Afresh, by a worker that took the session over", fence=2)
        await write(process.bus, "of the one who lost it, much longer than it was", fence=1, sequence=9)
        await shown(process, platform, "Afresh, by a worker that took the session over, and on", fence=2, sequence=1)

        assert len(platform.delivered) == 1


async def test_pieces_that_were_missed_are_read_where_the_whole_text_stands(process: Process) -> None:
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        whole = Live(session=ANN, turn=0, fence=1, sequence=7, offset=0, text=f"{TEXT} and more")
        await process.bus.call("SET", process.bus.keys.live(ANN), msgspec.json.encode(whole), "PX", 60_000)
        piece = msgspec.structs.replace(whole, offset=len(TEXT), text=" and more")
        await process.bus.call("PUBLISH", process.bus.keys.events(ANN), msgspec.json.encode(piece))

        await until(lambda: platform.shown(ANN) == [f"{TEXT} and more"])


async def test_a_long_text_is_shown_by_its_beginning_and_its_first_part_takes_its_place(process: Process) -> None:
    text = " ".join(f"word{number}" for number in range(40))
    async with sink() as platform, replica(pushing(process, platform, part_max_chars=100)):
        await leads(process)
        await write(process.bus, text)
        await platform.count(1)
        [before] = platform.shown(ANN)
        await commit(process.bus, text)
        await until_empty(process.bus)

        assert before.endswith(" …")
        assert len(before) <= 100
        assert "".join(platform.shown(ANN)) == text
        assert platform.shown(ANN)[0].startswith(before[:-2])


async def test_a_text_of_which_nobody_knows_whether_it_was_taken_away_is_taken_away_again(process: Process) -> None:
    """It stood above its reply for good when Slack lost the first of two requests that it takes."""
    text = " ".join(f"word{number}" for number in range(400))
    cuts: list[Post] = []

    def cut_it_twice(post: Post) -> Cut | None:
        if post["kind"] != "remove" or len(cuts) == 2:
            return None
        cuts.append(post)
        return Cut(delivered=False)

    async with sink(others=cut_it_twice) as platform, replica(pushing(process, platform, part_max_chars=100)):
        await leads(process)
        await write(process.bus, text)
        await platform.count(1)
        [before] = platform.shown(ANN)
        await commit(process.bus, text)
        await until_empty(process.bus)

        assert len(cuts) == 2
        assert before not in platform.shown(ANN)
        assert len(platform.shown(ANN)) == 1


async def test_a_reply_that_is_sent_as_a_file_takes_the_text_away(process: Process) -> None:
    text = " ".join(f"word{number}" for number in range(400))
    async with sink() as platform, replica(pushing(process, platform, part_max_chars=100)):
        await leads(process)
        await shown(process, platform, TEXT)
        reply = await commit(process.bus, text, reply_to="m7")
        await until_empty(process.bus)

        [post] = platform.messages.values()
        assert (post["document"], post["reply_to"]) == (text, "m7")
        assert len(post["text"]) <= 25
        assert await marks(process.bus, reply) == {"0": "sent m2", "preview": "gone 1"}


async def test_files_go_one_a_part_behind_the_text_and_one_too_large_is_named(process: Process) -> None:
    files = (
        Attachment(kind="image", name="a.png", path="a.png", size_bytes=10),
        Attachment(kind="video", name="long.mp4", path="long.mp4", size_bytes=61_000_000),
        Attachment(kind="document", name="b.pdf", path="b.pdf", size_bytes=20),
    )
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform, TEXT)
        await commit(process.bus, "Here:", attachments=files, reply_to="m7")
        await until_empty(process.bus)

        posts = list(platform.messages.values())
        assert [post["text"] for post in posts] == [
            "Here:\n\n[The file long.mp4 (61.0 MB) is too large to send here.]",
            *("", ""),
        ]
        assert [[file["name"] for file in post.get("attachments", ())] for post in posts] == [[], ["a.png"], ["b.pdf"]]
        assert [post.get("reply_to") for post in posts] == ["m7", None, None]


async def test_each_chat_is_shown_its_own_text(process: Process) -> None:
    chats = [f"{NAME}:c{number}" for number in range(30)]
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        for chat in chats:
            await write(process.bus, f"{TEXT} for {chat}", session=chat)
        await platform.count(len(chats))
        for chat in chats:
            await commit(process.bus, f"whole for {chat}", session=chat)
        await until_empty(process.bus)

        assert {chat: platform.shown(chat) for chat in chats} == {chat: [f"whole for {chat}"] for chat in chats}


async def test_beginning_and_going_on_take_from_rates_of_their_own_and_replies_from_theirs(
    process: Process, monkeypatch: pytest.MonkeyPatch, room: Room
) -> None:
    counts: dict[Purpose, int] = {"send": 100, "begin": 2, "edit": 3}
    seldom = {name: (Rate(bucket=name, count=count, per_s=3_600.0),) for name, count in counts.items()}
    monkeypatch.setattr(TestingChannel, "rates", lambda _self, _chat, purpose="send": seldom[purpose])
    monkeypatch.setattr(testing, "EDIT_EVERY_S", 0.01)
    monkeypatch.setattr(streamer, "NO_ROOM_S", 0.02)
    chats = [f"{NAME}:c{number}" for number in range(3)]
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        number = 0
        # Long after there is no more room, so that all three chats have asked for some more than once.
        while len(platform.acts_of("edit")) < 2 or room.not_shown < 20:
            for chat in chats:
                await write(process.bus, TEXT + "." * number, session=chat, sequence=number)
            await anyio.sleep(0.02)
            number += 1
        # Of each bucket one is left: for the last edits, which a platform counts with the others.
        begun, edits = len(platform.delivered), len(platform.acts_of("edit"))
        for chat in chats:
            await commit(process.bus, "whole", session=chat)
        await until_empty(process.bus)

        assert (begun, edits) == (1, 2)
        assert [platform.shown(chat) for chat in chats] == [["whole"]] * 3


async def test_two_replicas_show_a_text_once(process: Process) -> None:
    async with sink() as platform, replica(pushing(process, platform)), replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform)
        await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["whole"]
        assert len(platform.posts) == 1


async def test_a_stop_in_the_middle_lets_the_successor_go_on_with_the_message(process: Process) -> None:
    async with sink() as platform:
        async with replica(pushing(process, platform)):
            await leads(process)
            await shown(process, platform)
        async with replica(pushing(process, platform)):
            await leads(process)
            await shown(process, platform, f"{TEXT} and goes on", sequence=1)
            await commit(process.bus, "whole")
            await until_empty(process.bus)

        assert platform.shown(ANN) == ["whole"]
        assert len(platform.delivered) == 1
        assert await unknown(process.bus) == []


async def test_a_predecessors_text_above_what_was_said_since_does_not_become_the_reply(process: Process) -> None:
    async with sink() as platform:
        async with replica(pushing(process, platform)):
            await leads(process)
            await shown(process, platform)
        async with replica(pushing(process, platform)):
            await commit(process.bus, "aside", kind="aside-1")
            await until_empty(process.bus)
            await commit(process.bus, "whole")
            await until_empty(process.bus)

        assert platform.shown(ANN) == ["aside", "whole"]
        assert await unknown(process.bus) == []


@pytest.mark.parametrize("writes_on", [False, True])
async def test_a_predecessor_that_died_in_the_middle_of_the_first_message_is_listed_once(
    process: Process, writes_on: bool
) -> None:
    sent = process.bus.keys.sent(ANN, f"{ANN}#0")
    await process.bus.call("HSET", sent, "preview", "sending 1 dead-preview0")
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        if writes_on:
            await write(process.bus, TEXT)
            await until(lambda: True)
        reply = await commit(process.bus, "whole")
        await until_empty(process.bus)

        assert platform.shown(ANN) == ["whole"]
        assert await unknown(process.bus) == [(reply, "0", "preview")]


async def accept_one(process: Process, session: str) -> None:
    inbound = an_inbound("m1", session=session, text="hello", delivery="push")
    await publish(process.bus, inbound, scope="pond:workspace", config=process.config.queue)


async def test_the_sign_that_somebody_writes_stands_until_nothing_waits(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testing, "TYPING_LASTS_S", 0.02)
    monkeypatch.setattr(typing_indicator, "SHORTEST_S", 0.02)
    monkeypatch.setattr(typing_indicator, "FIRST_S", 0.0)
    async with sink() as platform, replica(pushing(process, platform, streaming=False)):
        await leads(process)
        await accept_one(process, ANN)
        await write(process.bus, "Few")
        await until(lambda: len(platform.acts_of("typing")) >= 3)
        assert {post["session"] for post in platform.acts_of("typing")} == {ANN}
        await process.bus.call("DEL", process.bus.keys.waiting(ANN))
        await accept_one(process, BOB)
        await write(process.bus, "Few", session=BOB)
        # One that is under way may come yet.
        await until(lambda: sum(post["session"] == BOB for post in platform.acts_of("typing")) >= 2)
        seen = len(platform.acts_of("typing"))
        await until(lambda: len(platform.acts_of("typing")) >= seen + 5)

        assert {post["session"] for post in platform.acts_of("typing")[seen:]} == {BOB}


async def test_what_is_answered_at_once_shows_no_sign(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    passed_s = [0.0]
    later = {**vars(anyio), "current_time": lambda: anyio.current_time() + passed_s[0]}
    monkeypatch.setattr(typing_indicator, "anyio", SimpleNamespace(**later))
    async with sink() as platform, replica(pushing(process, platform, streaming=False)):
        await leads(process)
        passed_s[0] = -1_000.0  # it stands still, as far as signs are concerned
        await accept_one(process, ANN)
        await write(process.bus, "Few")
        await process.bus.call("DEL", process.bus.keys.waiting(ANN))
        await commit(process.bus, "whole")
        await until_empty(process.bus)
        await accept_one(process, BOB)
        passed_s[0] = 0.0
        await write(process.bus, "Few", session=BOB)
        await until(lambda: bool(platform.acts_of("typing")))

        assert {post["session"] for post in platform.acts_of("typing")} == {BOB}


async def test_a_chat_that_refuses_the_sign_rests_and_is_answered_all_the_same(process: Process) -> None:
    refused: list[str] = []

    def refuse_signs(post: Post) -> Refuse | None:
        if post["kind"] != "typing":
            return None
        refused.append(post["session"])
        return Refuse(429, 60.0)

    async with sink(others=refuse_signs) as platform, replica(pushing(process, platform, streaming=False)):
        await leads(process)
        await accept_one(process, ANN)
        await write(process.bus, "Few")
        await until(lambda: bool(refused))
        await commit(process.bus, "whole")
        await until_empty(process.bus)

    assert platform.shown(ANN) == ["whole"]


async def test_a_message_is_marked_from_its_acceptance_to_its_answer(process: Process) -> None:
    async with sink() as platform:
        pushed = pushing(process, platform, reaction="👀")
        config: Any = pushed.config.channels[NAME]
        async with connect(pushed, NAME, config) as channel, anyio.create_task_group() as tg:
            outbox = Outbox(pushed, channel, config)
            tg.start_soon(outbox.run)
            inbound = an_inbound("m1", session=ANN, text="hello", delivery="push")
            outbox.showing.accepted(inbound.session, inbound)
            await until(lambda: bool(platform.acts_of("react")))
            reply = Reply(id=f"{ANN}#1", session=ANN, turn=1, text="hi", correlation="c", answers=("m1",))
            outbox.showing.delivered(reply)
            await until(lambda: len(platform.acts_of("react")) > 1)
            pushed.stopping.set()

    assert [(post["session"], post["id"], post["sign"]) for post in platform.acts_of("react")] == [
        (ANN, "m1", "👀"),
        (ANN, "m1", ""),
    ]


async def test_in_a_group_what_is_shown_answers_to_the_message(process: Process) -> None:
    inbound = an_inbound("m1", session=ANN, text="hello", delivery="push", chat_kind="group")
    await publish(process.bus, inbound, scope="pond:workspace", config=process.config.queue)
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        await shown(process, platform)

        assert platform.delivered[0]["reply_to"] == "m1"


def test_what_is_shown_takes_less_time_than_a_lease() -> None:
    assert QueueConfig().lease_s > streamer.TIMEOUT_MAX_S


async def test_chats_of_others_are_none_of_its_business(process: Process) -> None:
    async with sink() as platform, replica(pushing(process, platform)):
        await leads(process)
        await write(process.bus, TEXT, session="web:ann")
        await shown(process, platform, session=BOB)

        assert [post["session"] for post in platform.posts] == [BOB]
