"""The fake Bot API keeps to what the documentation of the real one says."""

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import anyio
import httpx2
import pytest

from tests.fakes.telegram import Cut, FakeTelegram, Garbled, Page, Refuse, fake_telegram
from tests.fakes.telegram.entities import cut_out, found_in, units, wrong_with
from tests.fakes.telegram.faults import Floods
from tests.fakes.telegram.rich import Unreadable, read
from tests.limits import HANG_S
from tests.tables import each_row


class Client:
    def __init__(self, telegram: FakeTelegram, http: httpx2.AsyncClient) -> None:
        self.telegram = telegram
        self.http = http

    async def __call__(self, method: str, *, token: str = "", **params: Any) -> dict[str, Any]:
        url = f"{self.telegram.base_url}/bot{token or self.telegram.bot.token}/{method}"
        response = await self.http.post(url, json=params)
        answer: dict[str, Any] = response.json()
        assert response.status_code == answer.get("error_code", 200)
        return answer

    async def refused(self, method: str, **params: Any) -> str:
        answer = await self(method, **params)
        assert not answer["ok"], answer
        return str(answer["description"])


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with fake_telegram() as telegram, httpx2.AsyncClient(timeout=HANG_S, verify=False) as http:
        yield Client(telegram, http)


async def test_updates_come_again_until_a_higher_offset_confirms_them(client: Client) -> None:
    ann = client.telegram.direct(client.telegram.person("Ann", username="ann"))
    ann.say("one")
    ann.say("/start@pond_bot two")

    first = (await client("getUpdates"))["result"]
    again = (await client("getUpdates", offset=first[1]["update_id"]))["result"]
    none = (await client("getUpdates", offset=first[1]["update_id"] + 1))["result"]

    assert [update["message"]["text"] for update in first] == ["one", "/start@pond_bot two"]
    assert first[0]["message"]["from"] == {"id": ann.id, "is_bot": False, "first_name": "Ann", "username": "ann"}
    assert first[0]["message"]["chat"] == {"id": ann.id, "type": "private", "first_name": "Ann", "username": "ann"}
    assert first[1]["message"]["entities"] == [{"type": "bot_command", "offset": 0, "length": 15}]
    assert (again, none) == (first[1:], [])
    client.telegram.bot.again(1)
    assert (await client("getUpdates", offset=first[1]["update_id"]))["result"] == first[1:]


async def test_a_long_poll_ends_with_the_first_update_and_is_ended_by_the_next_poll(client: Client) -> None:
    answers: list[dict[str, Any]] = []

    async def poll(**params: Any) -> None:
        answers.append(await client("getUpdates", timeout=30, **params))

    async with anyio.create_task_group() as tg:
        tg.start_soon(poll)
        await client.telegram.polled()
        first = client.telegram.bot.poll
        tg.start_soon(poll)
        await client.telegram.until(lambda: client.telegram.bot.poll not in (None, first))
        client.telegram.direct(client.telegram.person("Ann")).say("hello")

    assert answers[0]["error_code"] == 409
    assert "terminated by other getUpdates" in answers[0]["description"]
    assert [update["message"]["text"] for update in answers[1]["result"]] == ["hello"]


async def test_a_poll_whose_client_has_gone_disturbs_nobody(client: Client) -> None:
    with anyio.move_on_after(0.05):
        await client("getUpdates", timeout=30)
    await client.telegram.until(lambda: client.telegram.bot.poll is None)

    assert (await client("getUpdates", timeout=0))["result"] == []


async def test_while_a_webhook_is_set_nothing_can_be_polled(client: Client) -> None:
    assert "HTTPS" in await client.refused("setWebhook", url="http://example.com/hook")
    assert "unallowed" in await client.refused("setWebhook", url="https://example.com/hook", secret_token="a b")
    await client("setWebhook", url="https://example.com/hook", secret_token="abc")

    assert "webhook is active" in await client.refused("getUpdates")
    assert (await client("getWebhookInfo"))["result"]["url"] == "https://example.com/hook"
    await client("deleteWebhook")
    assert (await client("getUpdates"))["ok"]


async def test_a_webhook_is_called_with_its_secret_until_it_says_yes(client: Client) -> None:
    asked: list[bytes] = []

    async def hook(stream: Any) -> None:
        async with stream:
            request = b""
            while b"hello" not in request:
                request += await stream.receive()
            asked.append(request)
            await stream.send(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % (200 if len(asked) > 1 else 503))

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tg:
        tg.start_soon(listener.serve, hook)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        client.telegram.webhook_at = f"http://127.0.0.1:{port}"
        await client("setWebhook", url="https://example.com/hook", secret_token="abc")
        client.telegram.direct(client.telegram.person("Ann")).say("hello")
        await client.telegram.until(lambda: not client.telegram.bot.updates)
        tg.cancel_scope.cancel()

    assert len(asked) == 2
    assert asked[0].startswith(b"POST /hook HTTP/1.1")
    assert b"X-Telegram-Bot-Api-Secret-Token: abc" in asked[0]


async def test_only_what_was_asked_for_is_delivered(client: Client) -> None:
    ann = client.telegram.direct(client.telegram.person("Ann"))
    await client("getUpdates", allowed_updates=["message"])
    ann.edit(ann.say("one"), "two")

    assert [list(update)[1] for update in (await client("getUpdates"))["result"]] == ["message"]


async def test_in_privacy_mode_a_bot_sees_what_is_meant_for_it(client: Client) -> None:
    bot = client.telegram.new_bot("shy_bot", privacy=True)
    group = client.telegram.group(bot)
    for text in ("hello all", "hello @Shy_bot", "/help", "/help@other_bot"):
        group.say(text)

    found = (await client("getUpdates", token=bot.token))["result"]
    assert [update["message"]["text"] for update in found] == ["hello @Shy_bot", "/help"]


async def test_a_message_is_shown_and_answered_with_its_id(client: Client) -> None:
    ann = client.telegram.direct(client.telegram.person("Ann"))
    asked = ann.say("hello?")

    reply = {"message_id": asked.id}
    sent = (await client("sendMessage", chat_id=ann.id, text="yes", reply_parameters=reply))["result"]

    assert (sent["message_id"], sent["text"], ann.texts()) == (asked.id + 1, "yes", ["yes"])
    assert ann.shown()[0].reply_to is asked
    assert client.telegram.oddities() == []


async def test_what_is_no_message_is_refused(client: Client) -> None:
    ann = client.telegram.direct(client.telegram.person("Ann"))
    send = partial(client.refused, "sendMessage", chat_id=ann.id)

    assert "text is empty" in await send(text="")
    assert "non-empty" in await send(text=" \n")
    assert "too long" in await send(text="x" * 4_097)
    assert "too long" in await send(text="😀" * 2_049)
    assert "to be replied not found" in await send(text="x", reply_parameters={"message_id": 99})
    assert "thread not found" in await send(text="x", message_thread_id=5)
    assert "ends after the end" in await send(text="x", entities=[{"type": "bold", "offset": 0, "length": 2}])
    assert "chat not found" in await client.refused("sendMessage", chat_id=5, text="x")
    assert "Unauthorized" in await client.refused("sendMessage", token="1:no", chat_id=ann.id, text="x")
    assert "method not found" in await client.refused("sendTelepathy")
    lax = {"message_id": 99, "allow_sending_without_reply": True}
    assert (await client("sendMessage", chat_id=ann.id, text="😀" * 2_048, reply_parameters=lax))["ok"]


async def test_edits_and_deletions_keep_to_what_is_there(client: Client) -> None:
    ann = client.telegram.direct(client.telegram.person("Ann"))
    hers = ann.say("mine")
    sent = (await client("sendMessage", chat_id=ann.id, text="one"))["result"]["message_id"]
    edit = partial(client, "editMessageText", chat_id=ann.id)

    assert "is not modified" in (await edit(message_id=sent, text="one"))["description"]
    assert (await edit(message_id=sent, text="two"))["ok"]
    assert "can't be edited" in (await edit(message_id=hers.id, text="two"))["description"]
    assert (await edit(message_id=sent, rich_message={"markdown": "**three**"}))["ok"]
    assert ann.texts() == ["three"]
    assert (await client("deleteMessage", chat_id=ann.id, message_id=sent))["ok"]
    assert "to edit not found" in (await edit(message_id=sent, text="four"))["description"]
    assert "to delete not found" in await client.refused("deleteMessage", chat_id=ann.id, message_id=sent)


async def test_a_group_that_moved_says_where(client: Client) -> None:
    group = client.telegram.group(kind="group")
    new = group.migrate()

    answer = await client("sendMessage", chat_id=group.id, text="x")

    assert answer["parameters"] == {"migrate_to_chat_id": new.id}
    said = [update["message"] for update in (await client("getUpdates"))["result"]]
    assert (said[0]["migrate_to_chat_id"], said[1]["migrate_from_chat_id"]) == (new.id, group.id)


async def test_too_much_for_a_chat_is_told_to_wait(client: Client) -> None:
    ann = client.telegram.direct(client.telegram.person("Ann"))
    answers = [await client("sendMessage", chat_id=ann.id, text=str(n)) for n in range(6)]

    assert [answer["ok"] for answer in answers[:4]] == [True] * 4
    assert (answers[5]["error_code"], answers[5]["parameters"]) == (429, {"retry_after": 1})


def test_rates_are_kept_for_chats_groups_and_bots() -> None:
    now = 0.0
    floods = Floods(clock=lambda: now)

    group = [floods.wait_s("a", -5) for _ in range(22)]
    assert (group[:21], group[21]) == ([0] * 21, 3)
    assert floods.wait_s("b", -5) == 0
    other = [floods.wait_s("c", chat) for chat in range(1, 40)]
    assert (other[:33], other[33]) == ([0] * 33, 1)
    now = 3.0
    assert (floods.wait_s("a", -5), floods.wait_s("a", -5)) == (0, 3)


async def test_files_go_both_ways(client: Client) -> None:
    ann = client.telegram.direct(client.telegram.person("Ann"))
    token, http = client.telegram.bot.token, client.http
    sent = client.telegram.file("document", b"deep", name="pond.txt")
    large = client.telegram.file("document", b"deep", claims_bytes=(20 << 20) + 1)
    ann.say("", file=sent)

    found = (await client("getFile", file_id=sent.id))["result"]
    data = (await http.get(f"{client.telegram.base_url}/file/bot{token}/{found['file_path']}")).content
    url = f"{client.telegram.base_url}/bot{token}/sendDocument"
    upload = {"document": ("reply 回.md", b"# all of it", "text/markdown")}
    answer = (await http.post(url, data={"chat_id": str(ann.id), "caption": "here"}, files=upload)).json()

    assert (data, found["file_size"]) == (b"deep", 4)
    assert "file is too big" in await client.refused("getFile", file_id=large.id)
    assert answer["result"]["document"]["file_name"] == "reply 回.md"
    shown = ann.shown()[0]
    assert (shown.text, shown.file.data if shown.file else b"") == ("here", b"# all of it")


async def test_commands_and_reactions_are_looked_at(client: Client) -> None:
    ann = client.telegram.direct(client.telegram.person("Ann"))
    said = ann.say("hello")
    react = partial(client, "setMessageReaction", chat_id=ann.id, message_id=said.id)

    assert "REACTION_INVALID" in (await react(reaction=[{"type": "emoji", "emoji": "🫖"}]))["description"]
    assert (await react(reaction=[{"type": "emoji", "emoji": "👀"}]))["ok"]
    assert said.reactions == {client.telegram.bot.person.id: "👀"}
    assert (await react(reaction=[]))["ok"]
    assert said.reactions == {}
    commands = [{"command": "help", "description": "What there is"}]
    assert "INVALID" in await client.refused("setMyCommands", commands=[{"command": "Help", "description": "x"}])
    assert (await client("setMyCommands", commands=commands, language_code="zh"))["ok"]
    assert (await client("getMyCommands", language_code="zh"))["result"] == commands
    assert (await client("getMyCommands"))["result"] == []


async def test_faults_are_met_in_order_and_say_whether_it_was_done(client: Client) -> None:
    ann = client.telegram.direct(client.telegram.person("Ann"))
    script = (Refuse(429, retry_after=3), Refuse(500), Page(), Garbled(), Cut(), Cut(acted=False), Cut(half=True))
    client.telegram.faults.on("send*", *script)
    outcomes: list[str] = []
    for number in range(8):
        try:
            outcomes.append(str((await client("sendMessage", chat_id=ann.id, text=str(number)))["ok"]))
        except (httpx2.HTTPError, ValueError) as error:
            outcomes.append(type(error).__name__)

    cut = {"RemoteProtocolError", "ReadError"}
    assert outcomes[:4] == ["False", "False", "JSONDecodeError", "JSONDecodeError"]
    assert set(outcomes[4:7]) <= cut
    assert ann.texts() == ["3", "4", "6", "7"]
    assert [call.acted for call in client.telegram.calls] == [False, False, False, True, True, False, True, True]
    assert client.telegram.calls[4].answered is False


def test_lengths_and_places_are_counted_in_utf_16() -> None:
    text = "👋🏽 hi @Pond_bot, see https://millpond.example/x?a=b"
    mention = next(entity for entity in found_in(text) if entity["type"] == "mention")

    assert units("👋🏽e\u0301") == 6
    assert cut_out(text, mention["offset"], mention["length"]) == "@Pond_bot"


@each_row(
    ("entities", "wrong"),
    [
        ([("bold", 0, 3), ("italic", 1, 2)], ""), ([("bold", 0, 3), ("italic", 2, 3)], "overlap"),
        ([("bold", 0, 3), ("code", 1, 2)], "nested"), ([("code", 0, 3), ("pre", 0, 3)], "nested"),
        ([("blockquote", 0, 3), ("blockquote", 1, 2)], "nested"), ([("bold", 4, 1)], "middle"), ([("bold", 3, 2)], ""),
        ([("bold", 3, 3)], "middle"), ([("bold", 0, 0)], "bad offset"), ([("loud", 0, 1)], "unsupported"),
        ([("text_link", 0, 1)], "wrong URL"),
    ],
)  # fmt: skip
def test_entities_that_the_documentation_forbids_are_refused(entities: list[tuple[str, int, int]], wrong: str) -> None:
    given = [{"type": kind, "offset": offset, "length": length} for kind, offset, length in entities]

    found = wrong_with("abc😀😀", given)

    assert bool(found) == bool(wrong)
    assert wrong in found


def test_rich_markdown_shows_what_a_person_sees() -> None:
    lines = [
        "# A *head*\n\none\ntwo  \nthree\n\n- x\n- `a<b>$1$`\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        "```py\nx = 1\n```",
    ]
    shown = read("\n\n".join(lines))
    assert shown.text == "A head\none two\nthree\nx\na<b>$1$\na\nb\n1\n2\nx = 1"
    assert {"heading", "table", "fence", "list_item"} <= set(shown.kinds)


def test_rich_markdown_takes_away_what_looks_like_markup() -> None:
    assert read("for $5 and 6$ or <name> or ==x== or ||y||").text == "for 5 and 6 or  or x or y"
    escaped = read(r"for \$5 and 6\$ or \<name\> or \==x\== or \||y\||").text
    assert escaped == "for $5 and 6$ or <name> or ==x== or ||y||"


@each_row(
    "markdown",
    [
        "",
        "<b></b>",
        "x" * 32_769,
        "\n".join(f"- {n}" for n in range(300)),
        "> " * 17 + "deep",
        "|" + "a|" * 21 + "\n|" + "-|" * 21,
        "![a pond](https://example.com/pond.png)",
        "openai:ann@example.com",
    ],
)
def test_rich_markdown_beyond_its_limits_is_refused(markdown: str) -> None:
    with pytest.raises(Unreadable):
        read(markdown)
