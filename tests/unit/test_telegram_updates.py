import json
from contextlib import suppress

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from channels.arrival import Arrival
from channels.telegram.api_types import Message
from channels.telegram.event_inlet import chat_of, number_of
from channels.telegram.markdown import Utf16Text, length
from channels.telegram.updates import Me, Membership, Migrated, Pressed, read
from daemon.events import Quote
from tests.tables import each_row

ME = Me(id=42, username="pond_bot")
ANN = {"id": 7, "is_bot": False, "first_name": "Ann", "last_name": "Lee"}
PRIVATE = {"id": 7, "type": "private", "first_name": "Ann"}
GROUP = {"id": -100, "type": "supergroup", "title": "Frogs"}


def update(message=None, *, number=1, kind="message", **fields):
    body = {"message_id": 5, "date": 1, "from": ANN, "chat": PRIVATE, **(message or {}), **fields}
    return json.dumps({"update_id": number, kind: {k: v for k, v in body.items() if v is not None}}).encode()


def arrived(found) -> Arrival:
    event = read(found, ME)
    assert isinstance(event, Arrival)
    return event


def entity(kind, offset, length, **more):
    return {"type": kind, "offset": offset, "length": length, **more}


def test_a_text_in_a_private_chat_is_a_message_to_the_bot():
    arrival = arrived(update(text="hello", number=9))

    assert (arrival.seen_as, arrival.id, arrival.chat, arrival.thread) == ("9", "5", "7", "")
    assert (arrival.text, arrival.mentioned, arrival.chat_kind, arrival.edited) == ("hello", True, "direct", False)
    assert (arrival.sender.id, arrival.sender.name, arrival.sender.is_bot) == ("7", "Ann Lee", False)


def test_an_edited_message_has_the_id_of_what_it_replaces():
    arrival = arrived(update(text="better", number=10, kind="edited_message"))

    assert (arrival.edited, arrival.id, arrival.seen_as) == (True, "5", "10")


def test_what_is_said_in_a_group_to_others_does_not_mention_the_bot():
    arrival = arrived(update(text="hello all", chat=GROUP))

    assert (arrival.mentioned, arrival.chat_kind, arrival.chat_name) == (False, "group", "Frogs")


@each_row(
    ("text", "entities", "said"),
    [
        ("@Pond_Bot, how deep?", [entity("mention", 0, 9)], "how deep?"),
        ("😀 hey @pond_bot there", [entity("mention", 7, 9)], "😀 hey @pond_bot there"),
        ("Pond what?", [entity("text_mention", 0, 4, user={"id": 42, "first_name": "Pond"})], "what?"),
        ("/status", [entity("bot_command", 0, 7)], "/status"),
        ("/status@pond_bot", [entity("bot_command", 0, 16)], "/status"),
        ("/model@POND_BOT fast", [entity("bot_command", 0, 15)], "/model fast"),
        ("@pond_bot /stop", [entity("mention", 0, 9), entity("bot_command", 10, 5)], "/stop"),
    ],
)
def test_a_mention_is_found_by_utf_16_units_and_a_leading_one_taken_away(text, entities, said):
    arrival = arrived(update(text=text, entities=entities, chat=GROUP))

    assert arrival.mentioned
    assert arrival.text == said


def test_a_name_alone_is_a_question_about_the_photo_that_it_answers():
    """It was passed over."""
    photo = {"message_id": 3, "date": 1, "chat": GROUP, "from": ANN, "photo": [{"file_id": "p", "file_unique_id": "u"}]}
    asked = arrived(update(text="@pond_bot", entities=[entity("mention", 0, 9)], chat=GROUP, reply_to_message=photo))

    assert (asked.text, asked.mentioned, [file.source for file in asked.attachments]) == ("", True, ["p"])


def test_a_mention_in_a_caption_counts():
    photo = [{"file_id": "p", "width": 90, "height": 90}]
    arrival = arrived(
        update(caption="@pond_bot what is it", caption_entities=[entity("mention", 0, 9)], photo=photo, chat=GROUP)
    )

    assert (arrival.mentioned, arrival.text) == (True, "what is it")


def test_a_command_for_another_bot_is_nothing_to_this_one():
    assert read(update(text="/stop@other_bot", entities=[entity("bot_command", 0, 15)], chat=GROUP), ME) is None


def test_another_persons_name_is_no_mention():
    text = "@pond_bottle hi"
    assert not arrived(update(text=text, entities=[entity("mention", 0, 12)], chat=GROUP)).mentioned


def test_an_answer_to_the_bot_mentions_it_and_quotes_it_without_a_name():
    said = {"message_id": 3, "date": 1, "chat": GROUP, "from": {"id": 42, "is_bot": True}, "text": "x" * 2_000}
    arrival = arrived(update(text="why?", chat=GROUP, reply_to_message=said))

    assert arrival.mentioned
    assert arrival.reply_to == "3"
    assert arrival.quote == Quote(text="x" * 1_000, sender_name="")


def test_an_answer_to_a_photo_file_or_voice_message_brings_it_along():
    """In a group with privacy mode, the bot never gets the message that holds the photo."""
    photo = [{"file_id": "big", "file_unique_id": "b", "width": 800, "height": 600, "file_size": 5}]
    kinds: dict[str, dict[str, object]] = {
        "image": {"photo": photo, "caption": "look"},
        "document": {"document": {"file_id": "doc", "file_unique_id": "d", "file_name": "plan.pdf"}},
        "voice": {"voice": {"file_id": "spoken", "file_unique_id": "s", "duration": 3}},
    }
    called = [entity("mention", 0, 9)]
    own = [{"file_id": "own", "file_unique_id": "o", "width": 8, "height": 6}]
    for kind, fields in kinds.items():
        said = {"message_id": 3, "date": 1, "chat": GROUP, "from": ANN, **fields}
        asked = arrived(update(text="@pond_bot what is it?", entities=called, chat=GROUP, reply_to_message=said))
        direct = arrived(update(photo=own, caption="and it?", reply_to_message={**said, "chat": PRIVATE}))
        aside = arrived(update(text="nice", chat=GROUP, reply_to_message=said))

        [brought] = asked.attachments
        assert brought.kind == kind
        assert asked.quote is not None and f"[{kind}: {brought.name}]" in asked.quote.text
        assert [file.source for file in direct.attachments] == [brought.source, "own"]
        assert aside.attachments == (), "nobody asked the bot"


def test_an_answer_to_the_bots_own_voice_message_brings_no_recording():
    mine = {"message_id": 3, "date": 1, "chat": GROUP, "from": {"id": 42, "is_bot": True}}
    heard = {**mine, "voice": {"file_id": "spoken", "file_unique_id": "s", "duration": 3}}
    shown = {**mine, "document": {"file_id": "doc", "file_unique_id": "d"}}

    assert arrived(update(text="why?", chat=GROUP, reply_to_message=heard)).attachments == ()
    assert [file.source for file in arrived(update(text="why?", chat=GROUP, reply_to_message=shown)).attachments] == [
        "doc"
    ]


def test_a_message_of_another_chat_that_is_answered_lends_its_files():
    ann = {"type": "user", "sender_user": {"id": 9, "first_name": "Ann", "is_bot": False}}
    external = {"origin": ann, "message_id": 4, "voice": {"file_id": "v"}}

    arrival = arrived(update(text="what does she say?", external_reply=external))

    assert [(file.kind, file.source, file.sender_id) for file in arrival.attachments] == [("voice", "v", "9")]
    assert arrival.quote == Quote(text="[voice: voice-4.ogg]", sender_name="Ann", sender_id="9")
    assert arrival.reply_to == ""


def test_a_marked_part_is_quoted_rather_than_the_whole():
    said = {"message_id": 3, "date": 1, "chat": PRIVATE, "from": ANN, "text": "one two three"}
    arrival = arrived(update(text="why?", reply_to_message=said, quote={"text": "two", "position": 4}))

    assert arrival.quote == Quote(text="two", sender_name="Ann Lee", sender_id="7")


def test_a_topic_is_a_thread_and_its_beginning_is_not_what_is_answered():
    root = {"message_id": 11, "date": 1, "chat": GROUP, "from": ANN, "forum_topic_created": {"name": "T"}}
    arrival = arrived(update(text="hi", chat=GROUP, message_thread_id=11, is_topic_message=True, reply_to_message=root))

    assert (arrival.thread, arrival.reply_to, arrival.quote) == ("11", "", None)


def test_a_thread_of_answers_is_no_topic():
    assert arrived(update(text="hi", chat=GROUP, message_thread_id=11)).thread == ""


def test_who_speaks_for_a_group_is_shown_as_the_group_and_is_no_bot():
    stand_in = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    arrival = arrived(update({"from": stand_in}, text="hi", chat=GROUP, sender_chat=GROUP))

    assert (arrival.sender.id, arrival.sender.name, arrival.sender.is_bot) == ("-100", "Frogs", False)


def test_a_forwarded_command_is_no_command():
    origin = {"type": "hidden_user", "sender_user_name": "Bob"}
    arrival = arrived(update(text="/forget all", entities=[entity("bot_command", 0, 7)], forward_origin=origin))

    assert arrival.text == "[forwarded from Bob]\n/forget all"


def test_what_stands_behind_start_is_dropped():
    assert arrived(update(text="/start abc", entities=[entity("bot_command", 0, 6)])).text == "/start"


def test_a_link_behind_words_is_shown():
    arrival = arrived(update(text="😀 see this", entities=[entity("text_link", 3, 3, url="https://e.x/a")]))

    assert arrival.text == "😀 see (https://e.x/a) this"


def test_the_largest_photo_that_models_look_at_is_taken():
    sizes = [(90, 60), (1280, 800), (2560, 1600), (320, 200)]
    photo = [{"file_id": f"p{w}", "width": w, "height": h, "file_size": w} for w, h in sizes]
    arrival = arrived(update(photo=photo, media_group_id="g1"))

    [attachment] = arrival.attachments
    assert (attachment.kind, attachment.source, attachment.size_bytes) == ("image", "p1280", 1280)
    assert (arrival.album, arrival.text) == ("g1", "")


@each_row(
    ("fields", "kind", "name"),
    [
        ({"document": {"file_id": "d", "file_name": "a.pdf", "mime_type": "application/pdf"}}, "document", "a.pdf"),
        ({"document": {"file_id": "d", "file_name": "a.png", "mime_type": "image/png"}}, "image", "a.png"),
        ({"voice": {"file_id": "v", "duration": 3}}, "voice", "voice-5.ogg"),
        ({"audio": {"file_id": "a", "file_name": "s.mp3"}}, "audio", "s.mp3"),
        ({"video_note": {"file_id": "n", "length": 1, "duration": 1}}, "video", "video-5.mp4"),
        ({"animation": {"file_id": "g"}, "document": {"file_id": "g"}}, "video", "animation-5.mp4"),
    ],
)
def test_files_are_attachments(fields, kind, name):
    [attachment] = arrived(update(fields)).attachments

    assert (attachment.kind, attachment.name) == (kind, name)


@each_row(
    ("fields", "line"),
    [
        ({"sticker": {"file_id": "s", "emoji": "😀"}}, "[sticker 😀]"),
        ({"dice": {"emoji": "🎲", "value": 4}}, "[🎲: 4]"),
        ({"location": {"latitude": 1.5, "longitude": 2}}, "[location: 1.5, 2.0]"),
        ({"contact": {"phone_number": "1", "first_name": "Bo"}}, "[contact: Bo, 1]"),
        ({"poll": {"question": "Q?", "options": [{"text": "a"}, {"text": "b"}]}}, "[poll: Q? (a; b)]"),
        ({"hologram": {"depth": 3}}, "[unsupported: hologram]"),
        ({"rich_message": {"blocks": [{"type": "paragraph", "text": ["a ", {"type": "bold", "text": "b"}]}]}}, "a b"),
    ],
)
def test_other_things_are_said_in_words(fields, line):
    assert arrived(update(fields)).text == line


@each_row("fields", [{"new_chat_title": "x"}, {"pinned_message": {}}, {"forum_topic_closed": {}}, {}])
def test_what_happened_and_nobody_said_is_nothing(fields):
    assert read(update(fields, chat=GROUP), ME) is None
    assert read(update(fields), ME) is None


def test_a_group_that_moves_says_so_in_both_places():
    assert read(update(chat={"id": -5, "type": "group"}, migrate_to_chat_id=-1005), ME) == Migrated(old=-5, new=-1005)
    assert read(update(chat={"id": -1005, "type": "supergroup"}, migrate_from_chat_id=-5), ME) == Migrated(
        old=-5, new=-1005
    )


def test_being_put_out_of_a_chat_is_known():
    found = {"update_id": 1, "my_chat_member": {"chat": GROUP, "new_chat_member": {"status": "kicked"}}}

    assert read(json.dumps(found).encode(), ME) == Membership(chat=-100, status="kicked")


def test_a_press_is_read_whatever_shape_the_rest_of_its_message_has():
    message = {"message_id": 7, "chat": PRIVATE, "reply_to_message": {"text": "no ID"}, "photo": "no list"}
    query = {"id": "q", "from": ANN, "message": message, "data": "1001|/forget all @0badc0de"}

    pressed = read(json.dumps({"update_id": 1, "callback_query": query}).encode(), ME)

    assert isinstance(pressed, Pressed)
    said = pressed.press.arrival
    assert (pressed.press.who, said.text, said.id) == ("1001", "/forget all @0badc0de", "7")


@each_row("button, is_read", [("1001|/forget all", True), ("|/help", False), (None, True)])
def test_a_press_of_a_button_that_its_message_does_not_have_is_passed_over(button, is_read):
    keyboard = [[{"text": "Delete", "callback_data": button}], "no row", [7]]
    markup = {"reply_markup": {"inline_keyboard": keyboard if button else None}}
    query = {
        "id": "q",
        "from": ANN,
        "message": {"message_id": 7, "chat": PRIVATE, **markup},
        "data": "1001|/forget all",
    }

    found = read(json.dumps({"update_id": 1, "callback_query": query}).encode(), ME)

    assert isinstance(found, Pressed) == is_read


@each_row("kind", ["channel_post", "something_new"])
def test_other_kinds_of_updates_are_passed_over(kind):
    assert read(update(text="x", kind=kind), ME) is None


def test_what_has_an_odd_shape_takes_only_itself_away():
    arrival = arrived(update(text="hi", photo="no list", entities=None, quote=3, sticker=[], media_group_id=None))

    assert (arrival.text, arrival.attachments) == ("hi", ())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=4,
)
odd_messages = st.dictionaries(st.sampled_from(Message.__struct_encode_fields__), json_values, max_size=5)


@given(odd_messages, st.sampled_from([PRIVATE, GROUP]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_no_message_is_too_odd(fields, chat):
    found = json.dumps({"update_id": 1, "message": {"message_id": 5, "from": ANN, **fields, "chat": chat}}).encode()

    try:
        event = read(found, ME)
    except msgspec.DecodeError:
        assert not isinstance(fields.get("message_id", 5), int) or isinstance(fields.get("message_id"), bool)
    else:
        assert event is None or isinstance(event, Arrival | Migrated)


@given(st.binary(max_size=64) | json_values.map(lambda value: json.dumps(value).encode()))
def test_what_is_no_update_is_refused_as_such(found):
    number_of(found)
    chat_of(found)
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        assert read(found, ME) is None


@given(st.text(max_size=20), st.integers(-3, 25), st.integers(-3, 25))
def test_units_are_utf_16(text, begin, end):
    units = Utf16Text(text)

    assert length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2
    assert units.cut(0, length(text)) == text
    assert length(units.cut(begin, end)) <= max(0, end - max(begin, 0)) + 1
