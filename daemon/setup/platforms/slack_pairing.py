"""Finding out who the owner is at Slack: whoever writes a code to the app, in a direct message, heard over a socket.

Only the message with the code is acknowledged. Whatever else comes meanwhile Slack says again, within minutes, to the
daemon if it runs by then.
"""

from collections.abc import Callable
from contextlib import suppress

import aiohttp
import anyio
import msgspec

from daemon.config import Secret
from daemon.setup.answers import Owner
from daemon.setup.platforms.slack_api import Me, SlackApi, SlackSaysNo

WAIT_S = 300.0
"""How long a person may take to write."""
PAUSE_S = 2.0
"""Time between two tries when Slack fails; ``apps.connections.open`` may be asked some fifty times a minute."""
SILENCE_S = 60.0
"""Longest time without any frame: Slack pings more often than that, so the socket is dead."""
FRAME_MAX_BYTES = 4_194_304
"""Largest envelope that is read: a message of 40,000 characters with its blocks has some hundred kilobytes."""
TRY_AGAIN = frozenset({"", "ratelimited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"})
"""Codes of failures that pass."""


class WrittenCode(msgspec.Struct, frozen=True, kw_only=True):
    """The code, and where it was written."""

    owner: Owner
    channel: str
    thread: str


class _Event(msgspec.Struct, frozen=True):
    type: str = ""
    channel_type: str = ""
    subtype: str = ""
    bot_id: str = ""
    user: str = ""
    text: str = ""
    channel: str = ""
    thread_ts: str = ""


class _Payload(msgspec.Struct, frozen=True):
    team_id: str = ""
    event: _Event = _Event()


class _Frame(msgspec.Struct, frozen=True):
    """A message of the socket: hello, disconnect, or an envelope."""

    type: str = ""
    reason: str = ""
    num_connections: int = 1
    envelope_id: str = ""
    payload: _Payload = _Payload()


_decode = msgspec.json.Decoder(_Frame).decode


async def wait_for_owner(
    api: SlackApi, app_token: Secret, me: Me, code: str, *, say: Callable[[str], None], wait_s: float = WAIT_S
) -> WrittenCode | None:
    """The person who sends ``code`` to the app in a direct message; None if that does not happen in time.

    Raises:
        SlackSaysNo: Slack lets nobody hear with this token.
    """
    told: set[str] = set()

    def once(text: str) -> None:
        if text not in told:
            told.add(text)
            say(text)

    with anyio.move_on_after(wait_s):
        while True:
            try:
                written = await _heard(api, await api.socket_url(app_token), me, code, once)
            except SlackSaysNo as error:
                if error.code not in TRY_AGAIN:
                    raise
                once("Slack is not responding right now. Still trying.")
                await anyio.sleep(max(PAUSE_S, error.retry_after_s))
                continue
            if written is not None:
                return written
            await anyio.sleep(PAUSE_S)
    say("The code did not arrive in time.")
    return None


async def greet(api: SlackApi, bot_token: Secret, written: WrittenCode, text: str) -> None:
    """Tell the owner that it worked; no matter when that fails."""
    with suppress(SlackSaysNo):
        await api.say(bot_token, channel=written.channel, thread=written.thread, text=text)


async def _heard(api: SlackApi, url: str, me: Me, code: str, say: Callable[[str], None]) -> WrittenCode | None:
    """The code, over one socket; None when that ends."""
    try:
        async with api.session.ws_connect(url, max_msg_size=FRAME_MAX_BYTES) as socket:
            while (message := await socket.receive(SILENCE_S)).type in (
                aiohttp.WSMsgType.TEXT,
                aiohttp.WSMsgType.BINARY,
            ):
                frame = _read(message.data)
                if frame.type == "disconnect":
                    _judge(frame.reason)
                    return None
                if frame.type == "hello" and frame.num_connections > 1:
                    say(
                        "Another program also receives this app's messages and might receive the code. Stop "
                        "that program, "
                        "or send the code again."
                    )
                written = _written(frame, me, code)
                if written is not None:
                    await socket.send_json({"envelope_id": frame.envelope_id})
                    return written
    except (aiohttp.ClientError, TimeoutError, OSError):
        pass  # it was cut: another one is opened
    return None


def _read(content: object) -> _Frame:
    try:
        return _decode(content) if isinstance(content, str) else _Frame()
    except msgspec.MsgspecError:
        return _Frame()


def _judge(reason: str) -> None:
    if reason == "link_disabled":
        text = "Socket Mode is off for this app. Turn on Socket Mode in the app's settings, under Socket Mode."
        raise SlackSaysNo(text, code=reason)


def _written(frame: _Frame, me: Me, code: str) -> WrittenCode | None:
    """The code from a person in a direct message; None: it is something else."""
    event = frame.payload.event
    direct = event.type == "message" and event.channel_type == "im" and frame.payload.team_id == me.team_id
    plain = bool(event.user) and not event.subtype and not event.bot_id
    if not (direct and plain and code in event.text.upper().split()):
        return None
    return WrittenCode(owner=Owner(id=event.user), channel=event.channel, thread=event.thread_ts)
