import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import structlog

from daemon.config import BotConfig, Config
from daemon.errors import ModelRefused
from daemon.recall.vectors import Embedders, embedder_choice
from tests.limits import HANG_S
from tests.vectorlab import SCOPE

wordllama = pytest.importorskip("daemon.recall.vectors.wordllama", reason="the extra wordllama is not installed here")
SHIPPED = vars(embedder_choice)["_shipped"].__wrapped__  # uncached
pytestmark = [pytest.mark.skipif(find_spec("wordllama") is None, reason="the extra wordllama is not installed here")]


@pytest.fixture(scope="module")
def shipped():
    return wordllama.WordLlama(wordllama.folder_of_package())


async def test_what_means_the_same_is_nearer_than_what_does_not(shipped) -> None:
    texts = ["my daughter plays the violin", "she is good at music", "the car needs new tyres", "编程语言", "程序语言"]

    daughter, music, car, one, other = await shipped.embed(texts, limit_s=5)

    assert daughter @ music > daughter @ car
    assert one @ other > one @ car


async def test_vectors_have_length_one_and_those_of_nothing_are_zero(shipped) -> None:
    vectors = await shipped.embed(["a cat", "猫 " * 5_000, "\ud800", "\0"], limit_s=5)

    assert vectors.shape == (4, shipped.dims) == (4, 256)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors[:3], axis=1), 1)
    assert np.isfinite(vectors).all()


@pytest.fixture(autouse=True)
def without_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where only this extra is installed."""
    monkeypatch.setattr(embedder_choice, "SENTENCES_NEED", ("a_package_that_is_not_there",))
    monkeypatch.setattr(embedder_choice, "_shipped", SHIPPED)


async def test_it_is_taken_where_no_server_is_configured() -> None:
    embedder = await Embedders(Config(bots={"anna": BotConfig()})).of(SCOPE)

    assert embedder is not None
    assert embedder.name == "wordllama-l2_supercat_256"


async def test_files_that_cannot_be_read_are_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (wordllama.WEIGHTS, wordllama.TOKENIZER):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"\x10\0\0\0\0\0\0\0{}")
    monkeypatch.setattr(wordllama, "folder_of_package", lambda: tmp_path)
    embedders = Embedders(Config(bots={"anna": BotConfig()}))

    with structlog.testing.capture_logs() as logs:
        assert await embedders.of(SCOPE) is None
        assert await embedders.of(SCOPE) is None

    assert [line["event"] for line in logs] == ["vectors.missing"]
    with pytest.raises(ModelRefused, match="Install wordllama again"):
        wordllama.WordLlama(tmp_path)


ALONE = """
import logging, socket, sys
import daemon.recall.vectors.embedder_choice
daemon.recall.vectors.embedder_choice.SENTENCES_NEED = ("a_package_that_is_not_there",)
def refused(*args, **options):
    raise AssertionError("the network")
socket.socket.connect = socket.getaddrinfo = refused
import anyio
from daemon.config import BotConfig, Config
from daemon.recall.vectors import Embedders
async def main():
    embedder = await Embedders(Config(bots={"anna": BotConfig()})).of("anna:person:web:ann")
    print((await embedder.embed(["a cat"], limit_s=5)).shape)
anyio.run(main)
print([name for name in ("wordllama", "safetensors", "huggingface_hub", "requests") if name in sys.modules])
print(logging.getLogger().handlers)
"""


def test_neither_the_package_nor_the_network_is_touched() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=HANG_S, check=False)

    assert done.stderr == ""
    assert done.stdout.splitlines() == ["(1, 256)", "[]", "[]"]
