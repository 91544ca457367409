"""``sentinel://`` addresses: what is read from them, what is refused, and what is never shown."""

import pytest

from daemon.config import Secret, masked_url
from daemon.config.address import sentinel_address
from tests.tables import each_row


@each_row(
    ("text", "sentinels", "rest"),
    [
        ("sentinel://a/pond", (("a", 26379),), ("pond", "", "", "", 0)),
        ("sentinel://a:1,[::1]:2,10.0.0.3/p", (("a", 1), ("::1", 2), ("10.0.0.3", 26379)), ("p", "", "", "", 0)),
        ("sentinel://:p%40ss@a:1/p?db=3", (("a", 1),), ("p", "", "p@ss", "", 3)),
        ("sentinel://ann:s@a/p?sentinel_password=t%26", (("a", 26379),), ("p", "ann", "s", "t&", 0)),
    ],
)
def test_an_address_says_where_the_sentinels_are_and_how_to_log_in(
    text: str, sentinels: tuple[tuple[str, int], ...], rest: tuple[object, ...]
) -> None:
    found = sentinel_address(text)

    assert found.sentinels == sentinels
    assert rest == (
        *(found.service, found.user, found.password.reveal(), found.sentinel_password.reveal(), found.database),
    )


@each_row(
    ("text", "tls"),
    [
        ("sentinel://a/pond", None),
        ("sentinels://a/pond", {"ssl_check_hostname": True}),
        (
            "sentinels://a/pond?ssl_ca_certs=%2Fetc%2Fca.pem&ssl_check_hostname=false&sentinel_user=u",
            {"ssl_ca_certs": "/etc/ca.pem", "ssl_check_hostname": False},
        ),
    ],
)
def test_an_address_says_whether_and_how_tls_is_used(text: str, tls: dict[str, object] | None) -> None:
    assert sentinel_address(text).tls == tls


@each_row(
    "text",
    [
        "sentinel://a/pond?ssl_ca_certs=x", "sentinels://a/pond?ssl_check_hostname=no",
        "sentinel://a", "sentinel://a/", "sentinel:///pond", "sentinel://a:x/pond", "sentinel://a:0/pond",
        "sentinel://a,/pond", "sentinel://a/pond/1", "sentinel://a/pond?db=x", "sentinel://a/pond?timeout=3",
        "sentinel://a b/pond", "sentinel://a:70000/pond", "sentinel://[::1/pond",
    ],
)  # fmt: skip
def test_another_form_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"^sentinel://"):
        sentinel_address(text)


def test_no_password_of_an_address_is_shown() -> None:
    shown = masked_url(Secret("sentinel://:secret@a:1,b:2/pond?db=1&sentinel_password=hidden"))

    assert shown == "sentinel://:********@a:1,b:2/pond?db=1&sentinel_password=********"
