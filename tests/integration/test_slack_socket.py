"""Hearing Slack over sockets: what is acknowledged when, and what becomes of connections."""

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import anyio
import pytest
from aiohttp import web
from structlog.testing import capture_logs

from channels import event_queue
from channels.arrival import Arrival
from channels.slack import api_types
from channels.slack import event_inlet as slack_hearing
from channels.slack import socket_mode as slack_socket
from daemon.config import AccessConfig, Secret, SlackConfig
from daemon.process import Process
from tests.hearlab import Heard, hear_one, replica
from tests.limits import HANG_S, until
from tests.slackwire import TEAMS, Wire, command, message, slack_wire


@pytest.fixture(autouse=True)
def short_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slack_socket, "PAUSE_MIN_S", 0.01)
    monkeypatch.setattr(slack_socket, "PAUSE_MAX_S", 0.05)
    monkeypatch.setattr(slack_socket, "CROWDED_S", 0.05)
    monkeypatch.setattr(slack_socket, "DISABLED_S", 0.05)
    monkeypatch.setattr(slack_hearing, "REST_S", 0.05)
    monkeypatch.setattr(api_types, "LONG_REST_S", 0.05)
    monkeypatch.setattr(event_queue, "REST_MIN_S", 0.01)
    monkeypatch.setattr(event_queue, "REST_MAX_S", 0.05)


def section(wire: Wire, name: str = "acme", **more: Any) -> SlackConfig:
    given: dict[str, Any] = {"app_token": Secret("xapp-pond"), "access": AccessConfig(policy="open"), **more}
    return SlackConfig(base_url=wire.base_url, bot_token=Secret(f"xoxb-{name}"), **given)


@asynccontextmanager
async def hearing(process: Process, wire: Wire, heard: Heard) -> AsyncGenerator[anyio.CancelScope]:
    here = replica(process, acme=section(wire))
    async with anyio.create_task_group() as tg:
        tg.start_soon(hear_one, here, "acme", heard)
        yield tg.cancel_scope
        tg.cancel_scope.cancel()


async def test_an_envelope_is_acknowledged_once_it_is_kept_and_not_before(process: Process) -> None:
    heard = Heard(slow="D0ANN")
    async with slack_wire() as wire, hearing(process, wire, heard):
        link = await wire.link()
        envelope = await link.say(message("hello"))
        await heard.until_begun(1)
        await anyio.wait_all_tasks_blocked()
        early = list(link.acknowledged)
        heard.go.set()
        await wire.acknowledged(envelope)

    assert early == []
    assert heard.texts == ["hello"]


async def test_what_cannot_be_kept_is_held_and_acknowledged_when_it_can(process: Process) -> None:
    heard = Heard(away=3)
    with capture_logs() as logs:
        async with slack_wire() as wire, hearing(process, wire, heard):
            link = await wire.link()
            ids = [await link.say(message(str(number))) for number in range(5)]
            await wire.acknowledged(*ids)

    assert heard.texts == ["0", "1", "2", "3", "4"]
    assert [each["event"] for each in logs].count("event.waits") == 1, "once, however often it is tried"
    assert link.acknowledged == ids


async def test_an_older_event_is_taken_before_those_that_are_held(process: Process) -> None:
    """Slack gave it to another process first, which did not acknowledge it while Redis was unavailable."""

    tried = set[str]()

    class Watched(Heard):
        async def take(self, arrival: Arrival) -> None:
            tried.add(arrival.text)
            await super().take(arrival)

    heard = Watched(away=1_000_000)
    older, newer, newest = (message(text) for text in ("older", "newer", "newest"))
    async with slack_wire() as wire, hearing(process, wire, heard):
        link = await wire.link()
        ids = [await link.say(each) for each in (newer, newest)]
        await until(lambda: "newer" in tried)
        ids.append(await link.say(older))
        await until(lambda: "older" in tried)
        heard.away = 0
        await wire.acknowledged(*ids)

    assert heard.texts == ["older", "newer", "newest"]


async def test_what_cannot_be_kept_for_long_is_never_acknowledged(process: Process, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_queue, "HOLD_S", 0.05)
    heard = Heard(away=1_000_000)
    with capture_logs() as logs:
        async with slack_wire() as wire, hearing(process, wire, heard):
            link = await wire.link()
            await link.say(message("lost here"))
            await until(lambda: any(each["event"] == "event.lost" for each in logs))
            heard.away = 0
            later = await link.say(message("later"))
            await wire.acknowledged(later)

    assert link.acknowledged == [later]
    assert heard.texts == ["later"]


async def test_a_slow_chat_holds_up_no_other(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_queue, "CHAT_MAX", 200)
    heard = Heard(slow="D0SLOW")
    async with slack_wire() as wire, hearing(process, wire, heard):
        link = await wire.link()
        slow = [await link.say(message(f"slow {number}", channel="D0SLOW")) for number in range(300)]
        quick = [await link.say(message(f"quick {number}", channel=f"D0{number}")) for number in range(100)]
        await wire.acknowledged(*quick)
        acknowledged = set(link.acknowledged)
        heard.go.set()
        await wire.acknowledged(*slow[: event_queue.CHAT_MAX])

    assert not acknowledged & set(slow)
    # What is too much of one chat is left to Slack to say again.
    assert set(link.acknowledged) == {*quick, *slow[: event_queue.CHAT_MAX]}
    said = [text for text in heard.texts if text.startswith("slow")]
    assert said == [f"slow {number}" for number in range(event_queue.CHAT_MAX)]


async def test_what_waits_has_a_limit_in_all(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_queue, "WAITING_MAX_BYTES", 30_000)
    heard = Heard(slow="D0SLOW")
    async with slack_wire() as wire, hearing(process, wire, heard):
        link = await wire.link()
        waits = await link.say(message("x" * 20_000, channel="D0SLOW"))
        await heard.until_begun(1)
        await link.say(message("y" * 20_000))
        small = await link.say(message("small"))
        await wire.acknowledged(small)
        heard.go.set()
        await wire.acknowledged(waits)
        large = await link.say(message("z" * 20_000))
        await wire.acknowledged(large)

    assert link.acknowledged == [small, waits, large]


async def test_a_chat_is_heard_in_order_with_commands_in_their_place(process: Process) -> None:
    heard = Heard(slow="D0ANN")
    async with slack_wire() as wire, hearing(process, wire, heard):
        link = await wire.link()
        first = await link.say(message("one"))
        second = await link.say(command("stop"), kind="slash_commands")
        third = await link.say(message("two"))
        await heard.until_begun(1)
        heard.go.set()
        await wire.acknowledged(first, second, third)

    assert heard.texts == ["one", "/stop", "two"]
    assert link.acknowledged == [first, second, third]


async def test_what_is_no_message_is_acknowledged_and_passed_over(process: Process) -> None:
    heard = Heard()
    async with slack_wire() as wire, hearing(process, wire, heard):
        link = await wire.link()
        ids = [
            await link.say({"type": "block_actions", "team": {"id": "T0ACME"}}, kind="interactive"),
            await link.say({"anything": [1]}, kind="of_tomorrow"),
            await link.say({"type": "event_callback", "team_id": "T0ACME", "event": {"type": "of_tomorrow"}}),
            await link.say({"type": "event_callback", "team_id": "T0ACME", "event": [1]}),
            await link.say({"type": "event_callback", "team_id": 7, "authorizations": "?", "event": 1}),
            await link.say([], kind="events_api"),  # type: ignore[arg-type]
        ]
        await wire.acknowledged(*ids)

    assert heard.texts == []
    assert len(wire.links) == 1


async def test_garbage_on_the_wire_changes_nothing(process: Process) -> None:
    heard = Heard()
    async with slack_wire() as wire, hearing(process, wire, heard):
        link = await wire.link()
        for garbage in ("", "null", "{", '"text"', '{"type":7}', '{"envelope_id":null}', '{"type":"later"}', b"\xff\0"):
            await link.send(garbage)
        await link.send("[" * 100_000)
        await link.send_raw(b'\x81\x0d{"type":"\xff\xfe"}')
        await link.send({"type": "disconnect_soon", "reason": None})
        envelope = await link.say(message("still here"))
        await wire.acknowledged(envelope)

    assert heard.texts == ["still here"]
    assert len(wire.links) == 1


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "of_tomorrow"])
async def test_a_connection_that_is_to_end_is_followed_by_another_and_served_until_it_ends(
    process: Process, reason: str
) -> None:
    heard = Heard()
    async with slack_wire() as wire, hearing(process, wire, heard):
        old = await wire.link(0)
        await old.disconnect(reason)
        new = await wire.link(1)
        by_old = await old.say(message("by the old one"))
        by_new = await new.say(message("by the new one"))
        await wire.acknowledged(by_old, by_new)
        await old.ws.close()
        last = await new.say(message("by the new one alone"))
        await wire.acknowledged(last)

    assert old.acknowledged == [by_old]
    assert new.acknowledged == [by_new, last]
    assert len(wire.links) == 2


async def test_an_old_connection_that_slack_does_not_close_ends_all_the_same(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_socket, "LINGER_S", 0.05)
    async with slack_wire() as wire, hearing(process, wire, Heard()):
        old = await wire.link(0)
        await old.disconnect("warning")
        await wire.until(lambda: old.closed)

        assert not wire.links[1].closed


async def test_the_old_connection_is_served_while_no_other_opens(process: Process, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(slack_socket, "LINGER_S", 0.01)
    heard = Heard()
    async with slack_wire() as wire, hearing(process, wire, heard):
        old = await wire.link(0)
        wire.greets = False
        await old.disconnect("refresh_requested")
        for number in (1, 2, 3):
            await (await wire.link(number)).disconnect("too_many_websockets")
        envelope = await old.say(message("still heard"))
        await wire.acknowledged(envelope)
        crowded = wire.links[1]
        await crowded.ws.close()

    assert old.acknowledged == [envelope]
    assert heard.texts == ["still heard"]


async def test_too_many_connections_are_waited_out(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slack_socket, "CROWDED_S", 0.2)
    heard = Heard()
    with capture_logs() as logs:
        async with slack_wire() as wire, hearing(process, wire, heard):
            wire.greets = False
            began = anyio.current_time()
            crowded = await wire.link(0)
            await crowded.disconnect("too_many_websockets")
            await crowded.ws.close()
            link = await wire.link(1)
            took_s = anyio.current_time() - began
            await link.hello()
            envelope = await link.say(message("now"))
            await wire.acknowledged(envelope)

    assert took_s >= 0.1
    assert "socket.crowded" in [each["event"] for each in logs]


async def test_a_connection_cut_in_the_middle_of_a_message_is_followed_by_another(process: Process) -> None:
    heard = Heard()
    async with slack_wire() as wire, hearing(process, wire, heard):
        first = await wire.link(0)
        before = await first.say(message("before"))
        await wire.acknowledged(before)
        # A text frame of 300 bytes, of which a few come.
        first.cut(b"\x81\x7e\x01\x2c" + b'{"envelope_id":"e-1","type":"events_api","pay')
        second = await wire.link(1)
        again = await second.say(message("said again"), id="e-1")
        await wire.acknowledged(again)

    assert heard.texts == ["before", "said again"]


async def test_what_was_kept_and_not_acknowledged_is_a_repetition_when_it_comes_again(process: Process) -> None:
    heard = Heard(slow="D0ANN")
    said = message("once")
    async with slack_wire() as wire, hearing(process, wire, heard):
        first = await wire.link(0)
        await first.say(said, id="e-1")
        await heard.until_begun(1)
        first.cut()
        second = await wire.link(1)
        heard.go.set()
        await second.say(said, id="e-2")
        await wire.acknowledged("e-2")

    assert len({arrival.seen_as for arrival in heard.arrivals}) == 1
    assert first.acknowledged == []


async def test_a_connection_that_died_in_silence_is_followed_by_another(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_socket, "PING_S", 0.02)
    monkeypatch.setattr(slack_socket, "SILENT_S", 1.0)
    heard = Heard()
    with capture_logs() as logs:
        async with slack_wire() as wire, hearing(process, wire, heard):
            dead = await wire.link(0)
            await wire.until(lambda: dead.pinged >= 60)
            lived_on = len(wire.links) == 1
            dead.answers_pings = False
            alive = await wire.link(1)
            envelope = await alive.say(message("here"))
            await wire.acknowledged(envelope)

    assert lived_on, "a connection whose other side answers pings is no dead one"
    assert "socket.silent" in [each["event"] for each in logs]


async def test_slacks_pings_are_answered_and_tell_that_it_lives(process: Process, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(slack_socket, "SILENT_S", 0.4)
    async with slack_wire() as wire, hearing(process, wire, Heard()):
        link = await wire.link(0)
        for number in range(20):
            await link.ws.ping(b"from wss-1")
            await wire.until(lambda so_far=number: len(link.ponged) > so_far)
            await anyio.sleep(0.05)

        assert link.ponged == [b"from wss-1"] * 20
        assert len(wire.links) == 1


async def test_a_message_too_large_costs_its_connection_and_no_more(process: Process, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(slack_socket, "MESSAGE_MAX_BYTES", 10_000)
    heard = Heard()
    async with slack_wire() as wire, hearing(process, wire, heard):
        first = await wire.link(0)
        await first.say(message("x" * 20_000))
        second = await wire.link(1)
        envelope = await second.say(message("small"))
        await wire.acknowledged(envelope)

    assert heard.texts == ["small"]


async def test_connections_that_end_at_once_are_not_opened_without_a_rest(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slack_socket, "PAUSE_MIN_S", 0.1)
    monkeypatch.setattr(slack_socket, "PAUSE_MAX_S", 10.0)
    async with slack_wire() as wire, hearing(process, wire, Heard()):
        began = anyio.current_time()
        for number in range(4):
            (await wire.link(number)).cut()
        await wire.link(4)

        assert anyio.current_time() - began >= 0.5 * (0.1 + 0.2 + 0.4 + 0.8)


async def test_where_connections_are_greeted_and_cut_again_and_again_nobody_waits_for_long(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PAUSE_MIN_S": 3 * HANG_S, "PAUSE_MAX_S": 3 * HANG_S, "GREETED_MAX_S": 0.01}.items():
        monkeypatch.setattr(slack_socket, name, value)
    async with slack_wire() as wire, hearing(process, wire, Heard()):
        with anyio.fail_after(HANG_S):
            for number in range(6):
                (await wire.link(number)).cut()
            await wire.link(6)


async def test_an_app_without_socket_mode_is_told_what_to_do(process: Process) -> None:
    with capture_logs() as logs:
        async with slack_wire() as wire, hearing(process, wire, Heard()):
            link = await wire.link(0)
            await link.disconnect("link_disabled")
            await link.ws.close()
            await wire.link(1)

    said = next(each for each in logs if each["event"] == "socket.disabled")
    assert said["log_level"] == "error"
    assert "Turn Socket Mode on" in said["reason"]


async def test_whatever_opening_is_answered_it_is_tried_again(process: Process) -> None:
    heard = Heard()
    with capture_logs() as logs:
        async with slack_wire() as wire:
            wire.answers["auth.test"] = [web.Response(status=503)]
            wire.answers["apps.connections.open"] = [
                web.Response(status=502, text="<html>"),
                web.json_response({"ok": False, "error": "not_allowed_token_type"}),
                web.json_response({"ok": False, "error": "internal_error"}),
                web.json_response({"ok": True}),
                web.json_response({"ok": True, "url": "https://slack.com/"}),
                web.json_response(
                    {"ok": True, "url": wire.base_url.replace("http", "ws", 1) + "/nowhere?ticket=secret"}
                ),
                web.json_response({"ok": True, "url": "ws://127.0.0.1:1/?ticket=secret"}),
            ]
            async with hearing(process, wire, heard):
                link = await wire.link()
                envelope = await link.say(message("at last"))
                await wire.acknowledged(envelope)

    refused = [each for each in logs if each["event"] == "socket.refused"]
    assert len(refused) == 7
    assert "secret" not in str(logs)
    assert "xapp-pond" not in str(logs)


async def test_slack_tells_how_long_to_wait(process: Process) -> None:
    async with slack_wire() as wire:
        limited = web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": "1"})
        wire.answers["apps.connections.open"] = [limited]
        async with hearing(process, wire, Heard()):
            began = anyio.current_time()
            await wire.link()

            assert anyio.current_time() - began >= 0.9


@pytest.mark.filterwarnings("ignore:Unclosed connection:ResourceWarning")  # as is meant where it is deaf
@pytest.mark.parametrize("deaf", [False, True])
async def test_a_stop_waits_long_for_no_closing_and_leaves_no_task(
    process: Process, monkeypatch: pytest.MonkeyPatch, deaf: bool
) -> None:
    """Also in the middle of keeping something, and with a Slack that answers no closing."""
    heard = Heard(slow="D0SLOW")
    async with slack_wire() as wire:
        before = asyncio.all_tasks()
        here = replica(process, acme=section(wire))
        async with anyio.create_task_group() as tg:
            tg.start_soon(hear_one, here, "acme", heard)
            link = await wire.link(0)
            await link.say(message("in the middle", channel="D0SLOW"))
            await heard.until_begun(1)
            await link.disconnect("warning")
            await wire.link(1)
            if deaf:
                monkeypatch.setattr(aiohttp.ClientWebSocketResponse, "close", lambda _ws: anyio.sleep_forever())
            tg.cancel_scope.cancel()
        left = {task for task in asyncio.all_tasks() - before if "RequestHandler" not in repr(task.get_coro())}

    assert not left, "but for the server's own"
    gc.collect()  # what was not closed, in this test and in no later one


async def test_sections_of_one_app_share_a_socket_and_each_hears_its_own_workspace(process: Process) -> None:
    acme, beta = Heard(), Heard()
    async with slack_wire() as wire, anyio.create_task_group() as tg:
        here = replica(process, acme=section(wire), beta=section(wire, "beta"))
        tg.start_soon(hear_one, here, "acme", acme)
        tg.start_soon(hear_one, here, "beta", beta)
        link = await wire.link()
        ids = [await link.say(message(team, team=team)) for team in ("T0BETA", "T0ACME", "T0BETA")]
        # In a channel that workspaces share, the speaker's is another one than the bot's.
        shared = message("shared", team="T0BETA")
        shared["team_id"] = "T0ELSEWHERE"
        ids.append(await link.say(shared))
        await wire.acknowledged(*ids)
        tg.cancel_scope.cancel()

    assert acme.texts == ["T0ACME"]
    assert beta.texts == ["T0BETA", "T0BETA", "shared"]
    assert len(wire.links) == 1


async def test_when_the_section_that_hears_for_all_ends_another_one_takes_over(process: Process) -> None:
    acme, beta = Heard(), Heard()
    async with slack_wire() as wire, anyio.create_task_group() as tg:
        here = replica(process, acme=section(wire), beta=section(wire, "beta"))
        async with anyio.create_task_group() as first:
            first.start_soon(hear_one, here, "acme", acme)
            await wire.link(0)
            tg.start_soon(hear_one, here, "beta", beta)
            await wire.until(lambda: ("auth.test", "xoxb-beta") in wire.asked)
            first.cancel_scope.cancel()
        link = await wire.link(1)
        envelope = await link.say(message("hello", team="T0BETA"))
        await wire.acknowledged(envelope)
        tg.cancel_scope.cancel()

    assert beta.texts == ["hello"]
    assert wire.links[0].closed


async def test_what_a_section_had_begun_to_keep_when_it_ended_waits_for_its_return(process: Process) -> None:
    """What it stood on, its connections for example, is gone then."""
    acme, beta, again = Heard(), Heard(slow="D0ANN"), Heard()
    async with slack_wire() as wire, anyio.create_task_group() as tg:
        here = replica(process, acme=section(wire), beta=section(wire, "beta"))
        tg.start_soon(hear_one, here, "acme", acme)
        link = await wire.link()
        async with anyio.create_task_group() as ends:
            ends.start_soon(hear_one, here, "beta", beta)
            envelope = await link.say(message("hello", team="T0BETA"))
            await beta.until_begun(1)
            ends.cancel_scope.cancel()
        beta.go.set()
        await anyio.wait_all_tasks_blocked()
        early = list(link.acknowledged)
        tg.start_soon(hear_one, here, "beta", again)
        await wire.acknowledged(envelope)
        tg.cancel_scope.cancel()

    assert (early, beta.texts, again.texts) == ([], [], ["hello"])


async def test_what_belongs_to_no_section_is_acknowledged_once_all_sections_are_known(process: Process) -> None:
    acme, beta = Heard(), Heard()
    with capture_logs() as logs:
        async with slack_wire() as wire, anyio.create_task_group() as tg:
            here = replica(process, acme=section(wire), beta=section(wire, "beta"))
            tg.start_soon(hear_one, here, "acme", acme)
            link = await wire.link()
            early = await link.say(message("early", team="T0BETA", channel="D0BOB"))
            foreign = await link.say(message("whose?", team="T0OTHER", channel="D0CY"))
            known = await link.say(message("mine"))
            await wire.acknowledged(known)
            acknowledged = list(link.acknowledged)
            tg.start_soon(hear_one, here, "beta", beta)
            await wire.acknowledged(early, foreign)
            tg.cancel_scope.cancel()

    assert acknowledged == [known]
    assert beta.texts == ["early"]
    assert [each["reason"] for each in logs if each["event"] == "event.foreign"] == [
        "the configuration has no channel that uses this app in workspace T0OTHER"
    ]


async def test_a_section_that_is_another_app_has_a_socket_of_its_own(process: Process) -> None:
    acme, beta = Heard(), Heard()
    async with slack_wire() as wire, anyio.create_task_group() as tg:
        here = replica(process, acme=section(wire), beta=section(wire, "beta", app_token=Secret("xapp-other")))
        tg.start_soon(hear_one, here, "acme", acme)
        tg.start_soon(hear_one, here, "beta", beta)
        # A connection that is cancelled while it is opened is left to the garbage collector by aiohttp.
        await wire.acknowledged(*[await (await wire.link(number)).say(message("hello")) for number in range(2)])
        tg.cancel_scope.cancel()

    assert {token for method, token in wire.asked if method == "apps.connections.open"} == {"xapp-pond", "xapp-other"}
    assert set(TEAMS) <= {token for method, token in wire.asked if method == "auth.test"}
