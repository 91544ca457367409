"""Codes of pairing and linking: each lets in once, for as long as it lasts, and few are guessed."""

import itertools
from typing import Any

import msgspec
import pytest

from daemon.access import Pairing, Stranger, pairing
from daemon.bus import pairs
from daemon.errors import JobRefused
from daemon.jobs import Tell
from daemon.people import codes
from daemon.people.codes import Codes, Redeemed
from tests.conftest import Lab, server_ms

ANN = Stranger(id="7", name="Ann", session="tele:7")
BOB = Stranger(id="8", name="Bob", session="tele:8")
SCOPE = "pond:person:tele:7"
CHAT = Tell(session="tele:7", correlation="c")
_numbers = itertools.count()


async def redeem(paired: Pairing, code: str, *, who: str = "", by: str = "admin") -> Any:
    """What becomes of a code that an administrator says, in a message of its own."""
    who = who or f"tele:1 {next(_numbers)}"
    return await paired.redeem(code, who=who, by=by, time="2026-11-20T09:00:00.000Z")


async def passed(lab: Lab, seconds: float) -> None:
    """Let so much of the codes' time go by, and the server not yet have removed them."""
    key = lab.bus.keys.codes("tele")
    for stranger, raw in pairs(await lab.bus.call("HGETALL", key)):
        code = msgspec.json.decode(raw)
        code["until"] -= seconds * 1000
        await lab.bus.call("HSET", key, stranger, msgspec.json.encode(code))


async def test_a_stranger_who_asks_again_gets_the_same_code_until_it_is_used(lab: Lab) -> None:
    paired = Pairing(lab.bus, "tele")
    code = await paired.offer(ANN)

    assert await paired.offer(ANN) == code != await paired.offer(BOB)
    assert await redeem(paired, code) == ANN
    assert await paired.offer(ANN) != code


async def test_a_pairing_code_lasts_an_hour_and_lets_nobody_in_after_it(lab: Lab) -> None:
    paired, key = Pairing(lab.bus, "tele"), lab.bus.keys.codes("tele")
    before_ms = await server_ms(lab.bus)
    code = await paired.offer(ANN)
    until_ms = msgspec.json.decode(await lab.bus.call("HGET", key, ANN.id))["until"]

    assert before_ms + 3_600_000 <= until_ms <= await server_ms(lab.bus) + 3_600_000
    assert 0 < await lab.bus.call("PTTL", key) <= 3_600_000
    assert await paired.open_codes() == 1
    await passed(lab, 3_601)
    assert await paired.open_codes() == 0
    assert await redeem(paired, code) == "wrong"
    assert await paired.offer(ANN) != code, "what is over is not given again"


async def test_a_pairing_code_lets_in_once_and_is_open_no_more(lab: Lab) -> None:
    paired = Pairing(lab.bus, "tele")
    code = await paired.offer(ANN)

    assert await redeem(paired, code, who="tele:1 m") == ANN
    assert await paired.open_codes() == 0
    assert await redeem(paired, code) == "wrong"
    assert await redeem(paired, code, who="tele:1 m") == ANN, "the same message, once more"


async def test_no_more_codes_are_open_than_may_be_and_those_that_are_over_do_not_count(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "OPEN_MAX", 3)
    paired = Pairing(lab.bus, "tele")
    strangers = [Stranger(id=str(number), name="", session=f"tele:{number}") for number in range(5)]

    offered = [bool(await paired.offer(stranger)) for stranger in strangers]

    assert offered == [True, True, True, False, False]
    assert await paired.offer(strangers[0])
    await passed(lab, 3_601)
    assert await paired.offer(strangers[4])
    assert await lab.bus.call("HLEN", lab.bus.keys.codes("tele")) == 1


async def test_an_administrator_guesses_five_codes_in_ten_minutes(lab: Lab) -> None:
    paired, key = Pairing(lab.bus, "tele"), lab.bus.keys.guesses("tele", "admin")
    code = await paired.offer(ANN)

    answers = [await redeem(paired, "AAAA-AAAA") for _ in range(5)]
    left_ms = await lab.bus.call("PTTL", key)

    assert answers == ["wrong"] * 5
    assert 540_000 < left_ms <= 600_000
    assert await redeem(paired, code) == "often"
    assert await redeem(paired, code, by="another") == ANN


async def test_near_misses_of_a_code_let_nobody_in(lab: Lab) -> None:
    paired = Pairing(lab.bus, "tele")
    code = await paired.offer(ANN)
    near = ["", "-", code[:-1], code[1:], f"{code}A", f"A{code}", code[::-1]]

    answers = [await redeem(paired, each, by=str(number)) for number, each in enumerate(near) if each != code]

    assert set(answers) == {"wrong"}
    assert await redeem(paired, f" {code.lower().replace('-', ' ')} ") == ANN, "case, blanks and dashes do not count"


async def link(
    linked: Codes, code: str, *, who: str = "", scope: str = "pond:person:web:ann", bot: str = "pond"
) -> Any:
    """What becomes of a code that a person says in another chat."""
    return await linked.redeem(code, who=who or f"web:ann {next(_numbers)}", bot=bot, family=[scope])


async def test_a_link_code_links_once_for_ten_minutes(lab: Lab) -> None:
    linked = Codes(lab.bus)
    first, second = [await linked.offer(SCOPE, "pond", CHAT) for _ in range(2)]
    key = lab.bus.keys.pair(first)

    assert 540_000 < await lab.bus.call("PTTL", key) <= 600_000
    found = await link(linked, first, who="web:ann m")
    assert isinstance(found, Redeemed)
    assert (found.scope, found.chat) == (SCOPE, CHAT)
    assert await link(linked, first) == "wrong"
    assert await link(linked, first, who="web:ann m") == found, "the same message, once more"
    assert await lab.bus.call("PTTL", key) > 0, "also once it was used"
    await lab.bus.call("PEXPIRE", lab.bus.keys.pair(second), 0)
    assert await link(linked, second) == "wrong"


async def test_a_link_code_is_for_another_chat_of_the_same_bot(lab: Lab) -> None:
    linked = Codes(lab.bus)
    code = await linked.offer(SCOPE, "pond", CHAT)

    assert await link(linked, code, scope=SCOPE) == "own"
    assert await link(linked, code, bot="lake") == "bot"
    assert isinstance(await link(linked, code), Redeemed)


async def test_a_person_guesses_five_link_codes_in_ten_minutes(lab: Lab) -> None:
    linked = Codes(lab.bus)
    code = await linked.offer(SCOPE, "pond", CHAT)

    answers = [await link(linked, "AAAA-AAAA") for _ in range(5)]
    left_ms = await lab.bus.call("PTTL", lab.bus.keys.tries("pond:person:web:ann"))

    assert answers == ["wrong"] * 5
    assert 540_000 < left_ms <= 600_000
    assert await link(linked, code) == "often"
    assert isinstance(await link(linked, code, scope="pond:person:web:bob"), Redeemed)


async def test_a_link_code_that_is_there_already_is_not_given_to_somebody_else(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = Codes(lab.bus)
    monkeypatch.setattr(codes.secrets, "choice", lambda signs: signs[0])
    code = await linked.offer(SCOPE, "pond", CHAT)
    await lab.bus.repeat("offer.lua")

    with pytest.raises(JobRefused):
        await linked.offer("pond:person:web:bob", "pond", CHAT)

    found = await link(linked, code)
    assert isinstance(found, Redeemed)
    assert found.scope == SCOPE
