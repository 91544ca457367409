"""``millpond channel``, as a real process."""

import json
from collections.abc import Iterator

import anyio
import pytest

from daemon.access import Access, PairingCodes, Stranger
from daemon.bus import open_bus
from daemon.config import RedisConfig
from tests.intakelab import told
from tests.integration.test_cli import Place, a_place
from tests.tables import each_row

CONFIG = """
[channels.support]
type = "testing"
url = "http://127.0.0.1:9/"
access = { policy = "pairing", allow = ["7"] }

[channels.closed]
type = "testing"
url = "http://127.0.0.1:9/"
enabled = false
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with a_place() as place:
        place.data.mkdir(exist_ok=True)
        (place.data / "millpond.toml").write_text(CONFIG, encoding="utf-8")
        assert place("send", "support:1", "hello").returncode == 0
        yield place


def test_a_stranger_is_let_in_by_code_and_told_so(place: Place) -> None:
    async def offered() -> str:
        async with open_bus(RedisConfig(), place.data) as bus:
            return await PairingCodes(bus, "support").offer(Stranger(id="ann", name="Ann", session="support:ann"))

    code = anyio.run(offered)
    assert place("channel", "pair", "support", "AAAA-AAAA").returncode == 65

    assert place("channel", "pair", "support", code).stdout == "Ann can now talk to the bot on support\n"

    async def looked() -> tuple[str, list[str]]:
        async with open_bus(RedisConfig(), place.data) as bus:
            lines = [reply.text for reply in await told(bus, "support") if reply.session == "support:ann"]
            return (await Access(bus, "support").read())["ann"].state, lines

    state, lines = anyio.run(looked)
    assert state == "paired"
    assert len(lines) == 1 and lines[0].startswith("You have been approved")


def test_people_are_let_in_banned_and_listed_by_id(place: Place) -> None:
    assert json.loads(place("channel", "pair", "support", "--id", "-100", "--json").stdout)["id"] == "-100"
    assert place("channel", "ban", "support", "eve").stdout == "eve is banned from support\n"
    assert place("channel", "ban", "support", "bob").returncode == 0
    assert place("channel", "unban", "support", "bob").stdout == "bob is no longer banned on channel support\n"
    assert "is not banned" in place("channel", "unban", "support", "bob").stderr

    rows = {row["name"]: row for row in json.loads(place("channel", "list", "--json").stdout)}

    assert (rows["support"]["access"], rows["support"]["banned"]) == ("pairing, 1 in the allowlist", 1)
    assert rows["support"]["paired"] >= 1
    assert rows["closed"] == rows["closed"] | {"access": "closed", "enabled": False, "type": "testing"}
    assert rows["web"]["access"] == "everybody" if "web" in rows else True
    assert "pairing, 1 in the allowlist" in place("channel", "list").stdout


@each_row(
    ("words", "code", "told"),
    [
        (("pair", "nope", "ABCD"), 78, "channel nope was not found. Choose one of: "),
        (("pair", "support"), 2, "--id"),
        (("pair", "support", "ABCD", "--id", "7"), 2, "--id"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(place: Place, words: tuple[str, ...], code: int, told: str) -> None:
    done = place("channel", *words)

    assert done.returncode == code
    assert told in done.stderr
