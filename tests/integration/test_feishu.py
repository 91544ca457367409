"""The adapter of Feishu where the contract does not look: tokens, cards, long connections, events by HTTP, health."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import pytest
from msgspec.structs import replace as replaced
from structlog.testing import capture_logs

from channels.base import Finds
from channels.feishu import FeishuChannel
from channels.feishu.event_inlet import OUTDATED
from channels.push_checks import examine
from channels.testing.contract_steps import a_file, a_part, asked_of, receiving, said_before, say_in
from channels.testing.lab import Heard, Said
from channels.testing.loop_clock import put_forward
from daemon.config import AccessConfig, BotConfig, Config, FeishuConfig, Secret
from daemon.errors import BusUnavailable, ChannelError, SendRefused, SendRejected
from daemon.events import Choice
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.contract.test_feishu import FeishuLab, a_lab
from tests.fakes.feishu import Cut, Hang, Refuse
from tests.limits import HANG_S, until
from tests.tables import each_row


@pytest.fixture
async def lab(process: Process, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FeishuLab]:
    monkeypatch.setattr("channels.feishu.long_connection.PAUSE_MIN_S", 0.02)
    async with a_lab(process) as lab:
        yield lab


@pytest.fixture
async def by_http(process: Process) -> AsyncIterator[FeishuLab]:
    async with a_lab(process, by_http=True) as lab:
        yield lab


class NoTickets(set[str]):
    """Tickets of which none is valid."""

    def __contains__(self, _ticket: object) -> bool:
        return False


def texts(lab: FeishuLab, chat: SessionKey | None = None) -> list[str]:
    return [shown.text for shown in lab.shown(chat or lab.chat)]


# Tokens


async def test_a_token_is_bought_once_and_again_when_it_is_not_accepted(lab: FeishuLab) -> None:
    await lab.channel.send(lab.chat, a_part("one"), timeout_s=HANG_S)
    await lab.channel.send(lab.chat, a_part("two", number=1), timeout_s=HANG_S)
    before = len(lab.feishu.called("token"))
    lab.feishu.app.tokens.clear()
    async with lab.again() as other:
        await other.send(lab.chat, a_part("three", number=2), timeout_s=HANG_S)

    assert (before, len(lab.feishu.called("token"))) == (1, 2)
    assert texts(lab) == ["one", "two", "three"]


async def test_a_token_that_is_never_accepted_is_told_and_not_asked_for_without_end(lab: FeishuLab) -> None:
    lab.feishu.faults.on("messages.create", always=Refuse(99991663))

    with pytest.raises(SendRefused, match="99991663"):
        await lab.channel.send(lab.chat, a_part(), timeout_s=HANG_S)

    assert len(lab.feishu.called("messages.create")) == 2


async def test_who_waits_for_a_token_that_another_caller_buys_keeps_the_own_time_limit(lab: FeishuLab) -> None:
    lab.feishu.faults.on("token", Hang())
    async with anyio.create_task_group() as tg:
        tg.start_soon(partial(lab.channel.send, lab.chat, a_part("slow"), timeout_s=100 * HANG_S))
        await lab.feishu.until(lambda: bool(lab.feishu.called("token")), within_s=HANG_S)
        with anyio.fail_after(HANG_S), pytest.raises(SendRefused, match="access token within"):
            await lab.channel.send(lab.chat, a_part("quick", number=1), timeout_s=0.05)
        tg.cancel_scope.cancel()


async def test_no_secret_is_in_an_error(lab: FeishuLab) -> None:
    lab.feishu.faults.on("messages.create", Refuse(230002))
    with pytest.raises(SendRejected) as failed:
        await lab.channel.send(lab.chat, a_part(), timeout_s=HANG_S)

    for secret in (lab.feishu.app.secret, *lab.feishu.app.tokens):
        assert secret not in str(failed.value)


# Sending


async def test_a_repeated_part_is_shown_once(lab: FeishuLab) -> None:
    image = replaced(a_file(lab, "tides.png", b"\x89PNG"), kind="image")
    for attempt in ("one", "two"):
        await lab.channel.send(lab.chat, a_part("beginning", document="whole", attempt=attempt), timeout_s=HANG_S)
        part = a_part("", number=1, attachments=(image,), attempt=attempt)
        await lab.channel.send(lab.chat, part, timeout_s=HANG_S)

    assert [(shown.text, shown.files) for shown in lab.shown(lab.chat)] == [
        ("beginning", ()), ("", ("reply.md",)), ("", ("tides.png",)),
    ]  # fmt: skip


@each_row("code", [230099, 230025, 230054])
async def test_what_is_refused_as_a_card_goes_as_text(lab: FeishuLab, code: int) -> None:
    lab.feishu.faults.on("messages.create", Refuse(code))

    await lab.channel.send(lab.chat, a_part(f"refused with {code}", number=code), timeout_s=HANG_S)

    message = next(reversed(lab.feishu.world.chats[lab.chat.chat].messages.values()))
    assert (message.kind, message.text) == ("text", f"refused with {code}")


async def test_an_administrator_who_is_named_by_a_user_id_gets_direct_messages(lab: FeishuLab) -> None:
    administrator = SessionKey(channel=lab.channel.name, chat=lab.known_as("1001"))

    await lab.channel.send(administrator, a_part("a command waits for approval"), timeout_s=HANG_S)

    assert texts(lab) == ["a command waits for approval"]


@each_row(("kind", "name"), [("image", "odd.png"), ("voice", "answer.mp3")])
async def test_what_feishu_does_not_take_for_a_picture_or_a_voice_goes_as_a_file(
    lab: FeishuLab, kind: Any, name: str
) -> None:
    file = replaced(a_file(lab, name, b"ID3 or anything"), kind=kind)

    await lab.channel.send(lab.chat, a_part("", reply=name, attachments=(file,)), timeout_s=HANG_S)

    message = list(lab.feishu.world.chats[lab.chat.chat].messages.values())[-1]
    assert (message.kind, lab.shown(lab.chat)[-1].files) == ("file", (name,))


async def test_what_was_asked_in_a_thread_that_is_gone_is_answered_in_the_chat(lab: FeishuLab) -> None:
    thread = SessionKey(channel=lab.channel.name, chat=lab.group.chat, thread=await lab.begin_thread())
    lab.feishu.world.message(thread.thread).deleted = True

    await lab.channel.send(thread, a_part("still here"), timeout_s=HANG_S)

    assert texts(lab, lab.group) == ["still here"]


@each_row("code", [230001, 230054, 230071, 230072, 230110, 230111])
async def test_what_answers_a_message_that_cannot_be_answered_stands_in_the_chat(lab: FeishuLab, code: int) -> None:
    lab.feishu.faults.on("messages.reply", always=Refuse(code))
    asked = await lab.say(Said())

    await lab.channel.send(lab.chat, a_part(f"despite {code}", number=code, reply_to=asked), timeout_s=HANG_S)

    message = next(reversed(lab.feishu.world.chats[lab.chat.chat].messages.values()))
    assert (message.kind, message.text, message.parent) == ("interactive", f"despite {code}", "")


async def test_a_rate_limit_says_when_to_come_again(lab: FeishuLab) -> None:
    lab.feishu.faults.on("messages.create", Refuse(99991400, retry_after=52))

    with pytest.raises(SendRefused) as failed:
        await lab.channel.send(lab.chat, a_part(), timeout_s=HANG_S)

    assert failed.value.retry_after_s == 52


# Texts being written


async def test_a_text_that_is_being_written_streams_into_one_card_and_ends_streaming(lab: FeishuLab) -> None:
    chat = lab.feishu.world.chats[lab.chat.chat]
    sent = await lab.channel.send(lab.chat, a_part("High", preview=True), timeout_s=HANG_S)
    streaming = chat.messages[sent].is_streaming
    for text in ("High at", "High at noon"):
        await lab.channel.edit(lab.chat, sent, a_part(text, preview=True), timeout_s=HANG_S)
    await lab.channel.edit(lab.chat, sent, a_part("High at noon."), timeout_s=HANG_S)

    assert (streaming, chat.messages[sent].is_streaming) == (True, False)
    assert texts(lab) == ["High at noon."]
    assert [call.method for call in lab.feishu.called("cards.")] == [
        "cards.id_convert", "cards.content", "cards.content", "cards.update",
    ]  # fmt: skip
    assert not lab.feishu.called("messages.patch")


async def test_a_text_that_was_taken_back_while_it_is_written_is_shown_again(lab: FeishuLab) -> None:
    first = await lab.channel.send(lab.chat, a_part("High", preview=True, attempt="one"), timeout_s=HANG_S)
    await lab.channel.remove(lab.chat, first, timeout_s=HANG_S)
    second = await lab.channel.send(lab.chat, a_part("High at", preview=True, attempt="two"), timeout_s=HANG_S)

    assert [(shown.id, shown.text) for shown in lab.shown(lab.chat)] == [(second, "High at")]


@each_row("fault", [Cut(), Cut(acted=False), Refuse(99991400)])
async def test_the_beginning_of_an_answer_is_found_by_another_process_and_shown_once(
    lab: FeishuLab, fault: Cut | Refuse
) -> None:
    part = a_part("High", preview=True, reply=f"r-{fault}")
    shown = len(texts(lab))
    lab.feishu.faults.on("messages.create", fault)
    with pytest.raises(ChannelError):
        await lab.channel.send(lab.chat, part, timeout_s=HANG_S)

    async with lab.again() as other:
        assert isinstance(other, Finds)
        found = [await other.find(lab.chat, part, timeout_s=HANG_S) for _ in range(2)]
        lab.feishu.faults.on("messages.create", Cut())
        with pytest.raises(SendRefused):
            await other.find(lab.chat, part, timeout_s=HANG_S)
        with pytest.raises(SendRejected):
            await other.find(lab.chat, a_part("High at noon."), timeout_s=HANG_S)

    assert found[0] == found[1] == lab.shown(lab.chat)[-1].id
    assert len(texts(lab)) == shown + 1


async def test_an_app_that_may_not_change_cards_replaces_the_message(lab: FeishuLab) -> None:
    lab.feishu.app.scopes.discard("cardkit:card:write")
    sent = await lab.channel.send(lab.chat, a_part("High", preview=True), timeout_s=HANG_S)
    for text in ("High at", "High at noon"):
        await lab.channel.edit(lab.chat, sent, a_part(text, preview=True), timeout_s=HANG_S)
    await lab.channel.edit(lab.chat, sent, a_part("High at noon."), timeout_s=HANG_S)

    assert texts(lab) == ["High at noon."]
    assert (len(lab.feishu.called("cards.")), len(lab.feishu.called("messages.patch"))) == (1, 3)


@each_row("code", [300309, 200850, 300317])
async def test_a_card_that_streams_no_more_is_replaced(lab: FeishuLab, code: int) -> None:
    sent = await lab.channel.send(lab.chat, a_part("High", number=code, preview=True), timeout_s=HANG_S)
    lab.feishu.faults.on("cards.content", Refuse(code))

    await lab.channel.edit(lab.chat, sent, a_part("High at", number=code, preview=True), timeout_s=HANG_S)

    assert texts(lab)[-1] == "High at"


# Marks


async def test_another_process_takes_the_mark_of_this_bot_away(lab: FeishuLab) -> None:
    message = await lab.say(Said())
    lab.feishu.world.message(message).reactions["theirs"] = ("GLANCE", "ou_1001")
    await lab.channel.react(lab.chat, message, "👀", timeout_s=HANG_S)

    async with lab.again() as other:
        await other.react(lab.chat, message, "", timeout_s=HANG_S)
        await other.react(lab.chat, message, "", timeout_s=HANG_S)

    assert list(lab.feishu.world.message(message).reactions) == ["theirs"]


# Long connections


async def test_a_large_event_comes_in_parts(lab: FeishuLab) -> None:
    heard = Heard()
    async with receiving(lab.channel, heard):
        await lab.say(Said(text="潮" * 5_000))
        await heard.count(1)
        await lab.settled()

    assert heard.texts == ["潮" * 5_000]


async def test_a_connection_that_is_silent_is_replaced_and_nothing_is_lost(lab: FeishuLab) -> None:
    heard = Heard()
    async with receiving(lab.channel, heard):
        await lab.say(Said(text="before"))
        await heard.count(1)
        await lab.settled()
        lab.feishu.sockets[0].mute = True
        await lab.say(Said(text="after"))
        while "after" not in heard.texts:
            put_forward()
            await anyio.sleep(0.01)
        await lab.settled()

    assert heard.texts == ["before", "after"]


async def test_the_words_of_a_refused_connection_are_not_logged(lab: FeishuLab) -> None:
    lab.feishu.tickets = NoTickets()
    with capture_logs() as logs:
        async with receiving(lab.channel, Heard()):
            await lab.feishu.until(lambda: len(lab.feishu.called("ws.endpoint")) > 1, within_s=HANG_S)

    refused = next(each for each in logs if each["event"] == "socket.refused")
    assert refused["reason"] == "the WebSocket cannot be opened: status 403"


async def test_a_shorter_interval_of_pings_begins_with_the_next_ping(lab: FeishuLab) -> None:
    lab.feishu.pong_s = 5
    heard = Heard()
    async with receiving(lab.channel, heard):
        await lab.say(Said(text="before"))
        await heard.count(1)
        await lab.settled()
        sockets = list(lab.feishu.sockets)
        put_forward(60)
        await lab.say(Said(text="after"))
        await heard.count(2)
        await lab.settled()

        assert lab.feishu.sockets == sockets


async def test_events_of_another_app_are_passed_over(lab: FeishuLab) -> None:
    heard = Heard()
    message = {"message_id": "om_9", "chat_id": "oc_9", "message_type": "text", "content": '{"text":"theirs"}'}
    event = {"sender": {"sender_id": {"open_id": "ou_1001"}}, "message": message}
    body = {"header": {"event_type": "im.message.receive_v1", "app_id": "cli_other"}, "event": event}
    async with receiving(lab.channel, heard):
        lab.feishu.world.push_raw(json.dumps(body).encode())
        await lab.say(Said(text="ours"))
        await heard.count(1)
        await lab.settled()

    assert heard.texts == ["ours"]


async def test_events_of_the_old_version_are_passed_over_and_told_once(lab: FeishuLab) -> None:
    heard = Heard()
    event = {"type": "message", "open_id": "ou_1001", "text": "old", "open_chat_id": "oc_9", "open_message_id": "om_9"}
    body = {"uuid": "bc44", "token": "41a9", "ts": "1502199207.7171419", "type": "event_callback", "event": event}
    with capture_logs() as logs:
        async with receiving(lab.channel, heard):
            for _ in range(2):
                lab.feishu.world.push_raw(json.dumps(body).encode())
            await lab.say(Said(text="new"))
            await heard.count(1)
            await lab.settled()

    assert heard.texts == ["new"]
    told = [each["reason"] for each in logs if each["event"] == "event.outdated"]
    assert told == [OUTDATED]


async def test_what_was_taken_back_waits_until_feishu_says_in_which_thread_it_was(lab: FeishuLab) -> None:
    thread = await lab.begin_thread()
    heard = Heard()
    async with receiving(lab.channel, heard):
        said = await lab.say(Said(text="at noon", chat=lab.group.chat, thread=thread))
        await heard.count(1)
        await lab.settled()
        lab.feishu.faults.on("messages.get", Refuse(1500, status=500), Refuse(1500, status=500))
        await lab.say(Said(deletes=said, chat=lab.group.chat, thread=thread))
        await heard.count(2)

    assert (heard.arrivals[1].deleted, heard.arrivals[1].thread) == (True, thread)


async def test_forwarded_messages_are_read(lab: FeishuLab) -> None:
    world = lab.feishu.world
    chat, elsewhere = world.chats[lab.chat.chat], world.chat("oc_elsewhere", "group")
    ann, bo = world.person("ou_ann", "Ann"), world.person("ou_bo", "Bo")
    said = [
        elsewhere.add("text", {"text": "High at noon?"}, by=ann),
        elsewhere.add("image", {"image_key": "img_1"}, by=bo),
    ]
    content = {"content": "Merged and Forwarded Message"}
    heard = Heard()
    async with receiving(lab.channel, heard):
        for number, fault in enumerate((None, Refuse(1500, status=500))):
            lab.feishu.faults.on("messages.get", fault)
            message = chat.say(by=ann, kind="merge_forward", content=content)
            message.forwarded = said
            await heard.count(number + 1)
            await lab.settled()

        asked = chat.say("what do they mean?", by=ann, answers=message.id)
        await heard.count(3)

    forwarded = "Ann: High at noon?\nBo: [image: img_1.jpg]"
    assert heard.texts == [forwarded, "[unsupported: merge_forward]", "what do they mean?"]
    assert not heard.arrivals[0].attachments
    quote = heard.arrivals[2].quote
    assert quote is not None and (asked.parent, quote.text) == (message.id, forwarded), "the question is about them"


@each_row("message_id, scopes", [("", None), ("a/../b", None), ("om_9", None), ("om_9", {"im:resource"})])
async def test_a_deletion_that_cannot_be_looked_up_holds_up_no_message(
    lab: FeishuLab, message_id: str, scopes: set[str] | None
) -> None:
    lab.feishu.app.scopes = scopes or lab.feishu.app.scopes
    heard = Heard()
    async with receiving(lab.channel, heard):
        lab.feishu.world.push("im.message.recalled_v1", {"message_id": message_id, "chat_id": lab.chat.chat})
        await lab.say(Said(text="behind it"))
        await heard.until(lambda: "behind it" in heard.texts)
        await lab.settled()

    assert all(each.deleted for each in heard.arrivals[:-1])


async def test_the_first_and_the_last_messages_of_a_long_thread_before_the_question_are_read(lab: FeishuLab) -> None:
    thread = SessionKey(channel=lab.channel.name, chat=lab.group.chat, thread=await lab.begin_thread())
    chat, by = lab.feishu.world.chats[thread.chat], lab.feishu.world.person("ou_1001", "Person 1001")
    for number in range(300):
        said = {"text": f"number {number}"}
        chat.add("text", said, by=None if number == 299 else by, answers=thread.thread, in_thread=True)
    asked = await asked_of(lab, thread)
    await say_in(lab, thread, "later")

    before = await said_before(lab, asked)

    last = [f"number {number}" for number in range(251, 300)]
    assert [each.text for each in before] == ["Somebody began a thread.", *last]
    assert {call.params["user_id"] for call in lab.feishu.called("users.get")} == {"ou_1001", "ou_3003"}


@each_row("code", [99991672, 230027])
async def test_without_the_permission_to_read_a_thread_its_first_message_is_read(lab: FeishuLab, code: int) -> None:
    thread = SessionKey(channel=lab.channel.name, chat=lab.group.chat, thread=await lab.begin_thread())
    await say_in(lab, thread, "high at noon")
    asked = await asked_of(lab, thread)
    lab.feishu.faults.on("messages.list", Refuse(code))

    before = await said_before(lab, asked)

    assert [each.text for each in before] == ["Somebody began a thread."]


# Buttons


YES = Choice(label="Yes *now*" + "!" * 200, command="/link yes @0badc0de")
ASKED = YES.label[:100]


async def test_a_refused_press_is_explained_to_its_person_alone_and_an_accepted_one_stays_without_words(
    lab: FeishuLab, by_http: FeishuLab
) -> None:
    for each in (lab, by_http):
        heard = Heard(refusal="not yours")
        sent = await each.channel.send(each.chat, a_part("Sure?", choices=(YES,)), timeout_s=HANG_S)
        chat = each.feishu.world.chats[each.chat.chat]
        async with receiving(each.channel, heard):
            refused = chat.press(chat.messages[sent], ASKED, by=each.feishu.world.person("ou_1001", "Ann"))
            await each.settled()
            heard.refusal = ""
            accepted = chat.press(chat.messages[sent], ASKED, by=each.feishu.world.person("ou_1001", "Ann"))
            await each.settled()
            await until(lambda chat=chat, sent=sent: not chat.messages[sent].labels)

        assert json.loads(refused.answer or b"") == {"toast": {"type": "warning", "content": "not yours"}}
        assert accepted.answer == b"{}"
        assert [press.arrival.sender.name for press in heard.presses] == ["Person 1001"] * 2


@each_row(
    "change",
    [
        {"context": {"open_message_id": "om_9", "open_chat_id": "oc_9"}},  # the button was copied to another chat
        {"context": {"open_message_id": "om/9", "open_chat_id": "oc_1001"}},
        {"action": {"value": {"choice": "|/link yes"}}},
        {"action": {"value": "|/link yes"}},
        {"action": {"value": {"choice": 7, "chat": "oc_1001", "thread": "", "kind": "direct"}}},
        {"operator": {"open_id": "not an ID"}},
        {"operator": None},
    ],
)
async def test_a_press_that_is_no_buttons_is_passed_over(lab: FeishuLab, change: dict[str, Any]) -> None:
    heard = Heard()
    sent = await lab.channel.send(lab.chat, a_part("Sure?", choices=(YES,)), timeout_s=HANG_S)
    chat = lab.feishu.world.chats[lab.chat.chat]
    async with receiving(lab.channel, heard):
        forged = chat.press(chat.messages[sent], ASKED, by=lab.feishu.world.person("ou_1001", "Ann"), **change)
        await lab.settled()

    assert (heard.presses, forged.answer) == ([], b"{}")


@each_row(
    "scope, labels",
    [("im:chat:readonly", []), ("cardkit:card:write", [ASKED])],
)
async def test_without_a_permission_a_question_is_still_asked_and_answered(
    lab: FeishuLab, scope: str, labels: list[str]
) -> None:
    lab.feishu.app.scopes.discard(scope)
    sent = await lab.channel.send(lab.chat, a_part(scope, choices=(YES,)), timeout_s=HANG_S)
    lab.feishu.app.scopes.add(scope)
    chat = lab.feishu.world.chats[lab.chat.chat]
    assert texts(lab)[-1] == scope
    assert chat.messages[sent].labels == labels
    if not labels:
        return
    lab.feishu.app.scopes.discard(scope)
    async with receiving(lab.channel, heard := Heard()):
        pressed = chat.press(chat.messages[sent], ASKED, by=lab.feishu.world.person("ou_1001", "Ann"))
        await lab.settled()

    assert (len(heard.presses), pressed.answer, chat.messages[sent].labels) == (1, b"{}", labels)


# Events by HTTP


async def test_the_address_answers_the_question_of_the_developer_console(by_http: FeishuLab) -> None:
    question = json.dumps({"challenge": "ajls384k", "token": "t", "type": "url_verification"}).encode()
    async with receiving(by_http.channel, heard := Heard()):
        await by_http.say(Said(text="first"))
        await heard.count(1)
        signed = await by_http.feishu.post(question)
        unsigned = await by_http.feishu.post(question, signed=False)

    assert signed == unsigned == (200, b'{"challenge":"ajls384k"}')


@each_row(
    "change, status",
    [
        ({}, 200), ({"signed": False}, 401), ({"key": "another key"}, 403),
        ({"X-Lark-Signature": "0" * 64}, 403), ({"X-Lark-Request-Timestamp": "1"}, 403),
    ],
)  # fmt: skip
async def test_only_events_with_a_valid_signature_are_accepted(
    by_http: FeishuLab, change: dict[str, str], status: int
) -> None:
    heard = Heard()
    async with receiving(by_http.channel, heard):
        await by_http.say(Said(text="first"))
        await heard.count(1)
        await by_http.settled()
        message = {
            "message_id": "om_9",
            "chat_id": "oc_9",
            "chat_type": "p2p",
            "message_type": "text",
            "content": '{"text":"x"}',
        }
        event = {"sender": {"sender_id": {"open_id": "ou_1001"}}, "message": message}
        body = {"header": {"event_type": "im.message.receive_v1"}, "event": event}
        found, words = await by_http.feishu.post(json.dumps(body).encode(), **change)  # type: ignore[arg-type]

    assert found == status
    assert (status == 200) or b"encrypt_key" in words or b"Check the clock" in words
    assert heard.texts[1:] == (["x"] if status == 200 else [])


async def test_a_request_without_a_signature_learns_nothing_about_its_padding(by_http: FeishuLab) -> None:
    feishu = by_http.feishu
    async with receiving(by_http.channel, heard := Heard()):
        await by_http.say(Said(text="first"))
        await heard.count(1)
        await by_http.settled()
        right = await feishu.post(b"{}", signed=False)
        wrong = await feishu.post(b"{}", signed=False, key="another key")

    assert right == wrong
    assert right[0] == 401


async def test_an_event_that_is_not_stored_is_to_be_sent_again(by_http: FeishuLab) -> None:
    refusals = [BusUnavailable("away")]

    def away(_arrival: object) -> None:
        if refusals:
            raise refusals.pop()

    async with receiving(by_http.channel, heard := Heard(before=away)):
        await by_http.say(Said(text="stored later"))
        await heard.count(1)
        await by_http.settled()

    assert [each for each in by_http.feishu.answers if each] == [503, 200]


# How it fares


@each_row(
    "change, ok, words",
    [
        ({}, True, "over a long-lived connection"),
        ({"status": 1}, True, "the app is not active"),
        ({"secret": "other"}, False, "channels.lake.app_id"),
        ({"scopes": {"im:message"}}, True, "lacks permissions: im:message:send_as_bot"),
    ],
)
async def test_health_says_what_to_do(lab: FeishuLab, change: dict[str, object], ok: bool, words: str) -> None:
    app = lab.feishu.world.app
    lab.feishu.world.app = replace(app, tokens={}, **change)  # type: ignore[arg-type]
    try:
        async with lab.again() as channel:
            health = await channel.health()
    finally:
        lab.feishu.world.app = app

    assert isinstance(channel, FeishuChannel)
    assert (health.ok, words in health.text) == (ok, True), health.text


async def test_doctor_warns_of_missing_permissions(lab: FeishuLab) -> None:
    app, access = lab.feishu.app, AccessConfig(policy="open")
    app.scopes.discard("im:resource")
    channel = FeishuConfig(app_id=app.id, app_secret=Secret(app.secret), base_url=lab.feishu.base_url, access=access)

    found = await examine("lake", Config(bots={"pond": BotConfig()}, channels={"lake": channel}))

    assert [each.state for each in found] == ["ok", "warning", "ok"]
    assert "lacks permissions: im:resource" in found[1].text
