"""Whose page made a request, and which cookie is its site's."""

from hypothesis import given
from hypothesis import strategies as st

from channels.web.access.browser_headers import cookie_in, is_ours, may_be_ours, new_cookie
from tests.tables import each_row

HOSTS = st.sampled_from(["127.0.0.1:8765", "localhost:8765", "[::1]:8765", "pond.example", "pond.example:8443"])
ORIGINS = st.builds("{}://{}".format, st.sampled_from(["http", "https"]), HOSTS)


@each_row(
    ("host", "origin"),
    [
        ("127.0.0.1:8765", "http://127.0.0.1:8765"),
        ("[::1]:8765", "http://[::1]:8765"),
        ("Pond.example", "https://pond.example"),
        ("pond.example:443", "https://pond.example"),
        ("pond.example", "https://pond.example:443"),
        ("pond.example:80", "http://pond.example"),
    ],
)
def test_a_page_at_the_address_that_is_asked_is_ours(host: str, origin: str) -> None:
    assert is_ours({"host": host, "origin": origin})


@each_row(
    "origin",
    [
        *("", "null", "http://", "127.0.0.1:8765", "file://127.0.0.1:8765", "http://127.0.0.1:8765/"),
        *("http://127.0.0.1", "http://127.0.0.1:80", "http://user@127.0.0.1:8765", "http://127.0.0.1:8765.evil"),
        *("http://localhost:8765", "http://evil", "chrome-extension://127.0.0.1:8765", "http://127.0.0.1:8765, x"),
    ],
)
def test_no_other_page_is(origin: str) -> None:
    assert not is_ours({"host": "127.0.0.1:8765", "origin": origin})


def test_a_request_without_a_host_is_nobodys() -> None:
    assert not is_ours({"origin": "http://"})
    assert not is_ours({})


@given(HOSTS, ORIGINS)
def test_an_origin_is_ours_only_with_the_hosts_own_authority(host: str, origin: str) -> None:
    assert is_ours({"host": host, "origin": origin}) == (origin.partition("://")[2] == host)


@given(HOSTS, st.none() | ORIGINS, st.sampled_from(["cross-site", "same-site", "none", "", "x"]))
def test_what_the_browser_says_counts_more_than_the_origin(host: str, origin: str | None, site: str) -> None:
    headers = {"host": host, "sec-fetch-site": site} | ({"origin": origin} if origin else {})

    assert may_be_ours(headers) == (site == "none")
    if site != "none":
        assert not is_ours(headers)
    assert is_ours({**headers, "sec-fetch-site": "same-origin"})


@given(HOSTS, ORIGINS, st.text("abcXYZ019-_", min_size=1))
def test_what_a_browser_was_given_is_found_again_and_only_at_that_address(host: str, origin: str, secret: str) -> None:
    given_ = new_cookie(secret, {"host": host, "origin": origin})
    sent = given_.given().partition(";")[0]

    def asked(at: str) -> object:
        headers = [(b"host", at.encode()), (b"cookie", f"other=1; {sent}; more=2".encode())]
        return cookie_in({"type": "http", "headers": headers})

    assert asked(host) == given_
    assert asked("pond.example:1") is None
    assert ("; Secure" in given_.given()) == origin.startswith("https://") == given_.name.startswith("__Host-")
