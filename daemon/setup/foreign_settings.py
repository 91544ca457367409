"""What the configuration of another program says of model and Telegram, as far as it has a place here. Pure."""

import re
from collections.abc import Mapping
from typing import cast

import msgspec
from msgspec.structs import replace

from daemon.config import Secret


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Offered as answers; empty: nothing was found."""

    model_url: str = ""
    model_name: str = ""
    model_key: Secret | None = None
    token: Secret | None = None
    token_file: str = ""
    """Where the token is, when it is not here."""
    allow: tuple[str, ...] = ()
    """Telegram's ids of who might talk to it."""
    time_zone: str = ""


class _Provider(msgspec.Struct, frozen=True, kw_only=True):
    """An OpenAI-compatible server that these programs know by a name."""

    url: str
    variable: str = ""
    """Of the environment, where its key may be."""


_PROVIDERS = {
    "openai": _Provider(url="https://api.openai.com/v1", variable="OPENAI_API_KEY"),
    "openrouter": _Provider(url="https://openrouter.ai/api/v1", variable="OPENROUTER_API_KEY"),
    "anthropic": _Provider(url="https://api.anthropic.com/v1", variable="ANTHROPIC_API_KEY"),
    "deepseek": _Provider(url="https://api.deepseek.com/v1", variable="DEEPSEEK_API_KEY"),
    "groq": _Provider(url="https://api.groq.com/openai/v1", variable="GROQ_API_KEY"),
    "gemini": _Provider(url="https://generativelanguage.googleapis.com/v1beta/openai", variable="GEMINI_API_KEY"),
    "google": _Provider(url="https://generativelanguage.googleapis.com/v1beta/openai", variable="GEMINI_API_KEY"),
    "mistral": _Provider(url="https://api.mistral.ai/v1", variable="MISTRAL_API_KEY"),
    "moonshot": _Provider(url="https://api.moonshot.ai/v1", variable="MOONSHOT_API_KEY"),
    "zhipu": _Provider(url="https://open.bigmodel.cn/api/paas/v4", variable="ZAI_API_KEY"),
    "zai": _Provider(url="https://api.z.ai/api/paas/v4", variable="ZAI_API_KEY"),
    "dashscope": _Provider(url="https://dashscope.aliyuncs.com/compatible-mode/v1", variable="DASHSCOPE_API_KEY"),
    "siliconflow": _Provider(url="https://api.siliconflow.cn/v1", variable="SILICONFLOW_API_KEY"),
    "xai": _Provider(url="https://api.x.ai/v1", variable="XAI_API_KEY"),
    "ollama": _Provider(url="http://127.0.0.1:11434/v1"),
}
_MAKERS = {
    "gpt": "openai",
    "o3": "openai",
    "o4": "openai",
    "claude": "anthropic",
    "deepseek": "deepseek",
    "gemini": "gemini",
    "kimi": "moonshot",
    "glm": "zhipu",
    "qwen": "dashscope",
    "mistral": "mistral",
}
"""How names of models begin that are written without a provider."""

_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
Table = Mapping[str, object]


def nanobot_settings(tables: Table, environ: Mapping[str, str]) -> Settings:
    """Of a ``config.json``, whose keys may be in either case style."""
    defaults = _inner(tables, "agents", "defaults")
    providers = _inner(tables, "providers")
    model = _word(defaults, "model", environ)
    forced = _word(defaults, "provider", environ)
    usable = [name for name, each in providers.items() if _word(_table(each), "apiKey", environ, "api_key")]
    wanted = (forced, model.partition("/")[0], _maker(model))
    name = next((each for each in wanted if each in usable), usable[0] if usable else "")
    provider, telegram = _inner(providers, name), _inner(tables, "channels", "telegram")
    return replace(
        _model(name, model, provider, environ),
        token=_secret(_word(telegram, "token", environ)),
        allow=_ids(telegram.get("allowFrom") or telegram.get("allow_from")),
        time_zone=_word(defaults, "timezone", environ),
    )


def openclaw_settings(tables: Table, environ: Mapping[str, str]) -> Settings:
    """Of an ``openclaw.json``, whose models are called ``provider/name``."""
    inside = {**_inner(tables, "env"), **_inner(tables, "env", "vars")}
    environ = {**environ, **{key: value for key, value in inside.items() if isinstance(value, str)}}
    defaults = _inner(tables, "agents", "defaults") or _inner(tables, "agent")
    chosen = defaults.get("model")
    model = _resolved(chosen, environ) if isinstance(chosen, str) else _word(_table(chosen), "primary", environ)
    name, _, rest = model.partition("/")
    provider = _inner(tables, "models", "providers", name)
    if str(provider.get("api") or "openai").partition("-")[0] != "openai":
        provider = _table(None)
    telegram = _inner(tables, "channels", "telegram") or _inner(tables, "telegram")
    bots = [telegram, *(_table(each) for each in _inner(telegram, "accounts").values())]
    return replace(
        _model(name if rest else _maker(model), model, provider, environ),
        token=_secret(next((token for bot in bots if (token := _word(bot, "botToken", environ))), "")),
        token_file=next((file for bot in bots if (file := _word(bot, "tokenFile", environ))), ""),
        allow=tuple(dict.fromkeys(each for bot in bots for each in _ids(bot.get("allowFrom")))),
        time_zone=_word(defaults, "userTimezone", environ),
    )


def _model(provider: str, model: str, section: Table, environ: Mapping[str, str]) -> Settings:
    known = _PROVIDERS.get(provider.lower())
    url = _word(section, "apiBase", environ, "api_base") or _word(section, "baseUrl", environ)
    url = url or (known.url if known else "")
    if not url:
        return Settings()
    key = _word(section, "apiKey", environ, "api_key")
    if not key and known is not None and known.variable:
        key = environ.get(known.variable, "")
    prefix, _, rest = model.partition("/")
    # A gateway is called with the maker's name before a slash: that stays.
    name = rest if rest and prefix.lower() == provider.lower() else model
    return Settings(model_url=url, model_name=name, model_key=_secret(key))


def _secret(text: str) -> Secret | None:
    return Secret(text) if text else None


def _maker(model: str) -> str:
    return next((maker for begin, maker in _MAKERS.items() if model.lower().startswith(begin)), "")


def _ids(value: object) -> tuple[str, ...]:
    """Telegram's ids in a list of ids and names; whoever is named by a name alone has to be let in anew."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    # nanobot wrote "id|name" once; OpenClaw takes "tg:id" and "telegram:id".
    plain = [str(item).split("|")[0].rpartition(":")[2].strip() for item in items]
    return tuple(dict.fromkeys(item for item in plain if item.lstrip("-").isdecimal()))


def _word(table: Table, key: str, environ: Mapping[str, str], other: str = "") -> str:
    value = table.get(key)
    return _resolved(value if value is not None else table.get(other), environ)


def _resolved(value: object, environ: Mapping[str, str]) -> str:
    """A text, maybe kept in a variable: as ``${NAME}``, or as ``{"source": "env", "id": "NAME"}``."""
    if isinstance(value, dict):
        reference = _table(cast("object", value))
        named = reference.get("id")
        return environ.get(named, "") if reference.get("source") == "env" and isinstance(named, str) else ""
    if not isinstance(value, str):
        return ""
    found = _VARIABLE.fullmatch(value.strip())
    return environ.get(found[1], "") if found else value.strip()


def _inner(tables: Table, *names: str) -> Table:
    for name in names:
        tables = _table(tables.get(name))
    return tables


def _table(value: object) -> Table:
    empty: Table = {}
    return cast("Table", value) if isinstance(value, dict) else empty
