"""Where Millpond connects to: the places are known, and what Slack's answers name is Slack's."""

import ast
from collections import defaultdict
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from daemon.config.address import is_discords, is_feishus, is_slacks
from tests.tables import each_row

ROOT = Path(__file__).parents[2]

CONNECTING = frozenset(
    {
        *("AsyncClient", "AsyncHTTPTransport", "AsyncOpenAI", "AsyncWebClient", "ClientSession"),
        *("DefaultAsyncHttpxClient", "HTTPConnection", "HTTPSConnection", "Client", "urlopen", "ws_connect"),
        *("connect_tcp", "connect_unix", "create_connection", "open_connection", "open_unix_connection"),
        *("streamable_http_client", "sse_client", "websocket_client", "from_url", "Redis", "http_client"),
    }
)
"""What connections are made with, in the libraries that are installed."""

PLACES = {
    "channels/discord/api.py": {"http_client"},  # base_url; files at Discord's alone
    "channels/feishu/api.py": {"http_client"},  # base_url
    "channels/slack/api.py": {"AsyncWebClient", "ClientSession"},  # base_url; files at Slack's alone
    "channels/telegram/api.py": {"http_client"},  # base_url
    "channels/testing/channel.py": {"AsyncClient"},  # the channel's url
    "channels/websocket_client.py": {"ClientSession", "ws_connect"},  # at the platform's alone
    "channels/webhook/channel.py": {"AsyncClient"},  # the channel's url; files at its server alone
    "daemon/archive/object_storage.py": {"from_url"},  # archive.url
    "daemon/model/anthropic/anthropic_model.py": {"http_client"},  # base_url
    "daemon/model/http_transport.py": {"connect_tcp"},  # where a model's client leads
    "daemon/model/openai_model.py": {"AsyncOpenAI", "http_client"},  # base_url
    "daemon/model/speech.py": {"http_client"},  # base_url
    "daemon/proxies.py": {"from_url"},  # the proxy that the environment names
    "daemon/setup/platforms/discord_api.py": {"http_client"},  # Discord, or what was typed
    "daemon/setup/platforms/telegram_pairing.py": {"http_client"},  # Telegram, or what was typed
    "daemon/setup/platforms/feishu_api.py": {"http_client"},  # Feishu, or what was typed
    "daemon/setup/platforms/feishu_socket.py": {"ClientSession", "ws_connect"},  # at Feishu's alone
    "daemon/setup/platforms/slack_api.py": {"ClientSession"},  # Slack, or what was typed
    "daemon/setup/platforms/slack_pairing.py": {"ws_connect"},  # at Slack's alone
    "daemon/setup/model_trial.py": {"http_client"},  # the model's base_url
    "workers/tools/web/fetch.py": {"http_client"},  # a model names the address: refused unless public
    "workers/tools/web/search.py": {"http_client"},  # the provider, or web.search_url
    "workers/tools/mcp/tool_server_connection.py": {
        "AsyncClient",
        "Client",
        "streamable_http_client",
    },  # mcp.<name>.url
}
"""Every module that connects to something beyond its own server, by what. A new one belongs into docs/security.md and
tests/integration/test_sent_on.py; where an answer, a message or a model names its address, what it names is checked."""

OWN_SERVER = ("daemon/server/", "daemon/bus/", "daemon/cli/")
"""These connect to Redis, by the configuration's address or their own socket."""


def called(source: str) -> set[str]:
    if not any(f"{name}(" in source for name in CONNECTING):
        return set()
    functions = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    plain = {each.id for each in functions if isinstance(each, ast.Name)}
    return plain | {each.attr for each in functions if isinstance(each, ast.Attribute)}


def test_every_module_that_connects_to_something_is_known() -> None:
    found = defaultdict[str, set[str]](set)
    for path in sorted(each for room in ("channels", "daemon", "workers") for each in (ROOT / room).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(OWN_SERVER) and (made := called(path.read_text(encoding="utf-8")) & CONNECTING):
            found[name] |= made

    assert found == PLACES


HOME = "https://slack.com/api"
NEAR = "http://127.0.0.1:8080/api"


@each_row(
    ("url", "base"),
    [
        ("https://files.slack.com/files-pri/T1-F1/a.png", HOME),
        ("https://slack.com/x", HOME),
        ("wss://wss-primary.slack.com/link/?ticket=1", HOME),
        ("https://files.slack-gov.com/x", "https://slack-gov.com/api"),
        ("http://127.0.0.1:8080/files/1", NEAR),
        ("ws://127.0.0.1:8080/link", NEAR),
    ],
)
def test_what_is_slacks_is_taken(url: str, base: str) -> None:
    assert is_slacks(url, base)


ELSEWHERE = [
    *("https://evil.example/x", "https://slack.com.evil.example/x", "https://notslack.com/x", "https:///x", ""),
    *("http://files.slack.com/x", "ws://wss-primary.slack.com/", "ftp://slack.com/", "//files.slack.com/x"),
    *("https://slack.com@evil.example/", "https://evil.example\\.slack.com/", "https://evil.example#.slack.com/"),
    *("https://evil.example?.slack.com/", "https://evil.example%2f.slack.com/", "https://slack.com:x/", "https://[/"),
    *("http://169.254.169.254/latest/", "http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]:8080/"),
    *("http://2130706433:8080/", "http://0177.0.0.1:8080/", "http://127.1:8080/", "http://localhost:8080/"),
    *("https://127.0.0.1:8080/", "wss://127.0.0.1:8080/", "http://127.0.0.1:8081/", "http://u:p@127.0.0.1:8080/"),
]
"""Other hosts, other ports, other ways to write an address, and addresses that two libraries may read in two ways."""


@each_row("url", ELSEWHERE)
@each_row("base", [HOME, NEAR])
def test_what_is_not_is_refused(url: str, base: str) -> None:
    assert not is_slacks(url, base)


@each_row(
    "url, base, ours",
    [
        ("wss://gateway.discord.gg", "https://discord.com/api/v10", True),
        ("https://cdn.discordapp.com/attachments/1/2/a.png?hm=3", "https://discord.com/api/v10", True),
        ("http://cdn.discordapp.com/attachments/1/2/a.png", "https://discord.com/api/v10", False),
        ("https://discord.gg.evil.example/", "https://discord.com/api/v10", False),
        ("https://files.slack.com/x", "https://discord.com/api/v10", False),
        ("ws://127.0.0.1:8080/gateway", NEAR, True),
    ],
)
def test_what_is_discords_is_told_apart(url: str, base: str, ours: bool) -> None:
    assert is_discords(url, base) == ours


@given(st.text(st.sampled_from("hts:/@.#?%[]\\ \n\tslack.comevil0123456789"), max_size=40))
def test_any_text_is_judged(text: str) -> None:
    for scheme in ("https://", "wss://", ""):
        if is_slacks(scheme + text, HOME):
            host = (scheme + text).partition("://")[2].lower()
            assert host.partition("/")[0].partition("?")[0].partition("#")[0].partition(":")[0].endswith("slack.com")


@each_row(
    "url, fine",
    [
        ("wss://msg-frontier.feishu.cn/ws/v2?service_id=1", True),
        ("wss://msg-frontier-sg.larksuite.com/ws", True),
        ("ws://msg-frontier.feishu.cn/ws", False),
        ("wss://feishu.cn.evil.example/", False),
        ("wss://slack.com/", False),
    ],
)
def test_what_is_feishus_is_told_apart(url: str, fine: bool) -> None:
    assert is_feishus(url, "https://open.feishu.cn") is fine
