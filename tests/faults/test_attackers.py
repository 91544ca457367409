"""A stranger, a group member, a local user and an injected model attack a running Millpond; see ``tests/canary``."""

import os
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from anyio import to_thread

from daemon.scope import folder_of
from tests.canary.attackers import ATTACKERS, CANARIES, CONFIG, Scene
from tests.fakes.telegram import fake_telegram
from tests.places import TEMPORARY
from tests.processes import shut_down, start

pytestmark = pytest.mark.timeout(600)


@asynccontextmanager
async def scene() -> AsyncGenerator[Scene]:
    """One process with all roles, on its embedded server, after the victims have spoken."""
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as name:
        folder = Path(name)
        # Others may come as far as the data directory: whatever stops them is Millpond's.
        os.chmod(name, 0o755)  # noqa: PTH101 - nothing waits for it
        async with fake_telegram(floods=False) as telegram:
            people = {each: telegram.person(each.title()) for each in ("admin", "ann", "bob", "eve", "mel")}
            chats = {each: telegram.direct(people[each]) for each in ("admin", "ann", "bob", "eve")}
            club = telegram.group(title="Club")
            text = CONFIG.format(
                data=folder / "data",
                admin=people["admin"].id,
                ann=people["ann"].id,
                bob=people["bob"].id,
                club=club.id,
                token=telegram.bot.token,
                telegram=telegram.base_url,
            )
            (folder / "millpond.toml").write_text(text)
            (folder / "millpond.toml").chmod(0o600)
            begin = partial(start, folder / "data", MILLPOND_CONFIG=str(folder / "millpond.toml"))
            daemon = await to_thread.run_sync(begin)
            try:
                here = Scene(
                    daemon=daemon, folder=folder, telegram=telegram, club=club, member=people["mel"], **chats
                )  # fmt: skip
                await prepare(here)
                yield here
            finally:
                await to_thread.run_sync(daemon.stop)
                shut_down(folder / "data")


async def prepare(here: Scene) -> None:
    await here.asked(here.ann, f"my heron is called {CANARIES['chat']}")
    await here.asked(here.ann, f'use write_file {{"path": "diary.md", "content": "heron {CANARIES["file"]}"}}')
    await here.asked(here.ann, "/compact")
    await here.asked(here.admin, f"the heron's secret is {CANARIES['admin']}")
    files = here.data / "bots" / "pond" / "files" / folder_of(here.scope(here.ann))
    assert CANARIES["file"] in (files / "diary.md").read_text()


@pytest.mark.parametrize("attacker", ATTACKERS)
async def test_no_attacker_sees_or_changes_anything_of_others(attacker: str) -> None:
    if attacker == "a local user" and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    async with scene() as here:
        for what, act, wanted in ATTACKERS[attacker]:
            got = await act(here)
            seen = [name for name, canary in here.canaries.items() if canary in got]
            assert not seen, f"{attacker} saw {seen} by {what}: {got[:2_000]}"
            assert re.search(wanted, got), f"{attacker}, {what}: {got[:2_000]}"
        shown = "\n".join(text for chat in (here.eve, here.club, here.bob) for text in chat.texts())
        assert not [name for name, canary in here.canaries.items() if canary in shown]
        # The victims have everything that they had, and nothing else.
        assert not [text for text in here.ann.texts() if "injected" in text]
        assert CANARIES["chat"] in await here.asked(here.ann, 'use conversation_search {"query": "heron"}')
        assert CANARIES["file"] in await here.asked(here.ann, 'use read_file {"path": "diary.md"}')
