"""Codes of pairing and linking: each lets in once, for as long as it lasts, and few are guessed."""

import itertools
from typing import Any

import msgspec
import pytest

from daemon.access import PairingCodes, Stranger, pairing_codes
from daemon.bus import pairs
from daemon.errors import JobRefused
from daemon.jobs import NotifiedChat
from daemon.people import link_codes
from daemon.people.link_codes import LinkCodes, Party, Request
from tests.conftest import Lab, server_ms

ANN = Stranger(id="7", name="Ann", session="tele:7")
BOB = Stranger(id="8", name="Bob", session="tele:8")
SCOPE = "pond:person:tele:7"
_numbers = itertools.count()


async def redeem(paired: PairingCodes, code: str, *, who: str = "", by: str = "admin") -> Any:
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
    paired = PairingCodes(lab.bus, "tele")
    code = await paired.offer(ANN)

    assert await paired.offer(ANN) == code != await paired.offer(BOB)
    assert await redeem(paired, code) == ANN
    assert await paired.offer(ANN) != code


async def test_a_pairing_code_lasts_an_hour_and_lets_nobody_in_after_it(lab: Lab) -> None:
    paired, key = PairingCodes(lab.bus, "tele"), lab.bus.keys.codes("tele")
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
    paired = PairingCodes(lab.bus, "tele")
    code = await paired.offer(ANN)

    assert await redeem(paired, code, who="tele:1 m") == ANN
    assert await paired.open_codes() == 0
    assert await redeem(paired, code) == "wrong"
    assert await redeem(paired, code, who="tele:1 m") == ANN, "the same message, once more"


async def test_no_more_codes_are_open_than_may_be_and_those_that_are_over_do_not_count(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing_codes, "OPEN_MAX", 3)
    paired = PairingCodes(lab.bus, "tele")
    strangers = [Stranger(id=str(number), name="", session=f"tele:{number}") for number in range(5)]

    offered = [bool(await paired.offer(stranger)) for stranger in strangers]

    assert offered == [True, True, True, False, False]
    assert await paired.offer(strangers[0])
    await passed(lab, 3_601)
    assert await paired.offer(strangers[4])
    assert await lab.bus.call("HLEN", lab.bus.keys.codes("tele")) == 1


async def test_an_administrator_guesses_five_codes_in_ten_minutes(lab: Lab) -> None:
    paired, key = PairingCodes(lab.bus, "tele"), lab.bus.keys.guesses("tele", "admin")
    code = await paired.offer(ANN)

    answers = [await redeem(paired, "AAAA-AAAA") for _ in range(5)]
    left_ms = await lab.bus.call("PTTL", key)

    assert answers == ["wrong"] * 5
    assert 540_000 < left_ms <= 600_000
    assert await redeem(paired, code) == "often"
    assert await redeem(paired, code, by="another") == ANN


async def test_near_misses_of_a_code_let_nobody_in(lab: Lab) -> None:
    paired = PairingCodes(lab.bus, "tele")
    code = await paired.offer(ANN)
    near = ["", "-", code[:-1], code[1:], f"{code}A", f"A{code}", code[::-1]]

    answers = [await redeem(paired, each, by=str(number)) for number, each in enumerate(near) if each != code]

    assert set(answers) == {"wrong"}
    assert await redeem(paired, f" {code.lower().replace('-', ' ')} ") == ANN, "case, blanks and dashes do not count"


def party(scope: str = SCOPE, *, message: str = "m") -> Party:
    return Party(scope=scope, chat=NotifiedChat(session=scope.split(":", 2)[2], correlation="c", message_id=message))


async def link(
    linked: LinkCodes, code: str, *, message: str = "", scope: str = "pond:person:web:ann", bot: str = "pond"
) -> Any:
    """What becomes of a code that a person says in another chat."""
    said = party(scope, message=message or str(next(_numbers)))
    return await linked.redeem(code, said, bot=bot, family=[scope])


async def test_a_link_code_is_used_once_within_ten_minutes(lab: Lab) -> None:
    linked, keys = LinkCodes(lab.bus), lab.bus.keys
    code = await linked.offer(party(), "pond")
    names = [keys.pair(code), keys.linking(SCOPE)]

    assert [540_000 < await lab.bus.call("PTTL", name) <= 600_000 for name in names] == [True, True]
    await lab.bus.call("PEXPIRE", keys.pair(code), 300_000)
    found = await link(linked, code, message="m")
    assert isinstance(found, Request)
    assert (found.side, found.own.scope, found.other) == ("member", "pond:person:web:ann", party())
    assert await link(linked, code) == "wrong"
    assert await link(linked, code, message="m") == found, "the same message, once more"
    names.append(keys.linking("pond:person:web:ann"))
    assert [540_000 < await lab.bus.call("PTTL", name) <= 600_000 for name in names] == [True] * 3
    later = await linked.offer(party("pond:person:tele:8"), "pond")
    await lab.bus.call("PEXPIRE", keys.pair(later), 0)
    assert await link(linked, later, scope="pond:person:web:bob") == "wrong"


async def test_a_person_has_one_link_code_and_none_while_a_request_is_open(lab: Lab) -> None:
    linked = LinkCodes(lab.bus)
    first, second = [await linked.offer(party(), "pond") for _ in range(2)]

    assert await link(linked, first) == "wrong"
    assert isinstance(request := await link(linked, second), Request)
    assert await linked.offer(party(), "pond") == await linked.offer(party("pond:person:web:ann"), "pond") == ""
    others = await linked.offer(party("pond:person:web:bob"), "pond")
    assert await link(linked, others) == "busy"
    assert await linked.answer(request, "no", by=request.own.chat, at_ms=await server_ms(lab.bus)) == "no"
    assert isinstance(await link(linked, others), Request)


async def test_a_link_code_is_for_another_chat_of_the_same_bot(lab: Lab) -> None:
    linked = LinkCodes(lab.bus)
    code = await linked.offer(party(), "pond")

    assert await link(linked, code, scope=SCOPE) == "own"
    assert await link(linked, code, bot="lake") == "bot"
    assert isinstance(await link(linked, code), Request)


async def test_a_person_guesses_five_link_codes_in_ten_minutes(lab: Lab) -> None:
    linked = LinkCodes(lab.bus)
    code = await linked.offer(party(), "pond")

    answers = [await link(linked, "AAAA-AAAA") for _ in range(5)]
    left_ms = await lab.bus.call("PTTL", lab.bus.keys.tries("pond:person:web:ann"))

    assert answers == ["wrong"] * 5
    assert 540_000 < left_ms <= 600_000
    assert await link(linked, code) == "often"
    assert isinstance(await link(linked, code, scope="pond:person:web:bob"), Request)


async def test_a_link_code_that_is_there_already_is_not_given_to_somebody_else(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = LinkCodes(lab.bus)
    monkeypatch.setattr(link_codes.secrets, "choice", lambda signs: signs[0])
    code = await linked.offer(party(), "pond")
    await lab.bus.repeat("offer.lua")

    with pytest.raises(JobRefused):
        await linked.offer(party("pond:person:web:bob"), "pond")

    found = await link(linked, code)
    assert isinstance(found, Request)
    assert found.other.scope == SCOPE
