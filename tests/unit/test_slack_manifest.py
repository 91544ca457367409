"""``deploy/slack/manifest.yaml``: what it asks for is what the code needs, and Slack takes it."""

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from daemon.setup.platforms import slack_scopes
from daemon.setup.platforms.slack_scopes import REACTION_SCOPE, SCOPES, VIEW_SCOPE, manifest, missing_of

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "slack" / "manifest.yaml"
CALLERS = [*(ROOT / "channels" / "slack").glob("*.py"), *(ROOT / "daemon" / "setup").rglob("slack_*.py")]

HISTORY = {"channels:history", "groups:history", "im:history", "mpim:history"}
NEEDS: dict[str, set[str]] = {
    "agents.sessions.setStatus": {"chat:write"},
    "apps.connections.open": set(),  # an app token's own: connections:write
    "assistant.threads.setStatus": {"chat:write"},
    "auth.test": set(),
    "bots.info": {"users:read"},
    "chat.appendStream": {"chat:write"},
    "chat.delete": {"chat:write"},
    "chat.postEphemeral": {"chat:write"},
    "chat.postMessage": {"chat:write"},
    "chat.startStream": {"chat:write"},
    "chat.stopStream": {"chat:write"},
    "chat.update": {"chat:write"},
    "conversations.history": HISTORY,
    "conversations.replies": HISTORY,
    "files.completeUploadExternal": {"files:write"},
    "files.getUploadURLExternal": {"files:write"},
    "files.info": {"files:read"},
    "reactions.add": {"reactions:write"},
    "reactions.remove": {"reactions:write"},
    "users.info": {"users:read"},
}
"""Each method of the Web API that is called, and the scopes that its documentation demands."""

EVENTS = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "reaction_added": "reactions:read",
    "reaction_removed": "reactions:read",
}
"""Each event that is listened to, and its scope."""


def read(text: str) -> Any:
    """The little of YAML that the manifest is written in: maps, lists and plain values, two spaces a level."""
    lines = [
        (len(line) - len(line.lstrip()), line.strip())
        for line in text.splitlines()
        if line.strip() and not line.strip().startswith("#")
    ]
    found, rest = _block(lines, 0)
    assert rest == []
    return found


def _block(lines: list[tuple[int, str]], level: int) -> tuple[Any, list[tuple[int, str]]]:
    if lines[0][1].startswith("- "):
        return _list(lines, level)
    table: dict[str, Any] = {}
    while lines and lines[0][0] == level:
        key, colon, value = lines[0][1].partition(":")
        assert colon and key not in table, lines[0]
        lines = lines[1:]
        if value:
            assert value[0] == " ", value
            table[key] = _value(value.strip())
        else:
            table[key], lines = _block(lines, lines[0][0])
            assert lines == [] or lines[0][0] <= level
    return table, lines


def _list(lines: list[tuple[int, str]], level: int) -> tuple[list[Any], list[tuple[int, str]]]:
    found: list[Any] = []
    while lines and lines[0][0] == level and lines[0][1].startswith("- "):
        inside = lines[0][1][2:]
        if re.match(r"\w+: ", inside):
            member, lines = _block([(level + 2, inside), *lines[1:]], level + 2)
            found.append(member)
        else:
            found.append(_value(inside))
            lines = lines[1:]
    return found, lines


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text[0] in "\"'":
        assert text[-1] == text[0]
        return text[1:-1]
    assert not re.search(r": |\s#|^[\[{&*!|>%@`-]", text), f"{text} would be read as something else"
    return text


@pytest.fixture(scope="module")
def app() -> Any:
    return read(FILE.read_text(encoding="utf-8"))


def called() -> Iterator[str]:
    """Methods of the Web API that our code names, but for lists of them that say how they are called."""
    known = set(re.findall(r'api_call\(\s*"([\w.]+)"', inspect.getsource(AsyncWebClient)))
    assert "chat.postMessage" in known
    for path in CALLERS:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        lists = [node for node in tree.body if isinstance(node, ast.Assign) and path.name == "api.py"]
        aside = {part for node in lists for part in ast.walk(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and node not in aside and node.value in known:
                yield str(node.value)


def test_every_method_that_is_called_is_allowed(app: Any) -> None:
    methods = set(called())

    assert methods >= {"auth.test", "apps.connections.open", "chat.postMessage"}
    assert methods - set(NEEDS) == set(), "name their scopes above"
    needed = {scope for method in methods for scope in NEEDS[method]}
    assert needed - set(app["oauth_config"]["scopes"]["bot"]) == set()


def test_it_asks_for_what_is_needed_and_nothing_else(app: Any) -> None:
    scopes = app["oauth_config"]["scopes"]["bot"]
    needed = {scope for of in NEEDS.values() for scope in of} | set(EVENTS.values()) | {"commands"}

    assert scopes == sorted(scopes)
    assert set(scopes) == needed | {VIEW_SCOPE} == {*SCOPES, REACTION_SCOPE, VIEW_SCOPE}
    assert app["settings"]["event_subscriptions"]["bot_events"] == list(EVENTS)


def test_it_is_as_slack_takes_it(app: Any) -> None:
    shown, features, settings = app["display_information"], app["features"], app["settings"]
    [command] = features["slash_commands"]

    assert list(app) == ["display_information", "features", "oauth_config", "settings"]
    assert len(shown["name"]) <= 35 and len(shown["description"]) <= 140
    assert re.fullmatch("#[0-9a-f]{6}", shown["background_color"])
    assert re.fullmatch(r"/[a-z]{1,31}", command["command"]) and command["description"]
    # Slack makes no new app with the older assistant_view; a scope without its view is refused.
    assert "agent_view" in features and "assistant_view" not in features
    assert features["app_home"]["messages_tab_enabled"] and not features["app_home"]["messages_tab_read_only_enabled"]
    assert settings["socket_mode_enabled"] and "request_url" not in settings["event_subscriptions"]
    assert settings["token_rotation_enabled"] is False  # tokens that run out are not renewed here


def test_by_http_it_names_the_address_wherever_slack_calls() -> None:
    app = read(manifest("https://host/slack"))

    assert app["settings"]["socket_mode_enabled"] is False
    assert app["settings"]["event_subscriptions"]["request_url"] == "https://host/slack"
    assert app["settings"]["interactivity"] == {"is_enabled": True, "request_url": "https://host/slack"}
    assert [command["url"] for command in app["features"]["slash_commands"]] == ["https://host/slack"]


def test_it_is_found_in_a_checkout_and_in_a_wheel() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    places = build["targets"]["wheel"]["force-include"]
    packaged = ROOT / places["deploy/slack/manifest.yaml"]

    assert manifest() == FILE.read_text(encoding="utf-8")
    assert packaged == slack_scopes.PLACES[0]


def test_what_is_missing_is_said_with_what_it_is_for() -> None:
    assert missing_of([*SCOPES, "team:read"]) == []
    assert missing_of(set(SCOPES) - {"files:write"}) == ["files:write (to upload files)"]
