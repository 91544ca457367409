"""Who the owner is, found out at a Bot API that fails in every way; whatever others wrote stays where it is."""

from collections.abc import AsyncIterator

import anyio
import pytest

import daemon.setup.platforms.telegram_pairing
from daemon.config import Secret
from daemon.setup.answers import Owner
from daemon.setup.platforms.telegram_pairing import BotApi, TelegramSaysNo, bot_api, greet, new_code, wait_for_owner
from tests.fakes.telegram import Cut, FakeTelegram, Fault, Garbled, Hang, Page, Refuse, fake_telegram
from tests.limits import HANG_S

CODE = "ABCDEFGH2345"


@pytest.fixture
async def telegram(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> AsyncIterator[FakeTelegram]:
    hangs = "Hang" in request.node.name
    monkeypatch.setattr(daemon.setup.platforms.telegram_pairing, "PAUSE_S", 0.01)
    monkeypatch.setattr(daemon.setup.platforms.telegram_pairing, "LOOK_S", 0.01)
    monkeypatch.setattr(daemon.setup.platforms.telegram_pairing, "POLL_S", 0 if hangs else 1)
    monkeypatch.setattr(daemon.setup.platforms.telegram_pairing, "CALL_S", 0.2 if hangs else HANG_S)
    async with fake_telegram() as server:
        yield server


@pytest.fixture
async def api(telegram: FakeTelegram) -> AsyncIterator[BotApi]:
    async with bot_api(Secret(telegram.bot.token), telegram.base_url) as api:
        yield api


async def paired(api: BotApi) -> Owner | None:
    return await wait_for_owner(api, CODE, say=lambda _: None, wait_s=HANG_S)


@pytest.mark.parametrize(
    "fault",
    [Refuse(429, retry_after=0), Refuse(500), Refuse(502), Page(), Cut(), Cut(acted=False), Garbled(), Hang()],
    ids=lambda fault: type(fault).__name__,
)
async def test_a_bot_api_that_fails_is_asked_again(telegram: FakeTelegram, api: BotApi, fault: Fault) -> None:
    telegram.faults.on("getUpdates", fault, fault)
    ann = telegram.direct(telegram.person("Ann", id=4711))
    ann.say(f"/start {CODE}")

    assert await paired(api) == Owner(id="4711", name="Ann")


async def test_an_update_that_cannot_be_taken_away_stays(telegram: FakeTelegram, api: BotApi) -> None:
    telegram.direct(telegram.person("Ann", id=4711)).say(f"/start {CODE}")
    telegram.faults.on("getUpdates", None, Refuse(500))

    assert await paired(api) == Owner(id="4711", name="Ann")
    assert len(telegram.bot.updates) == 1


async def test_only_a_person_who_sends_the_code_directly_is_the_owner(telegram: FakeTelegram, api: BotApi) -> None:
    eve, bot = telegram.person("Eve"), telegram.person("Robot", is_bot=True)
    group = telegram.group()
    group.say(f"/start {CODE}", by=eve)
    telegram.direct(bot).say(f"/start {CODE}")
    telegram.direct(eve).say("/start ABCDEFGH234")
    telegram.direct(eve).say(f"/start {CODE}5")
    telegram.bot.push("message", {"message_id": 5, "text": CODE, "from": 7, "chat": None})
    telegram.bot.push("strange_kind", {"what": [1]})
    telegram.bot.push("message", {"message_id": 6, "text": CODE, "from": {"id": "x"}, "chat": {"type": "private"}})
    found: list[Owner | None] = []

    async def wait() -> None:
        found.append(await paired(api))

    async with anyio.create_task_group() as tg:
        tg.start_soon(wait)
        await telegram.until(lambda: len(telegram.called("getUpdates")) > 2)
        assert found == []
        telegram.direct(telegram.person("Ann", id=4711)).say(CODE.lower())

    assert found == [Owner(id="4711", name="Ann")]
    assert len(telegram.bot.updates) == 8


async def test_nobody_comes(api: BotApi) -> None:
    said: list[str] = []

    assert await wait_for_owner(api, CODE, say=said.append, wait_s=0.05) is None
    assert said == ["The code did not arrive in time."]


async def test_a_crowd_that_waits_already_hides_the_owner(telegram: FakeTelegram, api: BotApi) -> None:
    eve = telegram.direct(telegram.person("Eve"))
    for number in range(100):
        eve.say(str(number))

    with pytest.raises(TelegramSaysNo, match="Identify yourself with --owner ID"):
        await paired(api)
    assert len(telegram.bot.updates) == 100


async def test_another_reader_is_told_of_at_once(telegram: FakeTelegram, api: BotApi) -> None:
    telegram.faults.on("getUpdates", Refuse(409))

    with pytest.raises(TelegramSaysNo, match="another program reads this bot's messages"):
        await paired(api)


@pytest.mark.parametrize("fault", [Refuse(403), Page(), Cut(), Hang()], ids=lambda fault: type(fault).__name__)
async def test_a_greeting_that_fails_is_no_failure(telegram: FakeTelegram, api: BotApi, fault: Fault) -> None:
    telegram.direct(telegram.person("Ann", id=4711)).say("/start")
    telegram.faults.on("sendMessage", fault)

    await greet(api, Owner(id="4711"), "hello")

    assert [call.fault for call in telegram.called("sendMessage")] == [fault]


@pytest.mark.parametrize(
    "fault", [Page(), Cut(), Garbled(), Hang(), Refuse(500)], ids=lambda fault: type(fault).__name__
)
async def test_no_failure_shows_the_token(telegram: FakeTelegram, api: BotApi, fault: Fault) -> None:
    telegram.faults.on("getMe", fault)

    with pytest.raises(TelegramSaysNo) as caught:
        await api.me()

    shown = f"{caught.value}{caught.value!r}{caught.value.__cause__!r}{caught.getrepr(style='short', showlocals=False)}"
    assert telegram.bot.token.partition(":")[2] not in shown


def test_codes_are_never_the_same_and_can_stand_in_a_link() -> None:
    codes = {new_code() for _ in range(1_000)}

    assert len(codes) == 1_000
    assert all(code.isalnum() and code.isascii() and code.upper() == code for code in codes)
