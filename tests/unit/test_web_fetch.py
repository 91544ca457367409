"""Pages of the web: what is fetched, what is refused, and what a hostile server can do; with real sockets."""

import time
import zlib
from collections.abc import Sequence
from typing import Any

import anyio
import httpx2
import msgspec
import pytest

from daemon.config import WebToolsConfig
from daemon.errors import ToolError
from daemon.html_text import text_of
from tests.fakes.socks import fake_socks
from tests.fakes.web_site import bomb, cut_off, endless, gzipped, hanging, page, redirect, web_site
from tests.limits import HANG_S
from tests.tables import each_row
from workers.tools.web import address_check, web_access
from workers.tools.web import fetch as fetch_module
from workers.tools.web.address_check import checked_addresses, is_public, url_of
from workers.tools.web.fetch import Fetched, Fetcher, check_allowed, rules_of

MAX_BYTES = 200_000
CONFIG = WebToolsConfig(timeout_s=HANG_S, page_max_bytes=MAX_BYTES, private_hosts=("pond.example",))
HERON = "<html><head><title> A\n heron </title></head><body><p>stands</p></body></html>"


class Names:
    """A resolver: each look-up of a host takes its next answer, and the last one stays."""

    def __init__(self, **answers: Sequence[str]) -> None:
        self.answers = {name.replace("_", "."): list(found) for name, found in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, _port: int) -> list[str]:
        self.asked.append(host)
        found = self.answers.get(host, [host])
        return [found.pop(0) if len(found) > 1 else found[0]]


NEAR = {"pond_example": ["127.0.0.1"]}


async def fetch(url: str, config: WebToolsConfig = CONFIG, names: Names | None = None) -> Fetched:
    with anyio.fail_after(HANG_S):
        return await Fetcher(config, resolve=names or Names(**NEAR)).get(url)


async def text(url: str, *, links: bool = False) -> str:
    return await web_access._read(await fetch(url), links=links)


async def test_a_page_is_read_with_its_title_and_nothing_but_its_address_is_sent() -> None:
    async with web_site({"/a": redirect("/b?x=1#part"), "/b": page(HERON.encode(), Set_Cookie="a=1")}) as site:
        read = await text(f"{site.url}/a#top")

    assert read == f"{site.url}/b?x=1\nA heron\n\nstands"
    for request in site.requests:
        assert {line.split(b":")[0].lower() for line in request.splitlines()[1:-1]} == {
            *(b"host", b"user-agent", b"accept", b"accept-encoding", b"connection")
        }
        assert b"Host: pond.example:" in request


@each_row(
    ("body", "kind", "read"),
    [
        (HERON.encode(), "", "A heron\n\nstands"),
        ("<p>héron</p>".encode("latin-1"), "text/html; charset=iso-8859-1", "\n\nhéron"),
        ("<p>苍鹭站在水中</p>".encode("gbk"), "text/html; charset=gb2312", "\n\n苍鹭站在水中"),
        ("<meta charset=gbk><p>苍鹭站在水中</p>".encode("gbk"), "text/html", "\n\n苍鹭站在水中"),
        ("<p>苍鹭</p>".encode(), "text/html; charset=no-such-charset", "\n\n苍鹭"),
        (b"<p>a\xff\xfeb</p>", "text/html; charset=utf-8", "\n\naÿþb"),
        ("苍鹭".encode()[:-1], "text/plain; charset=utf-8", "\n\n苍"),
        (b'{"a": 1}', "application/json", '\n\n{"a": 1}'),
        (b"", "text/html", "\n\n[The page contains no text.]"),
    ],
)
async def test_a_page_is_read_in_its_charset(body: bytes, kind: str, read: str) -> None:
    async with web_site({"/": page(body, kind)}) as site:
        assert (await text(f"{site.url}/")).endswith(read)


async def test_a_compressed_page_is_unpacked() -> None:
    async with web_site({"/": gzipped(HERON.encode())}) as site:
        assert (await text(f"{site.url}/")).endswith("stands")


@each_row("way", ["bomb", "endless", "long"])
async def test_of_a_body_without_end_only_a_bounded_part_is_taken(way: str) -> None:
    answer = {"bomb": bomb(50_000_000), "endless": endless, "long": page(b"x" * (MAX_BYTES + 1), "text/plain")}[way]
    async with web_site({"/": answer}) as site:
        found = await fetch(f"{site.url}/")

    assert (len(found.body), found.is_cut) == (MAX_BYTES, True)


async def test_a_bomb_is_unpacked_no_further_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked = list[int]()

    class Unpacker:
        def __init__(self, *_arguments: Any) -> None:
            self._real = real(zlib.MAX_WBITS | 32)

        def decompress(self, *arguments: Any) -> bytes:
            unpacked.append(len(found := self._real.decompress(*arguments)))
            return found

    real = zlib.decompressobj
    monkeypatch.setattr(fetch_module.zlib, "decompressobj", Unpacker)
    async with web_site({"/": bomb(50_000_000)}) as site:
        await fetch(f"{site.url}/")

    assert max(unpacked) <= MAX_BYTES + 1


@each_row(
    ("answer", "said"),
    [
        (redirect("/"), "redirects more than 5 times"),
        (redirect("http://127.0.0.1:1/"), "127.0.0.1 is not on the public internet"),
        (redirect("http://[::ffff:7f00:1]/"), "not on the public internet"),
        (redirect("http://other.example/"), "other.example is not on the public internet"),
        (redirect("file:///etc/passwd"), "must begin with http:// or https://"),
        (redirect("http://ann:secret@pond.example/"), "user name or password"),
        (redirect("http://pond.example:abc/"), "redirects to an invalid address"),
        (redirect("http://xn--\xff.example/"), "redirects to an invalid address"),
        (redirect("/\x01"), "redirects to an invalid address"),
        (redirect("/" + "a" * 60_000), "at most 2,000 printable characters"),
        (page(b"x", X="a" * 2_000_000), "was interrupted"),
        (page(b"\x89PNG", "image/png"), "has the type image/png, but web_fetch reads only text"),
        (page(b"x", "text/html", Content_Encoding="br"), "compressed the page in a format that was not requested: br"),
        (page(b"no gzip", "text/html", Content_Encoding="gzip"), "does not match the compression format"),
        (page(b"x", status=500), "HTTP status 500"),
        (cut_off, "was interrupted"),
    ],
)
async def test_a_page_that_cannot_be_read_is_refused_in_a_sentence(answer: object, said: str) -> None:
    names = Names(pond_example=["127.0.0.1"], other_example=["10.0.0.7"])
    async with web_site({"/": answer}) as site:  # type: ignore[dict-item]
        with pytest.raises(ToolError, match=said):
            await web_access._read(await fetch(f"{site.url}/", names=names), links=False)


async def test_a_server_that_says_nothing_is_given_up() -> None:
    async with web_site({"/": hanging}) as site:
        with pytest.raises(ToolError, match="did not load"):
            await fetch(f"{site.url}/", msgspec.structs.replace(CONFIG, timeout_s=0.05))


async def test_a_name_is_resolved_once_and_the_checked_address_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: the second answer for the same name is an address of this machine."""
    monkeypatch.setattr(address_check, "is_public", lambda address: address == "127.0.0.2")
    names = Names(rebinding_example=["127.0.0.2", "127.0.0.1"])
    async with web_site({"/": page(b"public", "text/plain")}, host="127.0.0.2") as site:
        url = site.url.replace("pond", "rebinding")

        found = await fetch(f"{url}/", names=names)
        with pytest.raises(ToolError, match=r"rebinding\.example is not on the public internet"):
            await fetch(f"{url}/", names=names)

    assert found.body == b"public"
    assert names.asked == ["rebinding.example"] * 2
    assert len(site.requests) == 1


async def test_a_proxy_is_given_the_checked_address_and_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_socks(by_name=False) as proxy, web_site({"/": page(b"x", "text/plain")}) as site:
        monkeypatch.setenv("ALL_PROXY", proxy.url)

        await fetch(f"{site.url}/")

    assert proxy.asked == [f"127.0.0.1:{site.url.rpartition(':')[2]}"]


PUBLIC = ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "64:ff9b::5db8:d822", "::ffff:93.184.216.34"]
NOT_PUBLIC = [
    *("127.0.0.1", "127.8.9.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1", "198.18.0.1", "::", "::1", "fe80::1", "fe80::1%eth0"),
    *("fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "2001:db8::1"),
    *("168.63.129.16", "::ffff:168.63.129.16", "64:ff9b::a83f:8110", "192.0.0.192", "192.88.99.1", "3fff::1"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001:0:4136:e378::", "::7f00:1"),
]


@each_row(("address", "public"), [*((each, True) for each in PUBLIC), *((each, False) for each in NOT_PUBLIC)])
def test_only_addresses_of_the_public_internet_are_public(address: str, public: bool) -> None:
    assert is_public(address) == public


@each_row(
    "url",
    [
        *("", "pond", "ftp://pond.example/", "file:///etc/passwd", "javascript:1", "http://", "http:///x", "//x/"),
        *("http://ann@pond.example/", "http://ann:pw@pond.example/", "http://a b/", "http://a\\b/", "http://a\nb/"),
        *("http://pond.example:99999/", "http://[::1/", "http://x/" + "a" * 2_000),
    ],
)
def test_what_is_no_address_of_a_page_is_refused(url: str) -> None:
    with pytest.raises(ToolError):
        url_of(url)


@each_row(
    "host",
    [
        "localhost",
        "127.1",
        "0177.0.0.1",
        "2130706433",
        "0x7f.1",
        "[::1]",
        "127.0.0.1.",
        "LOCALHOST",
        "169.254.169。254",
        "0xa9fea9fe",
        "2852039166",
        "169.254.43518",
        "[::ffff:a9fe:a9fe]",
        "0",
    ],
)
async def test_this_machine_is_refused_however_it_is_written(host: str) -> None:
    with pytest.raises(ToolError):
        await checked_addresses(url_of(f"http://{host}/"), ())


async def test_a_host_with_one_private_address_among_others_is_refused() -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return ["93.184.216.34", "10.0.0.1"]

    with pytest.raises(ToolError, match="not on the public internet"):
        await checked_addresses(httpx2.URL("http://mixed.example/"), (), resolve)


@each_row(
    ("status", "rules", "allowed"),
    [
        (200, b"User-agent: *\nDisallow: /x", False),
        (200, b"User-agent: *\nDisallow: /*/y$", True),
        (200, b"User-agent: *\nDisallow: /\n\nUser-agent: millpond\nAllow: /", True),
        (200, b"\xff\xfe<html>", True),
        (404, b"User-agent: *\nDisallow: /", True),
        (503, b"", False),
    ],
)
def test_robots_txt_is_obeyed(status: int, rules: bytes, allowed: bool) -> None:
    answer = Fetched(url="", status=status, media_type="", charset="", body=rules, is_cut=False)

    def check() -> None:
        check_allowed(rules_of(answer), "https://pond.example/x")

    if allowed:
        check()
    else:
        with pytest.raises(ToolError, match=r"robots\.txt"):
            check()


async def test_a_page_that_keeps_the_parser_busy_is_given_up_and_its_process_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web_access, "READ_TIMEOUT_S", 0.5)
    monkeypatch.setattr(web_access, "text_of", _forever)
    busy = Fetched(url="http://x/", status=200, media_type="text/html", charset="", body=b"", is_cut=False)

    with anyio.fail_after(HANG_S), pytest.raises(ToolError, match="cannot be converted to text"):
        await web_access._read(busy, links=False)


def _forever(*_arguments: object) -> tuple[str, str]:
    time.sleep(10 * HANG_S)
    return "", ""


def test_links_are_shown_when_they_are_wanted() -> None:
    body = b"<p>See <a href='https://pond.example/x'>this</a>.</p>"

    assert text_of(body, "", True, False)[1] == "See this."
    assert "https://pond.example/x" in text_of(body, "", True, True)[1]
