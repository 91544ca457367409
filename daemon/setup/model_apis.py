"""The APIs that a model can be behind: where their makers' servers are, and which variables name keys for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from daemon.config import Secret

Api = Literal["openai", "anthropic"]


@dataclass(frozen=True, kw_only=True)
class ApiDefaults:
    """What is offered when nothing else is known."""

    url: str
    model: str
    """For the maker's own server alone."""
    prefix: str
    """How the variables of the environment begin."""
    about: str
    """In words for a person."""

    def variable(self, environ: Mapping[str, str], name: str) -> str:
        """The text of one of the variables, ``BASE_URL``, ``MODEL`` or ``API_KEY``; empty when unset."""
        return environ.get(f"{self.prefix}_{name}", "").strip()

    def key(self, environ: Mapping[str, str]) -> Secret:
        """The key that the environment holds; empty when there is none."""
        return Secret(self.variable(environ, "API_KEY"))


APIS: Mapping[Api, ApiDefaults] = {
    "openai": ApiDefaults(
        url="https://api.openai.com/v1",
        model="gpt-4o-mini",
        prefix="OPENAI",
        about="chat completions: OpenAI and any compatible server",
    ),
    "anthropic": ApiDefaults(
        url="https://api.anthropic.com",
        model="claude-haiku-5-5",
        prefix="ANTHROPIC",
        about="messages: Anthropic and any compatible server",
    ),
}


def usual_api(environ: Mapping[str, str]) -> Api:
    """The API that the environment has a key or an address for; OpenAI's when it has both or none."""
    openai, anthropic = (
        any(APIS[api].variable(environ, name) for name in ("API_KEY", "BASE_URL")) for api in ("openai", "anthropic")
    )
    return "anthropic" if anthropic and not openai else "openai"
