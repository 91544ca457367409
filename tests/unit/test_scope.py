"""Scopes: whose memory a conversation belongs to."""

from itertools import product
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from daemon.config import BotConfig, MemoryConfig
from daemon.events import ChatKind, Inbound
from daemon.scope import scope_of
from tests.tables import each_row

Scope = Literal["auto", "session", "person", "workspace"]


def inbound(
    *, bot: str = "pond", channel: str = "tg", chat: str = "7", sender: str = "ann", kind: ChatKind = "direct"
) -> Inbound:
    return Inbound(
        id="m",
        bot=bot,
        channel=channel,
        chat=chat,
        chat_kind=kind,
        sender_id=sender,
        text="x",
        received_at="",
        correlation="c",
    )


def scope(message: Inbound, kind: Scope = "auto") -> str:
    return scope_of(message, BotConfig(memory=MemoryConfig(scope=kind)))


@each_row(
    ("kind", "chat_kind", "expected"),
    [
        ("auto", "direct", "pond:person:tg:ann"),
        ("auto", "group", "pond:group:tg:7"),
        ("person", "group", "pond:person:tg:ann"),
        ("session", "direct", "pond:session:tg:7"),
        ("workspace", "group", "pond:workspace"),
    ],
)
def test_the_scope_follows_the_configuration_and_the_kind_of_chat(kind: Scope, chat_kind: ChatKind, expected: str):
    assert scope(inbound(kind=chat_kind), kind) == expected


def test_a_person_keeps_one_memory_over_all_direct_chats_of_a_channel() -> None:
    assert scope(inbound(chat="7")) == scope(inbound(chat="8"))


def test_the_members_of_a_group_share_the_groups_memory() -> None:
    assert scope(inbound(kind="group", sender="ann")) == scope(inbound(kind="group", sender="bob"))


def test_the_same_id_on_two_channels_is_two_people() -> None:
    assert scope(inbound(channel="tg")) != scope(inbound(channel="slack"))


@given(st.lists(st.text(":%a{我", min_size=1, max_size=4), min_size=6, max_size=6))
def test_no_choice_of_names_makes_two_scopes_meet(names: list[str]) -> None:
    bot, channel, sender, other_bot, other_channel, other_sender = names
    scopes = {
        scope(inbound(bot=b, channel=c, sender=s, kind=kind), how)
        for (b, c, s), kind, how in product(
            [(bot, channel, sender), (other_bot, other_channel, other_sender)], ("direct", "group"), ("auto", "session")
        )
    }
    people = {(b, c, s) for b, c, s in ((bot, channel, sender), (other_bot, other_channel, other_sender))}
    chats = {(b, c) for b, c, _ in people}

    assert len(scopes) == len(people) + 2 * len(chats)
