"""What another process can have people do in the fake, by ``POST /control`` with JSON."""

from typing import TYPE_CHECKING, Any

from tests.fakes.telegram.world import Chat

if TYPE_CHECKING:
    from tests.fakes.telegram.server import FakeTelegram


def control(telegram: "FakeTelegram", asked: dict[str, Any]) -> dict[str, Any]:
    """Do what ``{"do": name, ...}`` asks for, one of ``DEEDS``; what came of it."""
    return DEEDS[asked.pop("do")](telegram, asked)


def _say(telegram: "FakeTelegram", asked: dict[str, Any]) -> dict[str, Any]:
    return {"message_id": _chat(telegram, asked).say(asked["text"], **asked.get("more", {})).id}


def _group(telegram: "FakeTelegram", asked: dict[str, Any]) -> dict[str, Any]:
    return {"chat": telegram.group(title=asked.get("title", "Lake")).id}


def _texts(telegram: "FakeTelegram", asked: dict[str, Any]) -> dict[str, Any]:
    return {"texts": _chat(telegram, asked).texts()}


def _new_bot(telegram: "FakeTelegram", asked: dict[str, Any]) -> dict[str, Any]:
    return {"token": telegram.new_bot(asked["username"]).token}


def _chat(telegram: "FakeTelegram", asked: dict[str, Any]) -> Chat:
    """The chat ``chat``; one with a person of that id begins by being named."""
    number, token = int(asked["chat"]), asked.get("token", telegram.bot.token)
    bot = telegram.world.bots[token]
    known = telegram.world.chats.get((bot.person.id, number))
    return known or bot.direct(telegram.person(asked.get("name", f"Person {number}"), id=number))


DEEDS = {"say": _say, "group": _group, "texts": _texts, "new_bot": _new_bot}
