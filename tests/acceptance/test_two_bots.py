"""Two bots of the example configuration, run by the real command: their owner writes, and a stranger is let in."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from tests.fakes.openai_server import fake_openai
from tests.fakes.telegram import Chat, FakeTelegram, fake_telegram
from tests.limits import HANG_S
from tests.processes import shut_down, start

EXAMPLE = Path(__file__).parents[2] / "deploy" / "examples" / "two-bots.toml"
OWNER = 123456789  # as the example has it


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[Path]:
    folder = tmp_path / "data"
    folder.mkdir()
    yield folder
    # The server writes until the end; it is told to go before the folder does.
    await to_thread.run_sync(shut_down, folder)


def configure(folder: Path, telegram: FakeTelegram, model: str) -> dict[str, Chat]:
    """The example with addresses of this machine; the private chats of its two bots with their owner."""
    text = EXAMPLE.read_text()
    for address in ("https://api.openai.com/v1", "http://127.0.0.1:11434/v1"):
        text = text.replace(address, model)
    owner = telegram.person("Ann", id=OWNER)
    chats: dict[str, Chat] = {}
    for name in ("heron", "lotus"):
        bot = telegram.new_bot(f"{name}_bot")
        chats[name] = bot.direct(owner)
        line = f'token_file = "{name}.token"'
        assert line in text
        text = text.replace(line, f'{line}\nbase_url = "{telegram.base_url}"')
        (folder / f"{name}.token").write_text(bot.token)
    (folder / "model.key").write_text("sk-none")
    (folder / "millpond.toml").write_text(text)
    for file in folder.iterdir():
        file.chmod(0o600)
    return chats


async def shows(telegram: FakeTelegram, chat: Chat, part: str) -> str:
    """Wait until a bot says something in a chat that has ``part`` in it; all of it."""
    try:
        await telegram.until(lambda: any(part in text for text in chat.texts()))
    except TimeoutError:
        assert part in chat.texts()
    return next(text for text in chat.texts() if part in text)


async def test_two_bots_answer_their_owner_and_whom_the_owner_lets_in(folder: Path) -> None:
    async with fake_telegram() as telegram, fake_openai() as model:
        heron, lotus = configure(folder, telegram, model.base_url).values()
        eve = heron.bots[0].direct(telegram.person("Eve"))
        daemon = await to_thread.run_sync(partial(start, folder))
        try:
            heron.say("How deep is the pond?")
            lotus.say("池塘有多深？")
            eve.say("May I?")
            await shows(telegram, heron, "How deep is the pond?")
            await shows(telegram, lotus, "池塘有多深？")
            code = (await shows(telegram, eve, "/pair ")).partition("/pair ")[2].split()[0]
            heron.say(f"/pair {code}")
            await shows(telegram, heron, "Eve")
            eve.say("Thank you!")
            await shows(telegram, eve, "Thank you!")
            with anyio.fail_after(HANG_S):
                await telegram.until(lambda: not any(bot.updates for bot in telegram.world.bots.values()))
        finally:
            with anyio.CancelScope(shield=True):
                ended = await to_thread.run_sync(daemon.stop)

    assert ended == 0
    assert "May I?" not in "".join(eve.texts())
    assert telegram.oddities() == []
    assert all(bot.commands for bot in telegram.world.bots.values() if bot is not telegram.bot)
