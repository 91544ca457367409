"""Each kind of failure as people meet it: the real command, and a real server that fails so (docs/failures.md)."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from daemon.wording import text as say
from tests.fakes.openai_server import Failure, Reply, Say, fake_openai
from tests.limits import HANG_S
from tests.places import TEMPORARY
from tests.processes import Daemon, environment_of, running, shut_down

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

EVIL = "what is not to be said"


@dataclass(frozen=True, kw_only=True)
class Fault:
    reply: Reply | None  # what the server says to everything; None: there is no server
    reason: str  # stands in what the person, ``doctor`` and ``queue list`` say


FAULTS: Mapping[str, Fault] = {
    "a wrong key": Fault(reply=Failure(401, "Incorrect API key"), reason="The server refused the API key (401)."),
    "no credit": Fault(reply=Failure(429, "no", code="insufficient_quota"), reason="The account has no credit left"),
    "an unknown model": Fault(reply=Failure(404, "no such model"), reason="The model or the address was not found"),
    "a model under another status": Fault(reply=Failure(400, "Model Not Exist"), reason="The model or the address"),
    "no server": Fault(reply=None, reason="No server listens at 127.0.0.1:"),
}


class Server:
    def __init__(self) -> None:
        self.reply: Reply = Say("fine")

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        return Failure(400, f"I will not read {EVIL}") if EVIL in json.dumps(body["messages"]) else self.reply


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="mp-", dir=TEMPORARY))
    yield folder
    shut_down(folder)
    shutil.rmtree(folder, ignore_errors=True)


def until(found: Callable[[], Any]) -> Any:
    ends = time.monotonic() + HANG_S
    while not (result := found()):
        assert time.monotonic() < ends, "it never came"
        time.sleep(0.05)
    return result


def command(folder: Path, environ: Mapping[str, str], *words: str) -> str:
    result = subprocess.run(
        [sys.executable, "-m", "millpond", *words],
        env=environment_of(folder, environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    return result.stdout


def reasons(folder: Path, environ: Mapping[str, str]) -> str:
    return ", ".join(json.loads(command(folder, environ, "queue", "list", "--json"))["reasons"])


def answers(daemon: Daemon, session: str) -> list[str]:
    return [each["content"] for each in daemon.messages(session) if each["role"] == "assistant"]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_set_up_is_named_everywhere_and_what_waits_is_answered_after_it(
    portal: BlockingPortal, folder: Path, name: str
) -> None:
    fault, script = FAULTS[name], Server()
    with portal.wrap_async_context_manager(fake_openai(script)) as server:
        there = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-1234567890", "OPENAI_MODEL": "m"}
        broken = there if fault.reply else {**there, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
        script.reply = fault.reply or script.reply

        with running(folder, **broken) as daemon:
            daemon.post("ann", "hello")
            listed = until(lambda: reasons(folder, broken))
            daemon.post("ann", "and hello again")
            findings = json.loads(command(folder, broken, "doctor", "--json"))["findings"]

        errors = [finding["text"] for finding in findings if finding["state"] == "error"]
        assert fault.reason in listed
        assert any(fault.reason in text for text in errors), findings
        script.reply = Say("fine")
        with running(folder, **there) as daemon:
            until(lambda: len(answers(daemon, "ann")) == 2)


def test_a_refused_message_holds_nothing_up(portal: BlockingPortal, folder: Path) -> None:
    with portal.wrap_async_context_manager(fake_openai(Server())) as server:
        there = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-1234567890", "OPENAI_MODEL": "m"}
        with running(folder, **there) as daemon:
            for text in ("hello", EVIL, "are you there?"):
                daemon.post("ann", text)
            until(lambda: len(answers(daemon, "ann")) == 3)
            first, refused, last = answers(daemon, "ann")
            letters = command(folder, there, "queue", "dead", "list", "--json")

    assert (first, last) == ("fine", "fine")
    assert refused.startswith(say("message_refused", "en", status=400, correlation="")[:60])
    assert "refused the request (400)" in letters
    assert "I will not read" not in letters
