"""The meaning of Discord's events, and texts on their way to Discord."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.base import Part
from channels.discord.api_types import Deleted, Interaction, Message, order_of, seconds_of, snowflake_at
from channels.discord.discord_events import Me, Place, deleted, read, read_command
from channels.discord.markdown import discord_markdown, length
from channels.discord.message_content import attachments_of
from channels.discord.message_lookup import LookupRequest, found_in
from channels.discord.message_sender import PART_MAX, nonce_of, shown
from channels.text import split
from daemon.events import Attachment, Quote
from daemon.sessionkey import SessionKey
from tests.tables import each_row

ME = Me(id="77", name="Pond")
PLACE = Place(chat="5", name="#lake", names={"5": "lake", "9": "Keepers", "8": "Pond"}, roles=("8",))
ANN = {"id": "1001", "username": "ann", "global_name": "Ann"}
POND = {"id": "77", "username": "pond", "bot": True}
OURS = {"id": "6", "author": POND, "content": "High at noon."}
CHAT = SessionKey(channel="lake", chat="5")


@each_row("field", ["channel_id", "guild_id"])
@each_row("value", ["../users/@me", "5\n", "", "٣", "9" * 21])
def test_an_id_that_would_lead_to_another_address_is_unreadable(field: str, value: str) -> None:
    for kind in (Message, Interaction, Deleted):
        event = {"id": "4194304", "token": "t", "channel_id": "5", field: value}

        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(msgspec.json.encode(event), type=kind)


def message(content: str = "hello", **more: Any) -> Message:
    given: dict[str, Any] = {"id": "4194304", "channel_id": "5", "type": 0, "author": ANN, "content": content}
    return msgspec.json.decode(msgspec.json.encode({**given, "guild_id": "3", **more}), type=Message)


@each_row(
    "content, more, text, mentioned",
    [
        ("hello", {}, "hello", False),
        ("hello", {"guild_id": None}, "hello", True),
        ("<@77> hello", {"mentions": [POND]}, "hello", True),
        ("<@!77>, hello", {"mentions": [POND]}, "hello", True),
        ("<@&8> hello", {"mention_roles": ["8"]}, "hello", True),
        ("<@&9> hello", {"mention_roles": ["9"]}, "@Keepers hello", False),
        ("hello <@77> and <@1001>", {"mentions": [POND, ANN]}, "hello @Pond and @Ann", True),
        ("see <#5> <:wave:123> </help:456> <#6>", {}, "see #lake :wave: /help #6", False),
        ("<@77>", {"mentions": [POND]}, "", True),
    ],
)
def test_a_message_is_read_with_names_and_without_the_call(
    content: str, more: dict[str, Any], text: str, mentioned: bool
) -> None:
    arrival = read(message(content, **more), ME, PLACE)

    assert arrival is not None
    assert (arrival.text, arrival.mentioned) == (text, mentioned)


def test_a_reply_to_the_bot_means_the_bot_and_quotes_it() -> None:
    reference = {"type": 0, "message_id": "6"}

    arrival = read(message("where?", type=19, message_reference=reference, referenced_message=OURS), ME, PLACE)
    theirs = {**OURS, "author": ANN}
    other = read(message("where?", type=19, message_reference=reference, referenced_message=theirs), ME, PLACE)

    assert arrival and (arrival.mentioned, arrival.reply_to, arrival.quote) == (True, "6", Quote(text="High at noon."))
    assert other and (other.mentioned, other.quote) == (
        False,
        Quote(text="High at noon.", sender_name="Ann", sender_id="1001"),
    )


@each_row(
    "more",
    [
        {"author": POND},  # its own
        {"type": 7},  # somebody joined
        {"content": ""},  # hidden without the privileged intent
        {"content": "", "type": 19, "message_reference": {"message_id": "6"}, "referenced_message": OURS},
        {"author": None},
    ],
)
def test_what_nobody_said_to_anybody_is_no_message(more: dict[str, Any]) -> None:
    assert read(message(**more), ME, PLACE) is None


def test_an_edit_is_one_only_if_a_person_made_it() -> None:
    first = read(message(), ME, PLACE)
    preview = read(message(edited_timestamp=None, embeds=[{"title": "A link"}]), ME, PLACE, edited=True)
    edits = [read(message(edited_timestamp=at), ME, PLACE, edited=True) for at in ("2026-11-20", "2026-11-21")]

    assert preview is None
    assert first and [edit and edit.edited for edit in edits] == [True, True]
    assert len({first.seen_as, *(edit.seen_as for edit in edits if edit)}) == 3


def test_deleted_messages_name_what_was_said() -> None:
    event = Deleted(channel_id="5", ids=("6", "x", "7"), guild_id="3")
    said = read(message(id="6"), ME, PLACE)

    gone = list(deleted(event, PLACE))

    assert [(each.id, each.deleted, each.chat) for each in gone] == [("6", True, "5"), ("7", True, "5")]
    assert said and gone[0].original == said.seen_as


def test_a_slash_command_is_a_message() -> None:
    raw = {"id": "6", "token": "t", "type": 2, "channel_id": "5", "guild_id": "3", "member": {"user": ANN, "nick": "A"}}
    data = {"name": "remind", "options": [{"name": "text", "value": " tomorrow "}]}
    event = msgspec.convert({**raw, "data": data}, Interaction)

    arrival = read_command(event, PLACE)

    assert arrival and (arrival.text, arrival.sender.id, arrival.sender.name) == ("/remind tomorrow", "1001", "A")
    assert arrival.mentioned and arrival.chat_kind == "group"
    assert read_command(msgspec.structs.replace(event, type=3), PLACE) is None


def test_what_comes_beside_the_words_is_named() -> None:
    file = {"id": "1", "filename": "a.png", "size": 3, "url": "u", "content_type": "image/png"}
    forwarded = {"content": "old <@1001>", "mentions": [ANN], "attachments": [{**file, "id": "2"}]}
    poll = {
        "question": {"text": "when?"},
        "answers": [{"poll_media": {"text": "noon"}}, {"poll_media": {"text": "one"}}],
    }
    found = message(
        "", attachments=[file], sticker_items=[{"name": "Wave"}], poll=poll, message_snapshots=[{"message": forwarded}],
        embeds=[{"title": "Build", "description": "passed"}],
    )  # fmt: skip

    arrival = read(found, ME, PLACE)

    assert arrival is not None
    assert arrival.text.split("\n") == [
        "[sticker: Wave]", "[poll: when? (noon; one)]", "Build", "passed", "[forwarded message]", "old @Ann",
    ]  # fmt: skip
    assert [each.source for each in arrival.attachments] == ["5/4194304/1", "5/4194304/2"]


@each_row(
    "text, is_bot, is_read",
    [("", False, True), ("<@1001> look", True, True), ("look: https://example.org", False, False)],
)
def test_a_card_is_read_unless_it_is_the_preview_of_a_link(text: str, is_bot: bool, is_read: bool) -> None:
    """Alerts say in fields what there is to know, often beside a text; the fields were left out."""
    fields = [{"name": "state", "value": "down, <@1001>", "inline": True}, {"name": "for", "value": None}]
    found = message(text, author=ANN | {"bot": is_bot}, mentions=[ANN], embeds=[{"type": "rich", "fields": fields}])

    arrival = read(found, ME, PLACE)

    assert arrival is not None
    assert ("state: down, @Ann\nfor" in arrival.text) == is_read


@each_row(
    "kind, flags, found",
    [
        ("image/png", 0, "image"),
        ("image/svg+xml", 0, "document"),
        ("audio/ogg; codecs=opus", 1 << 13, "voice"),
        ("audio/mpeg", 0, "audio"),
        ("video/mp4", 0, "video"),
        (None, 0, "document"),
    ],
)
def test_files_have_a_kind(kind: str | None, flags: int, found: str) -> None:
    file = {"id": "1", "filename": "a", "size": 3, "url": "u", "content_type": kind}

    [attachment] = attachments_of(message(attachments=[file], flags=flags))

    assert attachment.kind == found


@each_row(
    "text, written",
    [
        ("**bold** and __bold__ and a__b__c", "**bold** and **bold** and a__b__c"),
        ("`__code__` __bold__", "`__code__` **bold**"),
        ("```py\n__init__ || x\n```\n", "```py\n__init__ || x\n```\n"),
        ("a || b", r"a \|\| b"),
        ("#### Deep #", "**Deep**"),
        ("## Two", "## Two"),
        ("![map](https://a.example/x.png)", "[map](https://a.example/x.png)"),
        ("a\n\n---\n\nb", "a\n\n⎯⎯⎯⎯⎯⎯\n\nb"),
        ("| a | b |\n|---|:-:|\n| 1 | 潮水 |\n| 22 |\nend", "```\na   b\n--  ----\n1   潮水\n22\n```\nend"),
        ("a | b\nno table", "a | b\nno table"),
        ("[bank.com](https://evil.com)", "[bank.com] (https://evil.com)"),
    ],
)
def test_markdown_is_written_for_discord(text: str, written: str) -> None:
    assert discord_markdown(text) == written


@given(st.text(st.sampled_from("ab |-#_*`~!()[]\n\\潮🌊"), max_size=200))
def test_any_text_can_be_sent(text: str) -> None:
    assert isinstance(discord_markdown(text), str)
    assert length(shown("x" * (PART_MAX - length(text[:PART_MAX])) + text)) <= PART_MAX


def test_a_long_text_hides_no_address_either() -> None:
    text = f"[bank.com](https://evil.com){'||' * ((PART_MAX - 28) // 2)}"

    assert length(text) == PART_MAX
    assert shown(text).startswith("[bank.com] https://evil.com)")
    assert length(shown(text)) <= PART_MAX


def test_a_code_block_that_is_split_is_closed_and_opened_again() -> None:
    text = "```py\n" + "print('tide')\n" * 400 + "```\n"

    parts = split(text, PART_MAX, length)

    assert len(parts) > 2
    assert all(part.startswith("```py\n") and part.rstrip().endswith("```") for part in parts)
    assert all(length(shown(part)) <= PART_MAX for part in parts)


def test_ids_tell_their_time_and_order() -> None:
    early, late = snowflake_at(1_795_000_000.0), str(int(snowflake_at(1_795_000_000.001)) + 3)

    assert seconds_of(early) == 1_795_000_000.0
    assert order_of(early) < order_of(str(int(early) + 1)) < order_of(late)


def a_part(text: str = "High at noon.", **more: Any) -> Part:
    return Part(**{"reply": "r", "number": 0, "text": text, "attempt": "a", **more})


def test_attempts_share_a_nonce_and_nothing_else_does() -> None:
    file = Attachment(kind="document", name="a", path="a")
    others = [
        a_part("Low."), a_part(number=1), a_part(reply="s"), a_part(preview=True), a_part(attachments=(file,)),
    ]  # fmt: skip
    nonces = [nonce_of(CHAT, each) for each in (a_part(), *others)]

    assert nonce_of(CHAT, a_part(attempt="b")) == nonces[0]
    assert nonce_of(CHAT, a_part("High", preview=True)) == nonce_of(CHAT, a_part("High at", preview=True))
    assert len(set(nonces)) == len(nonces)
    assert max(map(len, nonces)) <= 25


def wanted(part: Part, now_s: float) -> LookupRequest:
    preview = msgspec.structs.replace(part, preview=True)
    return LookupRequest(part=part, nonce=nonce_of(CHAT, part), preview_nonce=nonce_of(CHAT, preview), now_s=now_s)


@pytest.mark.parametrize(
    ("content", "nonce", "age_s", "preview", "is_found"),
    [
        ("anything", "part", 50_000.0, False, True),
        ("High at noon.", "", 60.0, False, True),
        ("High at noon.", "", 4_000.0, False, False),  # the bot may say the same again
        ("High at noon.", "other", 60.0, False, False),
        ("High at noon.", "preview", 60.0, False, True),  # the preview was edited into the part
        ("High at", "preview", 60.0, False, False),
        ("High at", "preview", 60.0, True, True),
        ("High at", "", 60.0, True, True),
        ("Low", "", 60.0, True, False),
    ],
)
def test_what_was_sent_is_found_by_its_nonce_or_else_by_its_text(
    content: str, nonce: str, age_s: float, preview: bool, is_found: bool
) -> None:
    now_s = 1_795_000_000.0
    text = "High at noon.\n"  # of which Discord removes the end
    part = a_part(text, preview=preview)
    known = {
        "part": nonce_of(CHAT, a_part(text)),
        "preview": nonce_of(CHAT, a_part(preview=True)),
        "other": nonce_of(CHAT, a_part(number=3)),
    }
    ours = message(content, id=snowflake_at(now_s - age_s), author=POND, nonce=known.get(nonce))

    assert bool(found_in([ours], wanted(part, now_s))) == is_found
