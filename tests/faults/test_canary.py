"""The canary run itself: that it passes, that it would notice, and that it knows who may see what."""

import gzip
import io
import random
import re
import zipfile

import pytest

from tests.canary.canaries import blurred, canary, pieces_in, words_in, words_in_bytes
from tests.canary.knowledge import Knowledge
from tests.canary.sabotage import CHECKS
from tests.canary.scan import unpacked
from tests.chaos.ends import BROKEN, HELD
from tests.chaos.sabotage import Cut
from tests.chaos.trial import tried
from tests.tables import each_row

ANN, PAGE, BOB = "pond:person:web:ann", "pond:person:page:ann", "pond:person:web:bob"


@pytest.mark.slow
@pytest.mark.timeout(2_500)
def test_in_a_short_run_nobody_sees_what_is_not_theirs_and_what_is_forgotten_is_nowhere() -> None:
    least = {
        "operations": 300,
        "refused": 100,
        "knocks": 10,
        "fetched": 10,
        "summaries": 20,
        "forgotten": 2,
        "kills": 1,
    }

    run = tried("tests.canary", "--operations", "300", least=least)

    assert run.code == HELD, run.output
    assert set(run.found.values()) == {0}, run.output


@pytest.mark.slow
@pytest.mark.timeout(5_000)
@pytest.mark.parametrize(
    ("check", "noticed"),
    [
        ("memory", "canaries of others in prompts"),
        pytest.param("parents", "canaries of others in prompts", marks=pytest.mark.long),
        pytest.param("links", "canaries of others in prompts", marks=pytest.mark.long),
        pytest.param("search", "canaries of others in prompts", marks=pytest.mark.long),
        pytest.param("message", "canaries of others in answers of the API", marks=pytest.mark.long),
        pytest.param("token", "answers of the API to clients without its token", marks=pytest.mark.long),
        pytest.param("consent", "canaries of others in prompts", marks=pytest.mark.long),
        pytest.param("forget-memory", "forgotten canaries on the disk", marks=pytest.mark.long),
    ],
)
def test_a_run_without_one_of_the_checks_fails_for_that_reason(check: str, noticed: str) -> None:
    for seed in range(1, 7):
        # What is tried is chance: one short run may try nothing that the check would have stopped.
        words = ("--operations", "150", "--kills", "0", "--sabotage", check, "--seed", str(seed))
        run = tried("tests.canary", *words, least={})
        if run.found[noticed]:
            break

    assert run.code == BROKEN, run.output
    assert run.found[noticed] > 0, run.output
    assert run.counts["turns"] >= 50, run.output


@each_row("check", CHECKS)
def test_what_is_to_be_switched_off_is_there(check: str) -> None:
    for change in CHECKS[check]:
        if isinstance(change, Cut):
            assert change.cut() != change.script.text.decode()
        else:
            assert change.name in vars(change.owner)


@pytest.fixture
def known() -> Knowledge:
    knowledge = Knowledge([ANN, PAGE, BOB])
    for scope, word in ((ANN, "a1"), (PAGE, "p1"), (BOB, "b1")):
        knowledge.say(scope, word)
    return knowledge


def test_what_is_said_belongs_to_its_scope_alone(known: Knowledge) -> None:
    assert known.foreign(ANN, {"a1", "b1", "p1"}) == {"b1", "p1"}
    assert known.others(ANN) == ["b1", "p1"]


def test_a_link_joins_what_both_know_and_say(known: Knowledge) -> None:
    known.link(PAGE, ANN)
    known.say(PAGE, "p2")
    known.say(ANN, "a2")

    assert known.may(ANN) == known.may(PAGE) == {"a1", "a2", "p1", "p2"}
    assert known.may(BOB) == {"b1"}


def test_who_is_unlinked_keeps_its_own_and_what_stands_in_its_chats(known: Knowledge) -> None:
    known.link(PAGE, ANN)
    known.say(PAGE, "p2")
    known.say(ANN, "a2")
    known.unlink(PAGE, in_hand={"a2"})
    known.say(ANN, "a3")

    assert known.may(PAGE) == {"p1", "p2", "a2"}
    assert known.may(ANN) == {"a1", "a2", "a3", "p1", "p2"}


def test_what_is_forgotten_is_forgotten_by_all_who_share_the_memory(known: Knowledge) -> None:
    known.link(PAGE, ANN)
    known.forget(PAGE, ["a1"])
    assert known.gone() == {"a1"}

    known.unlink(PAGE, in_hand={"a1"})
    assert known.foreign(PAGE, {"a1"}) == {"a1"}
    known.forget(ANN, ["p1"])
    assert known.gone() == {"a1"}, "the other keeps its own"


def test_a_canary_is_found_whole_or_by_a_piece_and_not_by_what_looks_for_it() -> None:
    word = canary("annw", 17, random.Random(1))

    assert words_in(f"«{word}».") == words_in_bytes(b"\xff\x00" + word.encode() + b"\n") == {word}
    assert not words_in(blurred(word))
    assert re.search(blurred(word), word)
    assert pieces_in(f"…{word[:18]}…".encode(), [word]) == {word}
    assert not pieces_in(word[:10].encode(), [word])


def test_what_is_packed_is_unpacked() -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("inner.gz", gzip.compress(b"word"))

    assert b"word" in list(unpacked(held.getvalue()))
    assert list(unpacked(b"\x1f\x8bnot packed at all")) == [b"\x1f\x8bnot packed at all"]
