"""Finding out who the owner is at Feishu: whoever writes a code to the app, in a direct message.

Only the message with the code is acknowledged. Whatever else comes meanwhile Feishu says again, to the daemon if it
runs by then.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import aiohttp
import anyio
import msgspec
from msgspec.structs import replace

from daemon.config import Secret
from daemon.errors import UNREADABLE
from daemon.setup.answers import FeishuAnswer, Owner
from daemon.setup.platforms.feishu_api import FeishuApi, FeishuSaysNo
from daemon.setup.platforms.feishu_socket import DATA, Frame, decoded, encoded, opened, ping, service_of, socket_session

WAIT_S = 300.0
"""How long a person may take to write."""

PAUSE_S = 2.0
"""Time between two tries when Feishu fails."""

SILENCE_S = 150.0
"""Longest time without any frame: Feishu answers our pings, of which one is sent at the beginning."""


class _Ids(msgspec.Struct, frozen=True):
    open_id: str = ""


class _Sender(msgspec.Struct, frozen=True):
    sender_id: _Ids = _Ids()


class _Message(msgspec.Struct, frozen=True):
    chat_id: str = ""
    chat_type: str = ""
    content: str = ""


class _Event(msgspec.Struct, frozen=True):
    sender: _Sender = _Sender()
    message: _Message = _Message()


class _Body(msgspec.Struct, frozen=True):
    event: _Event = _Event()


_decode = msgspec.json.Decoder(_Body).decode


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The code, and where it was written."""

    owner: Owner
    chat: str


async def wait_for_owner(
    api: FeishuApi, answer: FeishuAnswer, code: str, *, say: Callable[[str], None], wait_s: float = WAIT_S
) -> Written | None:
    """The person who sends ``code`` to the app in a direct message; None if that does not happen in time.

    Raises:
        FeishuSaysNo: Feishu lets nobody hear with this secret.
    """
    url = await api.socket_url(answer.app_id, answer.app_secret)
    async with socket_session(answer.base_url) as session:
        with anyio.move_on_after(wait_s):
            while True:
                written = await _heard(session, url, code)
                if written is not None:
                    return written
                await anyio.sleep(PAUSE_S)
                with suppress(FeishuSaysNo):
                    url = await api.socket_url(answer.app_id, answer.app_secret)
    say("The code did not arrive in time.")
    return None


async def greet(api: FeishuApi, token: Secret, written: Written, text: str) -> None:
    """Tell the owner that it worked; no matter when that fails."""
    with suppress(FeishuSaysNo):
        await api.say(token, chat=written.chat, text=text)


async def _heard(session: aiohttp.ClientSession, url: str, code: str) -> Written | None:
    """The code, over one connection; None when that ends."""
    try:
        async with await opened(session, url) as socket:
            await socket.send_bytes(ping(service_of(url)))
            parts: dict[str, dict[int, bytes]] = {}
            while (message := await socket.receive(SILENCE_S)).type is aiohttp.WSMsgType.BINARY:
                frame, written = _read(message.data, code, parts)
                if frame is not None and written is not None:
                    await socket.send_bytes(encoded(replace(frame, payload=b'{"code":200}')))
                    return written
    except (aiohttp.ClientError, TimeoutError, OSError):
        pass  # it was cut: another one is opened
    return None


def _read(content: Any, code: str, parts: dict[str, dict[int, bytes]]) -> tuple[Frame | None, Written | None]:
    try:
        frame = decoded(content)
        if frame.method != DATA:
            return frame, None
        count, number = frame.parts
        of = parts.setdefault(frame.headers.get("message_id", ""), {})
        of[number] = frame.payload
        if len(of) < count:
            return frame, None
        return frame, _written(b"".join(of[each] for each in sorted(of)), code)
    except UNREADABLE:
        return None, None


def _written(payload: bytes, code: str) -> Written | None:
    """The code from a person in a direct message; None: it is something else."""
    event = _decode(payload).event
    who, message = event.sender.sender_id.open_id, event.message
    words = message.content.upper().replace('"', " ").split()
    if not (who and message.chat_type == "p2p" and code in words):
        return None
    return Written(owner=Owner(id=who), chat=message.chat_id)
