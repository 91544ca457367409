"""Limits on connections and requests: those counted together, the connection that is closed first, and the time."""

import resource
from dataclasses import dataclass, field

import pytest

from channels.http.server_socket import LOOPBACK, Peers, connections_max, peer_of
from channels.web.rate_limit import CLIENTS_MAX, WINDOW_S, RateLimit
from daemon.testing import ManualClock
from tests.tables import each_row


@dataclass(eq=False)
class Connected:
    waits: bool = True
    dropped: list[bool] = field(default_factory=list[bool])

    def drop(self) -> None:
        self.dropped.append(True)


@each_row(
    "host, peer",
    [
        *((host, LOOPBACK) for host in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1")),
        *((host, "192.0.2.7") for host in ("192.0.2.7", "::ffff:192.0.2.7")),
        *((host, "2001:db8:1:2::/64") for host in ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9")),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"), ("fe80::1%eth0", "fe80::/64"), ("", ""), ("socket", "socket"),
    ],
)  # fmt: skip
def test_addresses_that_one_client_can_choose_from_are_one_peer(host: str, peer: str) -> None:
    assert peer_of(host) == peer


@each_row("per_peer, total, others", [(3, 0, 0), (0, 5, 2), (3, 100, 2)])
def test_the_connection_that_has_waited_longest_goes_first(per_peer: int, total: int, others: int) -> None:
    peers = Peers(per_peer=per_peer, total=total)
    other = [Connected() for _ in range(others)]
    for each in other:
        assert peers.opened(each, "other")
    busy, oldest, moved = Connected(waits=False), Connected(), Connected()
    for each in (busy, moved, oldest):
        assert peers.opened(each, "a")
    peers.moved(moved)

    newest = Connected()
    assert peers.opened(newest, "a")

    dropped = [each for each in (busy, oldest, moved, newest, *other) if each.dropped]
    assert dropped == [oldest], "of the peer with the most connections, one that is not at work"
    assert peers.opened(Connected(), "b"), "a peer with few connections is served all the same"


def test_a_connection_is_refused_if_all_others_of_its_peer_are_at_work() -> None:
    peers = Peers(per_peer=2, total=0)
    busy = [Connected(waits=False) for _ in range(2)]
    assert all(peers.opened(each, "a") for each in busy)

    refused, again = Connected(), Connected()
    assert not peers.opened(refused, "a")
    assert peers.opened(again, "a") and refused.dropped, "refused connections do not add up"
    for each in (busy[0], again):
        peers.closed(each)
        peers.closed(each)
    assert peers.opened(Connected(), "a") and not any(each.dropped for each in busy)


@each_row("files, most", [(1_024, 512), (1, 1), (resource.RLIM_INFINITY, 0)])
def test_connections_leave_half_of_the_files_to_the_rest_of_a_process(files: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource, "getrlimit", lambda _what: (files, resource.RLIM_INFINITY))
        assert connections_max() == most


def test_requests_of_a_minute_are_given_back_one_by_one() -> None:
    clock = ManualClock()
    limit = RateLimit(6, clock)

    assert [limit.wait_s("a") for _ in range(7)] == [0, 0, 0, 0, 0, 0, WINDOW_S / 6]
    assert limit.wait_s("b") == 0
    clock.advance(WINDOW_S / 6)
    assert (limit.wait_s("a"), limit.wait_s("a") > 0) == (0, True)
    clock.advance(10 * WINDOW_S)
    assert [limit.wait_s("a") > 0 for _ in range(7)] == [False] * 6 + [True]
    assert {RateLimit(0, clock).wait_s("a") for _ in range(100)} == {0}


def test_a_crowd_of_clients_takes_no_more_memory() -> None:
    limit = RateLimit(1, ManualClock())
    allowed = 0
    for number in range(CLIENTS_MAX + 10):
        limit.wait_s(f"client {number}")
        allowed += limit.wait_s("busy") == 0

    assert len(limit._spent_until) == CLIENTS_MAX
    assert allowed == 1, "a client that still sends is remembered"
