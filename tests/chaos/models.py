"""The model server's answers, to turns and to who sums them up; all requests are looked at."""

from collections.abc import Mapping
from typing import Any

from daemon.config import ModelConfig
from daemon.tokens import Tokenizer
from tests.chaos.keeper import Keeper, is_flush, is_summary
from tests.chaos.setting import WINDOW_TOKENS
from tests.chaos.shown import Gallery
from tests.chaos.talker import Talker
from tests.fakes.openai_server import FakeOpenAI, Reply


class Models:
    server: FakeOpenAI

    def __init__(self, tokenizer: Tokenizer, keeper: Keeper) -> None:
        self.talker = Talker()
        self.keeper = keeper
        self.gallery = Gallery(
            tokenizer=tokenizer,
            window_tokens=WINDOW_TOKENS,
            budget_tokens=ModelConfig(context_window_tokens=WINDOW_TOKENS).budget_tokens,
        )

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        """The answer to a request's body, the newest that the server has got."""
        self.gallery.see(body)
        if not (is_summary(body) or is_flush(body)):
            return self.talker(body)
        # Each process asks below a path of its own.
        received = self.server.requests[-1]
        return self.keeper(body, received.path.split("/")[1])
