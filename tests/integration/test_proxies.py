"""Proxies of the environment are used for the world outside, and what is wrong with them is told in a sentence."""

import aiohttp
import httpx2
import pytest

from daemon.config.schema import ModelConfig
from daemon.errors import ConfigError
from daemon.model import Answer, Request, connect
from daemon.proxies import connector_of, http_client, http_proxy_of, proxy_of
from tests.fakes.openai_server import FakeOpenAI, Say, fake_openai
from tests.fakes.socks import fake_socks

NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def outside(server: FakeOpenAI) -> str:
    """The server's address under a name that only the proxy knows."""
    return server.base_url.replace("127.0.0.1", "model.example")


async def answer_at(base_url: str) -> str:
    model = await connect(ModelConfig(base_url=base_url, name="m"))
    asked = Request(messages=[b'{"role":"user","content":"hi"}'], max_completion_tokens=10)
    try:
        return "".join([chunk.text async for chunk in model.stream(asked) if isinstance(chunk, Answer)])
    finally:
        await model.aclose()


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "socks"])
async def test_a_model_is_asked_through_a_socks_proxy(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_socks() as proxy, fake_openai([Say("hello")]) as server:
        monkeypatch.setenv("ALL_PROXY", proxy.url.replace("socks5", scheme))

        assert await answer_at(outside(server)) == "hello"
        assert proxy.asked == [outside(server).split("/")[2]]


async def test_what_is_near_is_asked_without_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_socks() as proxy, fake_openai([Say("hello")]) as server:
        monkeypatch.setenv("ALL_PROXY", proxy.url)

        assert await answer_at(server.base_url) == "hello"
        assert proxy.asked == []


async def test_a_client_of_slacks_goes_through_a_socks_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_socks() as proxy, fake_openai() as server:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        address = outside(server)

        async with (
            aiohttp.ClientSession(connector=connector_of(address)) as session,
            session.get(f"{address}/models", proxy=http_proxy_of(address)) as response,
        ):
            assert response.status == 404

        assert proxy.asked == [address.split("/")[2]]


def test_hosts_of_no_proxy_are_reached_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv(
        "NO_PROXY", "inside.example,.home.example, *.star.example,10.0.0.0/8,port.example:81,::1/128,,bad/9"
    )
    direct = ("inside.example", "a.home.example", "a.star.example", "star.example", "10.1.2.3", "port.example:81")
    proxied = ("out.example", "notstar.example", "11.1.2.3", "port.example:82", "bad", "192.168.0.1")

    found = {host: proxy_of(f"https://{host}/v1") for host in (*direct, *proxied)}

    assert found == {**dict.fromkeys(direct), **dict.fromkeys(proxied, "socks5://127.0.0.1:9")}


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ALL_PROXY", "socks4://127.0.0.1:9", "socks4://"),
        ("HTTPS_PROXY", "http://[::1", "does not have a valid address"),
        ("SSL_CERT_FILE", "/nowhere/certificates.pem", "SSL_CERT_FILE"),
    ],
)
async def test_what_cannot_be_used_is_a_sentence(name: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, value)

    with pytest.raises(ConfigError, match=told):
        http_client("https://model.example/v1", httpx2.AsyncClient)
