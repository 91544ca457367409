"""Environment variables that set keys: ``MILLPOND_SECTION__KEY`` at any depth, and OpenAI's and Anthropic's.

A variable is laid over the file's tables as a ``Variable``; what its text means is decided by the type of the key where
it stands. Empty variables count as unset.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TypeGuard, cast, get_origin

import msgspec

from daemon.config.config_keys import bare

Table = dict[str, object]
"""A section as it was given: a key's value is a table, a TOML value or a ``Variable``."""

PREFIX = "MILLPOND_"
NOT_SETTINGS = frozenset({"MILLPOND_CONFIG"})
"""Variables with our prefix that are no keys of the configuration."""
NAMED_SECTIONS = ("bots", "channels", "people")
MODEL_VARIABLES = {
    "openai": {"OPENAI_BASE_URL": "base_url", "OPENAI_MODEL": "name", "OPENAI_API_KEY": "api_key"},
    "anthropic": {"ANTHROPIC_BASE_URL": "base_url", "ANTHROPIC_MODEL": "name", "ANTHROPIC_API_KEY": "api_key"},
}
"""Variable → key of a bot's model, by ``model.api``."""

# Kubernetes and Docker links describe a service called millpond to every container beside it:
# https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
_SERVICE = re.compile(r"(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)")
_SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://")
_TRUTH: dict[str, bool] = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


class Variable(msgspec.Struct, frozen=True):
    """A value that a variable of the environment sets."""

    name: str
    text: str


def is_table(given: object) -> TypeGuard[Table]:
    """Whether the value is a section."""
    return isinstance(given, dict)


def variable(environ: Mapping[str, str], name: str) -> str:
    """The value of one of our variables, whose name may be in upper or lower case; empty when unset."""
    return next((text.strip() for key, text in sorted(environ.items()) if key.upper() == name and text.strip()), "")


def variable_of(path: str) -> str:
    """The variable that sets the key at a dotted path."""
    return PREFIX + path.replace(".", "__").replace("-", "_").upper()


def lay_over(tables: Table, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Apply the variables to ``tables``, in place. Yields the names of two variables that set the same key."""
    for given in _settings(environ):
        path = given.name[len(PREFIX) :].lower().split("__")
        section = tables
        for key in path[:-1]:
            following = section.setdefault(_own_name(tables, section, key), {})
            if not is_table(following):
                break  # a value stands where a section belongs: that is reported where it stands
            section = following
        else:
            earlier = section.get(path[-1])
            if isinstance(earlier, Variable):
                yield earlier.name, given.name
            section[path[-1]] = given


def _settings(environ: Mapping[str, str]) -> Iterator[Variable]:
    for name, text in sorted(environ.items()):
        upper = name.upper()
        if upper.startswith(PREFIX) and upper not in NOT_SETTINGS and text.strip() and not _foreign(upper, text):
            yield Variable(name, text)


def _foreign(name: str, text: str) -> bool:
    own = name.removeprefix(PREFIX)
    return "__" not in own and bool(_SERVICE.fullmatch(own) or (own.endswith("PORT") and _SERVICE_ADDRESS.match(text)))


def _own_name(tables: Table, section: Table, key: str) -> str:
    """``key`` as the file writes it: names of bots, channels and people match in any case, and with ``_`` for ``-``."""
    if not any(section is tables.get(named) for named in NAMED_SECTIONS):
        return key
    folded = {name.lower().replace("-", "_"): name for name in section}
    return key if key in section else folded.get(key.replace("-", "_"), key)


def fill_models(bots: Table, environ: Mapping[str, str]) -> None:
    """Fill unset keys of all models from the environment variables of their APIs, in place."""
    for bot in bots.values():
        model = bot.setdefault("model", {}) if is_table(bot) else None
        if is_table(bot) and is_table(model):
            api = _api_of(model)
            _fill_model(model, environ, api)
            fallbacks = model.get("fallbacks")
            others = [*cast("list[object]", fallbacks)] if isinstance(fallbacks, list) else []
            for other in (*others, bot.get("summary_model")):
                # One of the same API is at the model's own server; one with an address has a key of its own.
                if is_table(other) and _api_of(other, api) != api and "base_url" not in other:
                    _fill_model(other, environ, _api_of(other), without="name")


def _api_of(model: Table, usual: str = "openai") -> str:
    given = model.get("api", usual)
    return given.text.strip() if isinstance(given, Variable) else str(given)


def _fill_model(model: Table, environ: Mapping[str, str], api: str, *, without: str = "") -> None:
    for name, key in MODEL_VARIABLES.get(api, {}).items():
        text = environ.get(name, "").strip()
        if text and key not in model and f"{key}_file" not in model and key != without:
            model[key] = Variable(name, text)


def value_of(text: str, kind: object) -> object:
    """``text`` converted to the type ``kind``, or unchanged if it does not fit, so that the type check refuses it."""
    base, _ = bare(kind)
    text = text.strip()
    if base is bool:
        return _TRUTH.get(text.lower(), text)
    if base is int or base is float:
        try:
            return int(text) if base is int else float(text)
        except ValueError:
            return text
    if get_origin(base) is tuple:
        return [part for part in (piece.strip() for piece in text.split(",")) if part]
    return text
