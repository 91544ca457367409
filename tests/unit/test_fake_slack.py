"""The fake Slack keeps to what the documentation of the real one says."""

import hashlib
import hmac
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.fakes.slack import Cut, FakeSlack, Garbled, Hang, Page, Refuse, fake_slack
from tests.fakes.slack.faults import Floods
from tests.fakes.slack.texts import as_mrkdwn
from tests.fakes.wire import Wire
from tests.limits import HANG_S


class Client:
    def __init__(self, slack: FakeSlack, http: aiohttp.ClientSession) -> None:
        self.slack = slack
        self.http = http

    async def __call__(self, method: str, *, token: str = "", form: bool = False, **params: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token or self.slack.bot.token}"}
        body: dict[str, Any] = {"data" if form else "json": params}
        async with self.http.post(f"{self.slack.base_url}/{method}", headers=headers, **body) as response:
            answer: dict[str, Any] = await response.json()
            assert response.status == (429 if answer.get("error") == "ratelimited" else 200)
            return answer | {"headers": response.headers}

    async def read(self, method: str, **params: Any) -> dict[str, Any]:
        return await self(method, form=True, **params)

    async def refused(self, method: str, **params: Any) -> str:
        answer = await self(method, **params)
        assert not answer["ok"], answer
        return str(answer["error"])

    async def ticket(self) -> str:
        return str((await self("apps.connections.open", token=self.slack.app.token))["url"])

    @asynccontextmanager
    async def socket(self) -> AsyncIterator["Ear"]:
        async with self.http.ws_connect(await self.ticket(), autoping=False) as socket:
            yield Ear(socket)


class Ear:
    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def hear(self) -> dict[str, Any]:
        with anyio.fail_after(HANG_S):
            return dict(await self.socket.receive_json())

    async def hear_kind(self) -> aiohttp.WSMsgType:
        with anyio.fail_after(HANG_S):
            return (await self.socket.receive()).type

    async def acknowledge(self, envelope: dict[str, Any]) -> None:
        await self.socket.send_json({"envelope_id": envelope["envelope_id"]})


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with fake_slack(repeat_s=0.1) as slack, aiohttp.ClientSession(trust_env=False) as http:
        yield Client(slack, http)


async def test_what_people_say_comes_on_a_socket_until_it_is_acknowledged(client: Client) -> None:
    ann = client.slack.person("Ann")
    said = client.slack.direct(ann).say("hello")

    async with client.socket() as ear:
        hello = await ear.hear()
        first = await ear.hear()
        again = await ear.hear()
        await ear.acknowledge(again)
        await client.slack.settled()

    assert (hello["type"], hello["num_connections"]) == ("hello", 1)
    assert first["payload"]["event"]["text"] == "hello"
    assert first["payload"]["event"]["channel_type"] == "im"
    assert first["payload"]["event"]["ts"] == said.ts
    assert (first["retry_attempt"], again["retry_attempt"], again["retry_reason"]) == (0, 1, "timeout")
    assert first["payload"] == again["payload"]
    assert first["envelope_id"] != again["envelope_id"]


async def test_a_mention_is_two_events_with_one_ts(client: Client) -> None:
    lake = client.slack.channel(client.slack.person("Ann"))
    lake.say(f"{client.slack.bot.mention} how deep?")

    async with client.socket() as ear:
        await ear.hear()
        found = [(await ear.hear())["payload"] for _ in range(2)]

    assert [each["event"]["type"] for each in found] == ["message", "app_mention"]
    assert found[0]["event"]["ts"] == found[1]["event"]["ts"]
    assert found[0]["event_id"] != found[1]["event_id"]


async def test_what_was_acknowledged_can_come_again(client: Client) -> None:
    client.slack.direct(client.slack.person("Ann")).say("hello")

    async with client.socket() as ear:
        await ear.hear()
        first = await ear.hear()
        await ear.acknowledge(first)
        await client.slack.settled()
        client.slack.app.again()
        second = await ear.hear()
        await ear.acknowledge(second)
        await client.slack.settled()
        client.slack.app.again(same=True)
        third = await ear.hear()

    assert first["payload"]["event_id"] == second["payload"]["event_id"]
    assert first["envelope_id"] != second["envelope_id"]
    assert third == second


async def test_an_acknowledgement_that_is_lost_brings_it_again(client: Client) -> None:
    client.slack.direct(client.slack.person("Ann")).say("hello")
    client.slack.faults.on("acknowledge", Hang())

    async with client.socket() as ear:
        await ear.hear()
        await ear.acknowledge(await ear.hear())
        await ear.acknowledge(await ear.hear())
        await client.slack.settled()


async def test_a_ticket_is_good_for_one_connection(client: Client) -> None:
    url = await client.ticket()
    async with client.http.ws_connect(url):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.http.ws_connect(url)


async def test_the_eleventh_connection_is_one_too_many(client: Client) -> None:
    client.slack.app.sockets_max = 2
    async with client.socket() as one, client.socket() as two, client.socket() as three:
        heard = [await ear.hear() for ear in (one, two, three)]
        end = await three.hear_kind()

    assert [each.get("num_connections") for each in heard] == [1, 2, None]
    assert heard[2]["reason"] == "too_many_websockets"
    assert end is aiohttp.WSMsgType.CLOSE


@pytest.mark.parametrize("half", [True, False])
async def test_a_socket_is_cut_in_the_middle_of_a_message(client: Client, half: bool) -> None:
    client.slack.direct(client.slack.person("Ann")).say("hello" * 1000)
    client.slack.faults.on("envelope", Cut(half=half, acted=False))

    async with client.socket() as ear:
        await ear.hear()
        kind = await ear.hear_kind()
    async with client.socket() as other:
        await other.hear()
        event = (await other.hear())["payload"]["event"]

    assert kind in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)
    assert event["text"] == "hello" * 1000


async def test_a_socket_is_told_to_go_and_its_events_go_to_another(client: Client) -> None:
    async with client.socket() as old, client.socket() as new:
        await old.hear()
        await new.hear()
        await client.slack.app.sockets[0].disconnect("warning")
        warning = await old.hear()
        await client.slack.app.sockets[0].disconnect()
        refresh = await old.hear()
        client.slack.direct(client.slack.person("Ann")).say("hello")
        event = await new.hear()

    assert (warning["reason"], refresh["reason"]) == ("warning", "refresh_requested")
    assert event["type"] == "events_api"


async def test_pings_go_both_ways_and_a_mute_socket_answers_none(client: Client) -> None:
    client.slack.ping_s = 0.05
    async with client.socket() as ear:
        await ear.hear()
        assert await ear.hear_kind() is aiohttp.WSMsgType.PING
        await ear.socket.ping(b"there?")
        while await ear.hear_kind() is not aiohttp.WSMsgType.PONG:
            pass
        client.slack.app.sockets[0].mute = True
        await ear.socket.ping(b"there?")
        received = list[aiohttp.WSMsgType]()
        with anyio.move_on_after(0.2):
            while True:
                received.append((await ear.socket.receive()).type)

    assert aiohttp.WSMsgType.PONG not in received


async def test_a_command_comes_once_and_to_whoever_listens(client: Client) -> None:
    ann = client.slack.direct(client.slack.person("Ann"))
    client.slack.bot.command(ann, "status")

    async with client.socket() as ear:
        await ear.hear()
        command = await ear.hear()
        await client.slack.until(lambda: client.slack.app.lost)

    assert (command["type"], command["accepts_response_payload"]) == ("slash_commands", True)
    assert (command["payload"]["command"], command["payload"]["text"]) == ("/millpond", "status")


class Listener:
    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.url = ""

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            self.url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}/slack/events"
            task_status.started()
            await listener.serve(self._connection)

    async def _connection(self, stream: anyio.abc.SocketStream) -> None:
        async with stream:
            wire = Wire(stream)
            request = await wire.request()
            assert request is not None
            self.requests.append((request.headers, request.body))
            status = self.statuses.pop(0) if self.statuses else 200
            if status:
                await wire.respond(status, json.dumps({"challenge": request.params.get("challenge", "")}).encode())
            else:
                await anyio.sleep(60)


@asynccontextmanager
async def listening(client: Client, *statuses: int) -> AsyncIterator[Listener]:
    listener = Listener(*statuses)
    async with anyio.create_task_group() as tg:
        await tg.start(listener.serve)
        client.slack.app.url = listener.url
        yield listener
        tg.cancel_scope.cancel()


async def test_events_are_brought_signed_until_they_are_taken(client: Client) -> None:
    async with listening(client, 500) as listener:
        client.slack.direct(client.slack.person("Ann")).say("hello")
        await client.slack.settled()

    (first, body), (again, same) = listener.requests
    key, stamp = client.slack.app.signing_secret.encode(), first["x-slack-request-timestamp"]
    signature = hmac.new(key, f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    assert first["x-slack-signature"] == f"v0={signature}"
    assert abs(int(stamp) - time.time()) < 60
    assert json.loads(body)["event"]["text"] == "hello"
    assert "x-slack-retry-num" not in first
    assert (again["x-slack-retry-num"], again["x-slack-retry-reason"]) == ("1", "http_error")
    assert body == same


async def test_nobody_at_the_url_is_tried_again(client: Client) -> None:
    client.slack.app.url = "http://127.0.0.1:9/slack/events"
    client.slack.app.tries_max = 2
    client.slack.direct(client.slack.person("Ann")).say("hello")

    await client.slack.until(lambda: client.slack.app.lost)

    assert client.slack.pressing[client.slack.app.id].answers == [0, 0]


async def test_a_command_is_brought_as_a_form(client: Client) -> None:
    async with listening(client) as listener:
        client.slack.bot.command(client.slack.direct(client.slack.person("Ann")), "status now")
        await client.slack.settled()

    [(headers, body)] = listener.requests
    assert headers["content-type"] == "application/x-www-form-urlencoded"
    assert b"command=%2Fmillpond&text=status+now" in body


async def test_signatures_can_be_wrong_old_and_missing(client: Client) -> None:
    async with listening(client) as listener:
        assert await client.slack.verify_url()
        await client.slack.bring({"a": 1}, secret="another")
        await client.slack.bring({"a": 1}, at=1_000_000_000)
        await client.slack.bring({"a": 1}, **{"X-Slack-Signature": ""})

    right, wrong, old, missing = [headers for headers, _ in listener.requests]
    assert right["x-slack-signature"] != wrong["x-slack-signature"]
    assert old["x-slack-request-timestamp"] == "1000000000"
    assert "x-slack-signature" not in missing


async def test_who_may_not_is_told_why(client: Client) -> None:
    slack = client.slack
    assert await client.refused("auth.test", token="xoxb-wrong") == "invalid_auth"
    assert await client.refused("chat.postMessage", token=slack.app.token) == "not_allowed_token_type"
    assert await client.refused("apps.connections.open") == "not_allowed_token_type"
    assert await client.refused("chat.dance") == "unknown_method"
    slack.bot.scopes.remove("chat:write")
    refusal = await client("chat.postMessage", channel="C1", text="hello")
    assert (refusal["error"], refusal["needed"]) == ("missing_scope", "chat:write")
    slack.bot.revoked = "token_revoked"
    assert await client.refused("auth.test") == "token_revoked"


async def test_a_bot_is_told_who_it_is_and_what_it_may(client: Client) -> None:
    found = await client("auth.test")

    bot = client.slack.bot
    assert (found["user_id"], found["bot_id"], found["team_id"]) == (bot.person.id, bot.person.bot_id, bot.team.id)
    assert "chat:write" in found["headers"]["x-oauth-scopes"].split(",")


async def test_a_json_body_is_not_read_by_a_method_that_takes_forms(client: Client) -> None:
    ann = client.slack.person("Ann Lee")

    assert await client.refused("users.info", user=ann.id) == "invalid_arguments"
    assert (await client.read("users.info", user=ann.id))["user"]["real_name"] == "Ann Lee"


async def test_what_a_bot_says_is_shown_and_read_again_with_its_metadata(client: Client) -> None:
    lake = client.slack.channel(client.slack.person("Ann"))
    root = lake.say("how deep?")
    metadata = {"event_type": "part", "event_payload": {"reply": "r1"}}

    where = {"channel": lake.id, "thread_ts": root.ts}
    sent = await client("chat.postMessage", **where, markdown_text="**3** m & more", metadata=metadata)
    read = await client.read("conversations.replies", channel=lake.id, ts=root.ts, include_all_metadata="true")

    assert lake.texts(thread=root.ts) == ["**3** m & more"]
    assert [message["ts"] for message in read["messages"]] == [root.ts, sent["ts"]]
    assert read["messages"][1]["text"] == "*3* m &amp; more"
    assert read["messages"][1]["metadata"] == metadata
    assert read["messages"][0]["reply_count"] == 1
    plain = await client.read("conversations.replies", channel=lake.id, ts=root.ts)
    assert "metadata" not in plain["messages"][1]


async def test_what_is_too_long_or_nowhere_is_refused(client: Client) -> None:
    client.slack.methods.floods = None
    lake = client.slack.channel(client.slack.person("Ann"))
    sent = await client("chat.postMessage", channel=lake.id, text="x" * 50_000)

    post = "chat.postMessage"
    assert len(lake.texts()[0]) == 40_000
    assert await client.refused(post, channel=lake.id, markdown_text="x" * 12_001) == "msg_too_long"
    assert await client.refused(post, channel=lake.id, markdown_text="<" * 4_000) == "msg_blocks_too_long"
    assert await client.refused(post, channel=lake.id, markdown_text="x", text="x") == "markdown_text_conflict"
    assert await client.refused(post, channel=lake.id, text="") == "no_text"
    assert await client.refused(post, channel="C404", text="x") == "channel_not_found"
    assert await client.refused(post, channel=lake.id, text="x", thread_ts="1.000001") == "thread_not_found"
    assert await client.refused("chat.update", channel=lake.id, ts=sent["ts"], text="x" * 4_001) == "msg_too_long"
    assert await client.refused("chat.update", channel=lake.id, ts="1.0", text="x") == "message_not_found"
    reply = await client(post, channel=lake.id, text="x", thread_ts=sent["ts"])
    assert await client.refused(post, channel=lake.id, text="x", thread_ts=reply["ts"]) == "cannot_reply_to_message"


async def test_two_hundred_thousand_characters_are_refused_and_can_be_heard(client: Client) -> None:
    ann = client.slack.direct(client.slack.person("Ann"))
    ann.say("x" * 200_000)

    assert await client.refused("chat.postMessage", channel=ann.id, markdown_text="x" * 200_000) == "msg_too_long"
    async with client.socket() as ear:
        await ear.hear()
        assert len((await ear.hear())["payload"]["event"]["text"]) == 200_000


async def test_messages_of_others_cannot_be_changed(client: Client) -> None:
    lake = client.slack.channel(client.slack.person("Ann"))
    said = lake.say("mine")

    assert await client.refused("chat.update", channel=lake.id, ts=said.ts, text="ours") == "cant_update_message"
    assert await client.refused("chat.delete", channel=lake.id, ts=said.ts) == "cant_delete_message"


async def test_a_stream_begins_grows_and_ends(client: Client) -> None:
    ann = client.slack.person("Ann")
    lake = client.slack.channel(ann)
    root = lake.say("how deep?")
    to = {"recipient_user_id": ann.id, "recipient_team_id": client.slack.team.id}

    begun = await client("chat.startStream", channel=lake.id, thread_ts=root.ts, markdown_text="Thr", **to)
    which = {"channel": lake.id, "ts": begun["ts"]}
    await client("chat.appendStream", **which, markdown_text="ee ")
    while_it_grows = await client.refused("chat.update", **which, text="Four")
    assert await client.refused("chat.delete", **which) == "cant_delete_message"
    metadata = {"event_type": "part", "event_payload": {}}
    await client("chat.stopStream", **which, markdown_text="metres.", metadata=metadata)

    assert lake.texts(thread=root.ts) == ["Three metres."]
    assert while_it_grows == "streaming_state_conflict"
    assert await client.refused("chat.appendStream", **which, markdown_text="!") == "message_not_in_streaming_state"
    assert await client.refused("chat.stopStream", **which) == "message_not_in_streaming_state"
    assert lake.shown()[0].metadata == metadata


async def test_a_stream_needs_a_thread_and_in_a_channel_somebody(client: Client) -> None:
    ann = client.slack.person("Ann")
    lake, direct = client.slack.channel(ann), client.slack.direct(ann)
    root, top = lake.say("how deep?"), direct.say("how deep?")

    begin = "chat.startStream"
    assert await client.refused(begin, channel=lake.id, markdown_text="x") == "invalid_arguments"
    assert await client.refused(begin, channel=lake.id, thread_ts=root.ts) == "missing_recipient_team_id"
    to = {"recipient_user_id": ann.id, "recipient_team_id": client.slack.team.id}
    assert (await client(begin, channel=direct.id, thread_ts=top.ts, **to))["ok"]


async def test_slack_ends_a_stream_that_lasts_too_long(client: Client) -> None:
    ann = client.slack.person("Ann")
    lake = client.slack.channel(ann)
    to = {"recipient_user_id": ann.id, "recipient_team_id": client.slack.team.id}
    begun = await client("chat.startStream", channel=lake.id, thread_ts=lake.say("how deep?").ts, **to)
    client.slack.world.stream_lives_s = 0.0

    which = {"channel": lake.id, "ts": begun["ts"]}
    assert await client.refused("chat.appendStream", **which, markdown_text="!") == "message_not_in_streaming_state"
    assert await client.refused("chat.stopStream", **which) == "message_not_in_streaming_state"
    assert (await client("chat.update", **which, text="Three metres."))["ok"]
    lake.shown()[0].stopped_by_user = True
    assert await client.refused("chat.appendStream", **which, markdown_text="!") == "stopped_by_user"


async def test_a_thread_is_read_page_by_page_and_is_not_in_the_history(client: Client) -> None:
    lake = client.slack.channel(client.slack.person("Ann"))
    root = lake.say("root")
    said = [lake.say(f"reply {number}", thread=root.ts).ts for number in range(5)]
    later = lake.say("later")

    pages, cursor = [], ""
    while True:
        page = await client.read("conversations.replies", channel=lake.id, ts=root.ts, limit=3, cursor=cursor)
        pages.append([message["ts"] for message in page["messages"]])
        cursor = page.get("response_metadata", {}).get("next_cursor", "")
        if not cursor:
            break
    history = await client.read("conversations.history", channel=lake.id, oldest=root.ts, inclusive="true")

    assert pages == [[root.ts, *said[:2]], [root.ts, *said[2:4]], [root.ts, said[4]]]
    assert [message["ts"] for message in history["messages"]] == [later.ts, root.ts]
    client.slack.bot.scopes.remove("channels:history")
    assert (await client.read("conversations.history", channel=lake.id))["error"] == "missing_scope"


async def test_what_people_change_and_take_back_is_told(client: Client) -> None:
    lake = client.slack.channel(client.slack.person("Ann"))
    said, root = lake.say("at noon"), lake.say("root")
    lake.say("reply", thread=root.ts)
    lake.edit(said, "at one")
    lake.unfurl(said)
    lake.delete(said)
    lake.delete(root)

    events = [each.payload["event"] for each in client.slack.app.waiting][3:]
    assert [event["subtype"] for event in events] == ["message_changed"] * 2 + ["message_deleted", "message_changed"]
    changed, unfurled, deleted, stone = events
    assert (changed["message"]["text"], changed["previous_message"]["text"]) == ("at one", "at noon")
    assert unfurled["message"]["text"] == unfurled["previous_message"]["text"]
    assert unfurled["message"]["edited"] == unfurled["previous_message"]["edited"]
    assert deleted["deleted_ts"] == said.ts
    assert stone["message"]["subtype"] == "tombstone"


async def test_marks_and_statuses(client: Client) -> None:
    ann = client.slack.direct(client.slack.person("Ann"))
    said = ann.say("hello")
    mark = {"channel": ann.id, "timestamp": said.ts, "name": "eyes"}

    assert (await client("reactions.add", **mark))["ok"]
    assert await client.refused("reactions.add", **mark) == "already_reacted"
    assert said.reactions == {"eyes": [client.slack.bot.person.id]}
    assert (await client("reactions.remove", **mark))["ok"]
    assert await client.refused("reactions.remove", **mark) == "no_reaction"
    assert await client.refused("reactions.add", **{**mark, "name": "👀"}) == "invalid_name"
    await client("assistant.threads.setStatus", channel_id=ann.id, thread_ts=said.ts, status="is writing")
    await client("chat.postMessage", channel=ann.id, thread_ts=said.ts, text="hi")
    assert [status for _, _, status in ann.statuses] == ["is writing", ""]


async def test_a_file_is_sent_in_three_steps_and_fetched_with_the_token(client: Client) -> None:
    lake = client.slack.channel(client.slack.person("Ann"))
    got = await client.read("files.getUploadURLExternal", filename="depth.csv", length=5)
    early = await client.refused("files.completeUploadExternal", files=[{"id": got["file_id"]}], channel_id=lake.id)
    async with client.http.post(got["upload_url"], data=b"1,2,3") as response:
        assert (response.status, await response.read()) == (200, b"OK - 5")
    done = await client(
        "files.completeUploadExternal", files=[{"id": got["file_id"]}], channel_id=lake.id, initial_comment="here"
    )
    info = (await client.read("files.info", file=got["file_id"]))["file"]

    assert early == "file_update_failed"
    assert done["ok"]
    assert [(message.text, message.files[0].name) for message in lake.shown()] == [("here", "depth.csv")]
    assert info["shares"]["public"][lake.id][0]["ts"] == lake.shown()[0].ts
    url, headers = info["url_private_download"], {"Authorization": f"Bearer {client.slack.bot.token}"}
    async with client.http.get(url, headers=headers) as response:
        assert await response.read() == b"1,2,3"
    async with client.http.get(url) as response:
        assert (response.status, response.content_type) == (200, "text/html")


async def test_an_app_hears_of_all_its_workspaces_by_one_connection_and_of_no_other_app(client: Client) -> None:
    slack = client.slack
    other_team, other_app = slack.new_team(), slack.new_app("rival")
    elsewhere, rival = slack.install(slack.app, other_team), slack.install(other_app, slack.team)
    elsewhere.direct(other_team.person("Bea")).say("from elsewhere")
    slack.direct(slack.person("Ann")).say("from here")
    rival.direct(slack.person("Cy")).say("not for us")

    async with client.socket() as ear:
        await ear.hear()
        heard = [(await ear.hear())["payload"] for _ in range(2)]

    assert [(each["team_id"], each["event"]["text"]) for each in heard] == [
        (other_team.id, "from elsewhere"),
        (slack.team.id, "from here"),
    ]
    assert {each["api_app_id"] for each in heard} == {slack.app.id}
    assert [delivery.payload["event"]["text"] for delivery in other_app.waiting] == ["not for us"]
    assert (await client("auth.test", token=elsewhere.token))["team_id"] == other_team.id
    here = slack.direct(slack.person("Ann")).id
    assert (
        await client.refused("chat.postMessage", token=elsewhere.token, channel=here, text="x") == "channel_not_found"
    )


async def test_other_processes_have_people_speak(client: Client) -> None:
    async def control(**asked: Any) -> dict[str, Any]:
        async with client.http.post(f"{client.slack.world.base}/control", json=asked) as response:
            return dict(await response.json())

    lake = (await control(do="channel", person="U7"))["channel"]
    said = await control(do="say", channel=lake, person="U7", text="how deep?", mention=True)
    await client("chat.postMessage", channel=lake, thread_ts=said["ts"], text="3 m")
    await control(do="command", person="U7", text="status")
    direct = await control(do="say", person="U7", text="and now?")

    assert (await control(do="texts", channel=lake, thread=said["ts"]))["texts"] == ["3 m"]
    assert direct["channel"].startswith("D")
    assert (await control(do="waiting"))["waiting"] == 5  # a mention is two, and what the bot says is told, too
    await control(do="url", url="https://pond.example/slack/events", at="http://127.0.0.1:9")
    assert client.slack.app.url == "https://pond.example/slack/events"
    installed = await control(do="install", team="Globex")
    assert (await client("auth.test", token=installed["token"]))["team_id"] == installed["team"]


async def test_as_a_program_it_says_where_it_is_and_writes_down_what_was_called(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fakes.slack", "0", str(tmp_path / "calls"), "2"]
    async with await anyio.open_process(command) as process, aiohttp.ClientSession(trust_env=False) as http:
        assert process.stdout is not None
        with anyio.fail_after(HANG_S):
            line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 1_000)
        base_url, token, app_token, secret = line.decode().split()
        headers = {"Authorization": f"Bearer {token}"}
        async with http.post(f"{base_url}/auth.test", headers=headers) as response:
            assert (await response.json())["ok"]
        process.terminate()

    assert app_token.startswith("xapp-")
    assert len(secret) == 32
    [called] = (tmp_path / "calls").read_text().splitlines()
    assert json.loads(called)["method"] == "auth.test"


async def test_too_many_calls_are_told_to_wait(client: Client) -> None:
    lake = client.slack.channel(client.slack.person("Ann"))
    answers = [await client("chat.postMessage", channel=lake.id, text=str(number)) for number in range(5)]

    assert [answer["ok"] for answer in answers] == [True] * 4 + [False]
    assert answers[4]["headers"]["Retry-After"] == "1"
    clock = [0.0]
    floods = Floods(clock=lambda: clock[0])
    assert [floods.wait_s("chat.startStream", 2, "T", "C") for _ in range(21)] == [0] * 20 + [3]
    clock[0] = 3.0
    assert floods.wait_s("chat.startStream", 2, "T", "C") == 0


async def test_a_fault_says_whether_something_was_done(client: Client) -> None:
    lake = client.slack.channel(client.slack.person("Ann"))
    faults = (Cut(), Cut(acted=False), Cut(half=True), Refuse("fatal_error", acted=True))
    client.slack.faults.on("chat.postMessage", *faults)

    for number in range(3):
        with pytest.raises(aiohttp.ClientError):
            await client("chat.postMessage", channel=lake.id, text=str(number))
    last = await client.refused("chat.postMessage", channel=lake.id, text="3")

    assert lake.texts() == ["0", "2", "3"]
    assert last == "fatal_error"
    assert [call.acted for call in client.slack.called("chat.postMessage")] == [True, False, True, True]
    assert [call.fault for call in client.slack.calls] == list(faults)


async def test_pages_and_garbage_instead_of_an_answer(client: Client) -> None:
    client.slack.faults.on("auth.test", Page(), Garbled())
    url, headers = f"{client.slack.base_url}/auth.test", {"Authorization": f"Bearer {client.slack.bot.token}"}

    async with client.http.post(url, headers=headers) as response:
        assert (response.status, response.content_type) == (502, "text/html")
    async with client.http.post(url, headers=headers) as response:
        assert response.status == 200
        with pytest.raises(ValueError, match="Expecting"):
            json.loads(await response.read())


async def test_arguments_that_nobody_knows_are_noticed(client: Client) -> None:
    lake = client.slack.channel(client.slack.person("Ann"))
    await client("chat.postMessage", channel=lake.id, text="x", colour="blue")

    assert client.slack.oddities() == ["chat.postMessage: colour"]


def test_markdown_is_kept_with_other_signs_and_the_same_words() -> None:
    kept = as_mrkdwn("# Depth\n- **3** m <deep> [map](https://a.b/c)")

    assert kept == "*Depth*\n• *3* m &lt;deep&gt; <https://a.b/c|map>"
