"""A model's server in a process of its own, so that its work is not counted as Millpond's."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from tests.fakes.openai_server import Events, delta, fake_openai

STOP_LIMIT_S = 10.0
FORGET_S = 1.0


@contextmanager
def model_server(*, words: int, latency_s: float = 0.0) -> Iterator[dict[str, str]]:
    """A server that answers every request with so many words, a chunk each, the first after ``latency_s``.

    With no words it says what it was told last. Gives the environment in which Millpond asks it.
    """
    command = [sys.executable, "-m", "benchmarks.model_server", str(words), str(latency_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            base_url = process.stdout.readline().strip()
            yield {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "fake"}
        finally:
            process.terminate()
            process.wait(STOP_LIMIT_S)


def _answer(words: int, latency_s: float) -> Events:
    """Encoded once: what the server costs is not what is measured."""
    events = [delta(role="assistant", content=""), *(delta(content=f" word{number}") for number in range(words))]
    events += [delta(finish="stop"), {**delta(), "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}]
    return Events([latency_s, *(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)])


async def _serve(words: int, latency_s: float) -> None:
    answer = _answer(words, latency_s)
    async with fake_openai((lambda _body: answer) if words else ()) as server:
        print(server.base_url, flush=True)
        while True:
            # What came is kept for tests; here it would only grow.
            server.requests.clear()
            await anyio.sleep(FORGET_S)


if __name__ == "__main__":
    anyio.run(_serve, int(sys.argv[1]), float(sys.argv[2]))
