"""Texts to and from Feishu, and what its events mean."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from channels.base import Part
from channels.feishu.api_types import Body, Item, Mention
from channels.feishu.feishu_events import Me, me_of, read, recalled
from channels.feishu.message_content import said_in
from channels.feishu.text_forms import PART_MAX, forms_of, length, markdown_of, uuid_of
from channels.shapes import lenient
from daemon.events import Quote
from daemon.sessionkey import SessionKey
from tests.tables import each_row

ME = Me(open_id="ou_bot", app_id="cli_1", name="pond")
BOT = Mention(key="@_user_1", id={"open_id": "ou_bot"}, name="pond")
ANN = Mention(key="@_user_2", id={"open_id": "ou_ann"}, name="Ann\n")
TABLE = "|a|b|\n|-|-|\n|1|2|\n\n"


@each_row(
    "text, shown",
    [
        ("3 < 4 and 5 > 4", "3 < 4 and 5 > 4"),
        ("<at id=all></at> everyone", "&#60;at id=all>&#60;/at> everyone"),
        ("<person id='ou_1'></person>", "&#60;person id='ou_1'>&#60;/person>"),
        ("`<at id=all>` stays", "`<at id=all>` stays"),
        ("```\n<at id=all>\n![x](y)\n```", "```\n<at id=all>\n![x](y)\n```"),
        ("![a lake](https://h/p.png)", "[a lake](https://h/p.png)"),
        ("see <https://h/p?a=1>", "see [https://h/p?a=1](https://h/p?a=1)"),
        (TABLE * 4, TABLE * 4),
        (TABLE * 5, TABLE * 4 + "```\n|a|b|\n|-|-|\n|1|2|\n```\n\n"),
    ],
)
def test_markdown_calls_nobody_shows_no_picture_and_has_few_tables(text: str, shown: str) -> None:
    assert markdown_of(text) == shown


@given(st.text(max_size=400))
def test_every_text_has_a_card_and_a_plain_form_that_fit(text: str) -> None:
    card, plain = forms_of(text)

    assert json.loads(card["content"])["body"]["elements"][0]["content"]
    assert json.loads(plain["content"])["text"].strip()
    assert "<at" not in json.loads(plain["content"])["text"].lower()


@given(st.text(alphabet='a"\\<\n潮🌊`', max_size=300))
def test_a_text_takes_no_less_of_a_request_than_it_is_long(text: str) -> None:
    body = len(msgspec.json.encode({"content": forms_of(text)[0]["content"]}))

    assert body - 300 <= length(text) + 3 * text.count("`") + 3
    assert PART_MAX + 4_096 < 30_720


def test_a_repetition_has_the_same_uuid_and_another_message_has_not() -> None:
    chat, part = SessionKey(channel="f", chat="oc_1"), Part(reply="r", number=0, text="a", attempt="1")
    change = msgspec.structs.replace
    others = [
        uuid_of(chat, change(part, text="b"), "text"),
        uuid_of(chat, change(part, number=1), "text"),
        uuid_of(chat, change(part, preview=True), "text"),
        uuid_of(chat, part, "file 0"),
        uuid_of(SessionKey(channel="f", chat="oc_2"), part, "text"),
    ]

    same = uuid_of(chat, part, "text")
    assert uuid_of(chat, change(part, attempt="2"), "text") == same
    assert len({same, *others}) == 6 and len(same) <= 50
    growing = [uuid_of(chat, change(part, preview=True, text=text), "text") for text in ("a", "ab")]
    assert len(set(growing)) == 1


POST = {
    "title": "Plan",
    "content": [
        [{"tag": "at", "user_id": "@_user_1"}, {"tag": "text", "text": " look "}, {"tag": "a", "text": "here", "href": "https://h"}],
        [{"tag": "img", "image_key": "img_1"}, {"tag": "code_block", "language": "GO", "text": "x"}, 7],
        [{"tag": "hr"}, {"tag": "emotion", "emoji_type": "SMILE"}, {"tag": "at", "user_id": "@_user_2"}],
        "nonsense",
    ],
}  # fmt: skip

CALL = {"content": [[{"tag": "at", "user_id": "@_user_1"}, {"tag": "text", "text": " look @_all"}]]}

READ = "Plan\n@pond look [here](https://h)\n```go\nx\n```\n---:SMILE:@Ann"


@each_row(
    "kind, content, text, files",
    [
        ("text", {"text": "@_user_1 when is @_user_2 back?"}, "when is @Ann back?", ()),
        ("text", {"text": "ask @_user_1, @_all"}, "ask @pond, @all", ()),
        ("text", {"text": "@_user_10 @_user_1 hello"}, "@_user_10 @pond hello", ()),
        ("text", {"text": 7}, "", ()),
        ("post", POST, READ, (("image", "om_1 img_1 image"),)),
        ("post", {"zh_cn": {"title": "T", "content": [[{"tag": "text", "text": "x"}]]}, "en_us": POST}, "T\nx", ()),
        ("post", {"zh_cn": {"content": []}, "en_us": CALL}, "look @all", ()),
        ("post", {"content": [[{"tag": "at", "user_id": "ou_9", "user_name": "pondering"}]]}, "@pondering", ()),
        ("image", {"image_key": "img_1"}, "", (("image", "om_1 img_1 image"),)),
        ("file", {"file_key": "file_1", "file_name": "a.pdf"}, "", (("document", "om_1 file_1 file"),)),
        ("audio", {"file_key": "file_1", "duration": 2000}, "", (("voice", "om_1 file_1 file"),)),
        ("media", {"file_key": "file_1", "file_name": "a.mp4"}, "", (("video", "om_1 file_1 file"),)),
        ("sticker", {"file_key": "file_1"}, "[unsupported: sticker]", ()),
        ("location", {"name": "West Lake", "longitude": "1"}, "[location: West Lake]", ()),
        ("todo", {"summary": {"title": "", "content": [[{"tag": "text", "text": "Buy fish"}]]}}, "[todo] Buy fish", ()),
        ("folder", {"file_key": "file_1", "file_name": "plans"}, "[folder: plans]", ()),
        ("hologram", [], "[unsupported: hologram]", ()),
    ],
)  # fmt: skip
def test_each_type_of_message_is_read(kind: str, content: object, text: str, files: tuple[object, ...]) -> None:
    said = said_in(kind, json.dumps(content), (BOT, ANN), message_id="om_1", me="ou_bot")

    assert said.text == text
    assert tuple((each.kind, each.source) for each in said.attachments) == files


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=8),
        lambda of: (
            st.lists(of)
            | st.dictionaries(st.sampled_from(["tag", "text", "content", "title", "user_id", "image_key"]), of)
        ),
        max_leaves=20,
    )
)
def test_whatever_a_message_holds_it_can_be_stored(content: object) -> None:
    for kind in ("text", "post", "interactive", "image", "file", "vote"):
        said = said_in(kind, json.dumps(content), (BOT,), message_id="om_1", me="ou_bot")
        msgspec.json.encode(said.text)


def event(**more: object) -> Body:
    message = {"message_id": "om_1", "chat_id": "oc_1", "chat_type": "group", "create_time": "1700000000123",
               "message_type": "text", "content": '{"text":"hello"}', **more}  # fmt: skip
    sender = {"sender_id": {"open_id": "ou_ann"}, "sender_type": message.pop("sender_type", "user")}
    return lenient(Body, {"header": {"event_type": "x"}, "event": {"sender": sender, "message": message}})


NAMED = [{"key": "@_user_1", "id": {"open_id": "ou_bot"}, "name": "pond"}]
OURS = lenient(Item, {"message_id": "om_0", "msg_type": "interactive", "sender": {"id": "cli_1"}})
THEIRS = lenient(
    Item,
    {
        "message_id": "om_0",
        "msg_type": "text",
        "sender": {"id": "ou_bob", "id_type": "open_id"},
        "body": {"content": '{"text":"high at noon"}'},
    },
)


@each_row(
    "change, original, thread, reply_to, mentioned",
    [
        ({}, None, "", "", False),
        ({"chat_type": "p2p"}, None, "", "", True),
        ({"mentions": NAMED}, None, "", "", True),
        ({"parent_id": "om_0", "root_id": "om_0"}, OURS, "", "om_0", True),
        ({"parent_id": "om_0", "root_id": "om_0"}, THEIRS, "", "om_0", False),
        ({"thread_id": "omt_1"}, None, "om_1", "", False),
        ({"thread_id": "omt_1", "root_id": "om_0", "parent_id": "om_0"}, None, "om_0", "", False),
    ],
)
def test_an_event_says_where_it_belongs_and_whether_the_bot_is_meant(
    change: dict[str, object], original: Item | None, thread: str, reply_to: str, mentioned: bool
) -> None:
    arrival = read(event(**change), ME, {"ou_ann": "Ann", "ou_bob": "Bob"}, original)

    assert arrival is not None
    assert (arrival.thread, arrival.reply_to, arrival.mentioned) == (thread, reply_to, mentioned)
    assert (arrival.sender.id, arrival.sender.name, arrival.sender.is_bot) == ("ou_ann", "Ann", False)
    quoted = Quote(text="high at noon", sender_name="Bob", sender_id="ou_bob") if original is THEIRS else None
    assert arrival.quote == quoted


def test_what_another_bot_says_is_known_as_that_and_what_is_ours_is_nothing() -> None:
    other = read(event(sender_type="app"), ME)

    assert other is not None and other.sender.is_bot
    assert read(event(message_id=7), ME) is None
    assert read(event(), Me(open_id="ou_ann", app_id="cli_1")) is None
    gone = lenient(Body, {"event": {"message_id": "om_0", "chat_id": "oc_1"}})
    assert recalled(gone, ME, OURS) is None
    taken_back = recalled(gone, ME, THEIRS)
    assert taken_back is not None and (taken_back.deleted, taken_back.sender.id) == (True, "ou_bob")


def test_an_answer_without_a_bot_tells_nobody() -> None:
    assert me_of({"bot": {"open_id": "ou_1", "app_name": "pond"}}, "cli_1") == Me(
        open_id="ou_1", app_id="cli_1", name="pond"
    )
    for answer in ({}, {"bot": None}, {"bot": {"open_id": 7}}):
        try:
            me_of(answer, "cli_1")
        except ValueError as error:
            assert "bot capability" in str(error)
        else:
            raise AssertionError(answer)
