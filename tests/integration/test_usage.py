"""Accounts and limits on a real server: counted once whatever comes twice, and looked at before a turn begins."""

import datetime as dt
from collections.abc import Mapping

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from daemon.bus import Bus, pairs
from daemon.config import BotConfig, CostConfig, EachConfig, LimitsConfig
from daemon.usage import (
    Allowance,
    Amount,
    Estimate,
    Limits,
    Refusal,
    UsageBook,
    User,
    day_of,
)
from daemon.usage.usage_limits import MARGIN_S
from tests.conftest import Lab
from tests.tables import each_row

DAY = "2026-11-20"
ANN = User(bot="pond", session="web:ann", channel="web", sender_id="ann")
BOB = User(bot="pond", session="web:team", channel="web", sender_id="bob")


def used(tokens_in: int = 100, tokens_out: int = 10, *, model: str = "m", nano: int = 5) -> dict[str, Amount]:
    amount = Amount(messages=1, calls=2, tokens_in=tokens_in, cached_in=7, tokens_out=tokens_out)
    amount.cacheable_in, amount.costs_nano, amount.cached_nano = 10, {"EUR": nano}, {"EUR": 1}
    return {model: amount}


async def test_what_was_used_stands_in_every_account(bus: Bus) -> None:
    book = UsageBook(bus)
    await book.note("web:ann#0", ANN, DAY, used(100) | used(30, model="org/other:1", nano=9))
    await book.note("web:team#0", BOB, DAY, used(1))
    await book.note("web:team#2", BOB, "2026-11-21", used(2))

    days = [DAY, "2026-11-21", "2026-11-22"]
    assert {name: amount.tokens_in for name, amount in (await book.read(days, by="day")).items()} == {
        DAY: 131,
        "2026-11-21": 2,
    }
    for by, expected in {
        "bot": {"pond": 133}, "person": {"pond web:ann": 130, "pond web:bob": 3},
        "session": {"web:ann": 130, "web:team": 3}, "model": {"m": 103, "org/other:1": 30},
    }.items():  # fmt: skip
        rows = await book.read(days, by=by)  # type: ignore[arg-type]
        assert {name: amount.tokens_in for name, amount in rows.items()} == expected
        assert list(rows) == list(expected)
        assert sum(amount.costs_nano["EUR"] for amount in rows.values()) == 24
    assert (await book.read(days, by="bot"))["pond"] == Amount(
        messages=4, calls=8, tokens_in=133, cached_in=28, cacheable_in=40, tokens_out=40,
        costs_nano={"EUR": 24}, cached_nano={"EUR": 4},
    )  # fmt: skip
    assert (await book.read(days, by="bot"))["pond"].cached_share == 0.7


async def test_a_note_that_comes_twice_or_late_counts_once(lab: Lab) -> None:
    book = UsageBook(lab.bus)
    assert await book.note("web:ann#0#1", ANN, DAY, used())
    before = await lab.dump()
    assert not await book.note("web:ann#0#1", ANN, DAY, used())
    assert await lab.bus.repeat("note.lua") == b"over"
    assert await lab.dump() == before
    assert await book.note("web:ann#0#2", ANN, DAY, used())
    await lab.bus.repeat("note.lua", back=3)

    assert (await book.read([DAY], by="session"))["web:ann"].calls == 4


async def test_accounts_end_after_400_days_and_what_was_noted_after_two(bus: Bus) -> None:
    await UsageBook(bus).note("a", ANN, DAY, used())

    for kind in ("bot", "person", "session", "model"):
        assert 399 * 86_400 < await bus.call("TTL", bus.keys.usage(DAY, kind)) <= 400 * 86_400
    assert 86_400 < await bus.call("TTL", bus.keys.usage_noted(DAY)) <= 2 * 86_400


async def test_currencies_are_never_added_to_each_other(bus: Bus) -> None:
    book = UsageBook(bus)
    await book.note("a", ANN, DAY, {"m": Amount(calls=1, costs_nano={"EUR": 12_300_000, "": 5_000_000_000})})
    await book.note("b", ANN, DAY, {"m": Amount(calls=1, costs_nano={"US $": 2})})

    (row,) = (await book.read([DAY], by="day")).values()
    person, chat, _ = await book.of(ANN, DAY, currencies=("EUR", "US $"))
    assert row.costs_nano == {"EUR": 12_300_000, "": 5_000_000_000, "US $": 2}
    assert row.costs() == "5.0000, 0.0123 EUR, 0.0000 US $"
    assert person.costs_nano == chat.costs_nano == {"EUR": 12_300_000, "US $": 2}


async def test_what_a_person_used_is_counted_over_their_chats_and_by_bot(bus: Bus) -> None:
    book = UsageBook(bus)
    in_group = User(bot="pond", session="web:team", channel="web", sender_id="ann")
    other_bot = User(bot="heron", session="web:ann", channel="web", sender_id="ann")
    for number, user in enumerate((ANN, in_group, BOB, other_bot)):
        await book.note(str(number), user, DAY, used(10**number))

    person, chat, bot = await book.of(ANN, DAY)
    assert (person.tokens_in, chat.tokens_in, bot.tokens_in) == (11, 1_001, 111)
    assert await book.of(ANN, "2026-11-21") == (Amount(), Amount(), Amount())


@each_row(
    ("zone", "day"), [("UTC", "2026-11-20"), ("Asia/Shanghai", "2026-11-21"), ("America/Los_Angeles", "2026-11-20")]
)
def test_a_day_is_that_of_the_time_zone(zone: str, day: str) -> None:
    assert day_of(dt.datetime(2026, 11, 20, 16, 0, tzinfo=dt.UTC), zone) == day


@given(
    st.lists(
        st.builds(Amount, calls=st.integers(0, 9), costs_nano=st.dictionaries(st.sampled_from("ab"), st.integers(0, 9)))
    )
)
def test_amounts_add_up_in_any_order(amounts: list[Amount]) -> None:
    one, other = Amount(), Amount()
    for amount in amounts:
        one.add(amount)
    for amount in reversed(amounts):
        other.add(amount)

    assert one == other


CALL = Estimate(model="m", tokens_in=60, tokens_out=50, nano_in=6, nano_out=4, currency="EUR")
"""110 tokens, 10 nano."""


def allowed(*, tokens: Mapping[str, int] | None = None, nano: Mapping[str, int] | None = None) -> Allowance:
    return Allowance(tokens=EachConfig(**(tokens or {})), nano=EachConfig(**(nano or {})), currency="EUR")


def told(refusal: Refusal | None) -> tuple[str, str]:
    if refusal is None:
        return "", ""
    return ("spent" if refusal.used_up else "busy"), refusal.whose


@each_row(
    ("limits", "when_used", "when_reserved"),
    [
        ({}, ("", ""), ("", "")),
        ({"tokens": {"person": 111, "chat": 111, "bot": 111}}, ("", ""), ("", "")),
        ({"tokens": {"person": 110}}, ("spent", "person"), ("busy", "person")),
        ({"tokens": {"chat": 110}}, ("spent", "chat"), ("busy", "chat")),
        ({"tokens": {"bot": 110}}, ("spent", "bot"), ("busy", "bot")),
        ({"tokens": {"person": 110, "chat": 110, "bot": 110}}, ("spent", "chat"), ("busy", "chat")),
        ({"nano": {"person": 11}}, ("", ""), ("", "")),
        ({"nano": {"person": 10}}, ("spent", "person"), ("busy", "person")),
        ({"nano": {"chat": 10}}, ("spent", "chat"), ("busy", "chat")),
        ({"nano": {"bot": 10}}, ("spent", "bot"), ("busy", "bot")),
    ],
)
async def test_a_limit_refuses_a_call_when_what_was_used_or_is_reserved_reaches_it(
    bus: Bus, limits: Mapping[str, Mapping[str, int]], when_used: tuple[str, str], when_reserved: tuple[str, str]
) -> None:
    used_day, reserved_day = "2026-11-20", "2026-11-21"
    await UsageBook(bus).note("a", ANN, used_day, used(100, 10, nano=10))
    await Limits(bus).reserve(ANN, reserved_day, allowed(), call="a", estimate=CALL)

    found = [
        told(await Limits(bus).reserve(ANN, day, allowed(**limits))) for day in (used_day, reserved_day, "2026-11-22")
    ]
    assert found == [when_used, when_reserved, ("", "")]


async def quotas(bus: Bus) -> list[tuple[int, int, int, int]]:
    """Of Ann, her chat and the bot: tokens used and reserved, money used and reserved."""
    reserved = dict(pairs(await bus.call("HGETALL", bus.keys.usage_reserved(DAY))))
    names = (f"{ANN.person} person", f"{ANN.session} chat", f"{ANN.bot} bot")
    amounts = await UsageBook(bus).of(ANN, DAY, currencies=["EUR"])
    return [
        (
            *(amount.tokens, int(reserved.get(f"{name} tokens".encode(), 0))),
            *(amount.costs_nano.get("EUR", 0), int(reserved.get(f"{name} nano".encode(), 0))),
        )
        for name, amount in zip(names, amounts, strict=True)
    ]


async def test_a_noted_call_counts_what_it_used_instead_of_what_it_had_reserved(lab: Lab) -> None:
    limits, book = Limits(lab.bus), UsageBook(lab.bus)
    await limits.reserve(ANN, DAY, allowed(), call="web:ann#0#1", estimate=CALL)
    await limits.reserve(ANN, DAY, allowed(), call="web:ann#0#1", estimate=CALL)

    assert await quotas(lab.bus) == [(0, 110, 0, 10)] * 3
    await book.note("web:ann#0#1", ANN, DAY, used(5, 1, nano=3))
    assert await quotas(lab.bus) == [(6, 0, 3, 0)] * 3
    before = await lab.dump()
    await lab.bus.repeat("reserve.lua", back=1)
    assert await lab.dump() == before, "a reservation that arrives late is none"
    assert lab.bus.keys.usage(DAY, "reserved") not in before, "nothing stays of a reservation"


async def test_a_reservation_whose_process_died_counts_as_its_prompt_when_somebody_would_have_to_wait(bus: Bus) -> None:
    limits, book, dying = Limits(bus), UsageBook(bus), replace(CALL, lasts_s=-MARGIN_S)
    await limits.reserve(ANN, DAY, allowed(), call="dead", estimate=dying)

    refusals = [
        told(await limits.reserve(ANN, DAY, allowed(tokens={"person": limit}), call=call, estimate=CALL))
        for call, limit in (("a", 60), ("b", 61), ("c", 61))
    ]
    assert refusals == [("spent", "person"), ("", ""), ("busy", "person")]
    assert (await quotas(bus))[0] == (60, 110, 6, 10)
    assert (await book.read([DAY], by="model"))["m"] == Amount(
        calls=1, estimated=1, tokens_in=60, costs_nano={"EUR": 6}
    )
    assert not await book.note("dead", ANN, DAY, used()), "it was accounted for"


async def test_of_many_calls_at_once_as_many_are_made_as_limits_have_room_for(bus: Bus) -> None:
    """Each reserves 110 of 500 tokens: the fifth is the one that may pass the limit."""
    made: list[int] = []

    async def call(number: int) -> None:
        user = User(bot="pond", session=f"web:{number}", channel="web", sender_id=str(number % 2))
        if await Limits(bus).reserve(user, DAY, allowed(tokens={"bot": 500}), call=f"{number}", estimate=CALL) is None:
            made.append(number)

    async with anyio.create_task_group() as tg:
        for number in range(40):
            tg.start_soon(call, number)

    assert len(made) == 5


def test_the_share_for_memory_is_kept_from_all_others() -> None:
    limits = LimitsConfig(
        tokens_per_day=EachConfig(person=1_000, bot=1),
        cost_per_day=CostConfig(chat=0.5),
        reserved_for_memory=0.2,
    )
    others, memory = (Allowance.of(BotConfig(limits=limits), for_memory=each) for each in (False, True))

    assert (others.tokens, others.nano) == (EachConfig(person=800, bot=1), EachConfig(chat=400_000_000))
    assert (memory.tokens, memory.nano) == (EachConfig(person=1_000, bot=1), EachConfig(chat=500_000_000))


async def test_a_session_is_told_once_a_day_that_its_tokens_are_used_up(lab: Lab) -> None:
    limits, some = Limits(lab.bus), allowed(tokens={"bot": 1})
    for day in (DAY, "2026-11-21"):
        await UsageBook(lab.bus).note("a", ANN, day, used())

    tells = [
        refusal is not None and refusal.tell
        for user, message in (*((ANN, "1-0"), (ANN, "1-0"), (ANN, "2-0"), (ANN, ""), (BOB, "1-0")),)
        for refusal in [await limits.reserve(user, DAY, some, message=message)]
    ]
    assert tells == [True, True, False, False, True]
    assert (await lab.bus.repeat("reserve.lua", back=5))[2] == 1
    again = await limits.reserve(ANN, "2026-11-21", some, message="3-0")
    assert again is not None and again.tell


async def take(limits: Limits, number: int, user: User = ANN, *, count: int = 1, claim: str = "", **each: int) -> float:
    room = await limits.take(user, EachConfig(**each), message=f"{number}-0", count=count, claim=claim or str(number))
    return room.wait_s


@pytest.mark.parametrize("kind", ["chat", "person", "bot"])
async def test_as_many_as_allowed_come_at_once_and_the_next_one_waits(bus: Bus, kind: str) -> None:
    limits = Limits(bus)

    waits = [await take(limits, number, **{kind: 3}) for number in range(1, 5)]
    assert waits[:3] == [0, 0, 0]
    assert 19 < waits[3] <= 20


async def test_a_bucket_fills_up_again_and_holds_no_more_than_a_minute(bus: Bus) -> None:
    limits = Limits(bus)
    for number in range(1, 4):
        await take(limits, number, chat=3)
    await age(bus, bus.keys.bucket("pond", "chat", "web:ann"), 21)
    assert [await take(limits, number, chat=3) > 0 for number in (4, 5)] == [False, True]

    await age(bus, bus.keys.bucket("pond", "chat", "web:ann"), 3_600)
    assert [await take(limits, number, chat=3) > 0 for number in (5, 6, 7, 8)] == [False, False, False, True]


async def age(bus: Bus, key: str, seconds: int) -> None:
    """As if a bucket had not been touched for so long."""
    await bus.call("HINCRBY", key, "at", -1000 * seconds)


async def test_a_clock_that_was_set_back_fills_nothing(bus: Bus) -> None:
    limits = Limits(bus)
    await take(limits, 1, chat=1)
    await age(bus, bus.keys.bucket("pond", "chat", "web:ann"), -3_600)

    assert 59 < await take(limits, 2, chat=1) <= 60


async def test_room_is_taken_out_of_all_buckets_or_none_and_once_for_a_message(lab: Lab) -> None:
    limits, each = Limits(lab.bus), EachConfig(chat=5, person=5, bot=1)
    await limits.take(BOB, each, message="1-0", count=1, claim="b")
    before = await lab.dump()
    assert (await limits.take(ANN, each, message="2-0", count=1, claim="a")).wait_s > 0
    after = await lab.dump()
    assert [key for key in after if before.get(key) != after[key]] == [lab.bus.keys.bucket("pond", "chat", "web:ann")]

    each = EachConfig(chat=2)
    for _ in range(3):
        assert (await limits.take(ANN, each, message="2-0", count=1, claim="a")).wait_s == 0
    await limits.take(ANN, each, message="10-0", count=1, claim="a")
    taken = await lab.dump()
    await lab.bus.repeat("bucket.lua", back=2)

    assert await lab.dump() == taken
    assert (await limits.look(ANN, each)).chat == 0


async def test_more_at_once_than_a_bucket_holds_are_let_in_when_it_is_full(bus: Bus) -> None:
    limits = Limits(bus)

    assert await take(limits, 1, count=30, chat=5) == 0
    assert await take(limits, 2, count=30, chat=5) > 59


async def test_whoever_waits_is_told_once_in_a_flood(lab: Lab) -> None:
    limits, each = Limits(lab.bus), EachConfig(chat=1)

    async def told(message: str, claim: str) -> bool:
        return (await limits.take(ANN, each, message=message, count=1, claim=claim)).tell

    assert [await told("1-0", "1"), await told("2-0", "2"), await told("2-0", "2"), await told("2-0", "3")] == [
        *(False, True, True, False)
    ]
    await age(lab.bus, lab.bus.keys.bucket("pond", "chat", "web:ann"), 3_600)
    assert [await told("2-0", "4"), await told("3-0", "5")] == [False, True]


async def test_buckets_are_looked_at_without_taking_and_end_by_themselves(bus: Bus) -> None:
    limits, each = Limits(bus), EachConfig(chat=3, person=9)
    await limits.take(ANN, each, message="1-0", count=1, claim="1")

    looks = [await limits.look(ANN, each) for _ in range(2)]
    assert [(room.wait_s, room.chat, room.person, room.bot) for room in looks] == [(0, 2, 8, 0)] * 2
    for kind, name in (("chat", "web:ann"), ("person", "web:ann")):
        assert 0 < await bus.call("PTTL", bus.keys.bucket("pond", kind, name)) <= 120_000


async def test_many_at_once_get_exactly_what_there_is(bus: Bus) -> None:
    limits, admitted = Limits(bus), []

    async def come(number: int) -> None:
        user = User(bot="pond", session=f"web:{number}", channel="web", sender_id=str(number))
        admitted.append(await take(limits, 1, user, bot=7) == 0)

    async with anyio.create_task_group() as tg:
        for number in range(40):
            tg.start_soon(come, number)

    assert sum(admitted) == 7
