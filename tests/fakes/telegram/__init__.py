"""A fake Bot API of Telegram: real HTTP on loopback, as strict as the documentation, and every way to go wrong.

    async with fake_telegram() as telegram:
        config = TelegramConfig(base_url=telegram.base_url, token=Secret(telegram.bot.token))
        ann = telegram.direct(telegram.person("Ann"))
        telegram.faults.on("sendMessage", Refuse(429, retry_after=1), Cut())
        ann.say("How deep is the pond?")
        await telegram.said(ann)

It is written from the documentation and imports nothing of what it tests, so that a misunderstanding shows. People
speak by ``Chat.say``, ``edit``, ``album``, ``react`` and ``migrate``; ``Bot.push`` lets any update wait, ``Bot.again``
repeats some, and ``Bot.order`` mixes them. ``FakeTelegram.calls`` has every call with how it went, ``Chat.texts`` what
a person sees, ``oddities`` the parameters that the documentation does not have.

``python -m tests.fakes.telegram PORT FILE [EVERY]`` runs it for other processes: it prints its address and the token of
its bot, writes a JSON line a call, is told by ``POST /control`` what people do (see ``control``), and with EVERY each
so-many-th sending call meets one of the faults in turn.
"""

from tests.fakes.faults import Cut, Garbled, Hang, Page, Slow, every
from tests.fakes.telegram.calls import Call
from tests.fakes.telegram.faults import Fault, Refuse
from tests.fakes.telegram.server import FakeTelegram, fake_telegram
from tests.fakes.telegram.world import Bot, Chat, File, Message, Person, Update
from tests.fakes.wire import Upload

__all__ = [
    "Bot", "Call", "Chat", "Cut", "FakeTelegram", "Fault", "File", "Garbled", "Hang", "Message", "Page", "Person",
    "Refuse", "Slow", "Update", "Upload", "every", "fake_telegram",
]  # fmt: skip
