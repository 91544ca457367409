"""The defaults of answers: the APIs of models, and facts about this machine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from daemon.config import Secret
from daemon.wording import Language

# The APIs that a model can be behind: where their makers' servers are, and which variables name keys for them.

Api = Literal["openai", "anthropic"]


class ApiDefaults(msgspec.Struct, frozen=True, kw_only=True):
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


# What this machine tells of the person at it: the defaults of questions.

_ZONES = "zoneinfo/"


def time_zone_here(environ: Mapping[str, str]) -> str:
    """The machine's time zone by its IANA name; ``UTC`` when it does not tell."""
    if named := environ.get("TZ", "").lstrip(":"):
        return named.rpartition(_ZONES)[2] if _ZONES in named else named
    try:
        link = str(Path("/etc/localtime").readlink())
    except OSError:
        link = ""
    if _ZONES in link:
        return link.rpartition(_ZONES)[2]
    try:
        return Path("/etc/timezone").read_text(encoding="utf-8").strip() or "UTC"
    except (OSError, UnicodeDecodeError):
        return "UTC"


def language_here(environ: Mapping[str, str]) -> Language:
    """The language of the person's programs, as far as bots speak it."""
    said = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    return "zh" if said.startswith("zh") else "en"
