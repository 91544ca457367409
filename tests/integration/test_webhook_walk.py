"""The bridge of docs/webhook-channel.md, run as it is, with a real worker and a real channel."""

import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import msgspec

from channels.push import serve
from daemon.clock import SystemClock
from daemon.config import AccessConfig, Secret, WebhookChannelConfig
from daemon.process import Process
from daemon.services import service
from daemon.session import SessionReader
from tests.limits import HANG_S, until
from tests.ports import free_port

PAGE = Path(__file__).parents[2] / "docs" / "webhook-channel.md"
SECRET = "a secret of a bridge in a test"


async def test_the_bridge_of_the_documentation_takes_a_message_to_the_bot_and_its_answer_back(
    process: Process, tmp_path: Path
) -> None:
    [script] = re.findall(r"^```python bridge\.py\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(script.splitlines()) <= 40, "the example is as short as the page says"
    (tmp_path / "bridge.py").write_text(script)
    port, bridge_port = free_port(), free_port()
    channel = WebhookChannelConfig(
        url=f"http://127.0.0.1:{bridge_port}/", secret=Secret(SECRET), port=port, access=AccessConfig(policy="open")
    )
    config = msgspec.structs.replace(process.config, channels={"forum": channel})
    process = replace(process, config=config, clock=SystemClock(), stopping=anyio.Event())
    command = [sys.executable, str(tmp_path / "bridge.py"), f"http://127.0.0.1:{port}/", str(bridge_port), SECRET]
    async with anyio.create_task_group() as tg:
        await tg.start(partial(service("agent"), process))
        await tg.start(serve, process)
        await until(partial(_listens, port))
        async with await anyio.open_process(command, stderr=subprocess.PIPE) as bridge:
            assert bridge.stdin and bridge.stdout
            await bridge.stdin.send(b"hello\n")
            with anyio.fail_after(HANG_S):
                answer = await bridge.stdout.receive()
            bridge.terminate()
        process.stopping.set()

    assert b"Hello! What can I do for you?" in answer
    assert (await SessionReader(process.bus).state("forum:ann")).scope == "pond:person:forum:ann"


async def _listens(port: int) -> bool:
    try:
        async with await anyio.connect_tcp("127.0.0.1", port):
            return True
    except OSError:
        return False
