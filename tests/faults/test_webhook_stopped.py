"""A real process that is stopped while a request to its bridge hangs ends in order, and the message is shown once."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest

from tests.fakes.bridge import SECRET, Bridge
from tests.fakes.openai_server import fake_openai
from tests.fakes.sink import Fault, Hang, Post
from tests.limits import HANG_S, until
from tests.ponds import Pond, pond
from tests.ports import free_port

CONFIG = """
data_dir = "{data}"
[queue]
lease_s = 60.0
[run]
grace_s = 1.0
[bots.pond.model]
name = "fake"
base_url = "{model}"
[channels.forum]
type = "webhook"
url = "{bridge}"
secret = "{secret}"
port = {port}
send_timeout_s = 20.0
supports = {supports}
streaming = {streaming}
[channels.forum.access]
policy = "open"
"""


@asynccontextmanager
async def forum(
    tmp_path: Path, hanging: anyio.Event, *, kind: str, acted: bool, supports: str = "[]"
) -> AsyncGenerator[tuple[Pond, Bridge]]:
    """A pond whose bridge lets the first request of a ``kind`` hang, after showing it if it ``acted``."""

    def decide(post: Post) -> Fault | None:
        if post["type"] != kind or hanging.is_set():
            return None
        hanging.set()
        return Hang(delivered=acted)

    async with fake_openai() as model, anyio.create_task_group() as tg:
        bridge = Bridge(tg, decide)
        await tg.start(bridge.serve)
        port = free_port()
        bridge.address = f"http://127.0.0.1:{port}/"
        config = CONFIG.format(
            data=tmp_path / "data", model=model.base_url, bridge=bridge.url, secret=SECRET.reveal(), port=port,
            supports=supports, streaming=str(supports != "[]").lower(),
        )  # fmt: skip
        async with pond(tmp_path / "data", config) as (folder, bus), Pond(folder=folder, bus=bus) as here:
            yield here, bridge
        tg.cancel_scope.cancel()


@pytest.mark.parametrize(
    "kind, acted, supports",
    [
        pytest.param("message", False, "[]", id="message"),
        pytest.param("message", True, "[]", id="message-shown"),
        pytest.param("message", True, '["edits"]', id="preview-shown"),
    ],
)
async def test_a_process_stops_in_order_during_a_hanging_request_and_the_next_one_shows_the_message_once(
    tmp_path: Path, kind: str, supports: str, *, acted: bool
) -> None:
    hanging = anyio.Event()
    async with forum(tmp_path, hanging, kind=kind, acted=acted, supports=supports) as (here, bridge):
        first = await here.start("channels")
        bridge.say("ann", {"chat": "ann", "sender": "ann", "text": "hello", "id": "m1"})
        with anyio.fail_after(HANG_S):
            await hanging.wait()

        await here.end(first)  # a part of it that does not end within the grace time is an exit code of 1

        await here.start("channels")
        bridge.say("ann", {"chat": "ann", "sender": "ann", "text": "again", "id": "m2"})
        await until(lambda: any("again" in post["text"] for post in bridge.messages.values()))
        await here.all_delivered("forum")
        _, texts = await here.replies("forum:ann")
        assert [post["text"] for post in bridge.messages.values()] == texts
        assert await here.unknown() == 1  # listed, sent once more with the same id, and recognised by the bridge


async def test_a_process_stops_in_order_while_a_bridge_posts_without_an_end(tmp_path: Path) -> None:
    async with forum(tmp_path, anyio.Event(), kind="none", acted=False) as (here, bridge):
        daemon = await here.start("channels")
        port = int(bridge.address.rpartition(":")[2].rstrip("/"))
        await until(partial(_listens, port))
        async with await anyio.connect_tcp("127.0.0.1", port) as half, await anyio.connect_tcp("127.0.0.1", port):
            await half.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")

            await here.end(daemon)


async def _listens(port: int) -> bool:
    try:
        async with await anyio.connect_tcp("127.0.0.1", port):
            return True
    except OSError:
        return False
