"""What another process can have people do in the fake, by ``POST /control`` with JSON."""

from typing import TYPE_CHECKING, Any

from tests.fakes.slack.apps import Bot
from tests.fakes.slack.world import Channel, Person

if TYPE_CHECKING:
    from tests.fakes.slack.server import FakeSlack


def control(slack: "FakeSlack", asked: dict[str, Any]) -> dict[str, Any]:
    """Do what ``{"do": name, ...}`` asks for, one of ``DEEDS``; what came of it."""
    return DEEDS[asked.pop("do")](slack, asked)


def _say(slack: "FakeSlack", asked: dict[str, Any]) -> dict[str, Any]:
    """In a direct chat with ``person``, or in ``channel``; with ``mention`` to the bot."""
    bot, who = _bot(slack, asked), _person(slack, asked)
    text = f"{bot.mention} {asked['text']}" if asked.get("mention") else asked["text"]
    message = _channel(slack, asked).say(text, by=who, thread=asked.get("thread", ""), **asked.get("more", {}))
    return {"ts": message.ts, "channel": message.channel.id}


def _channel_made(slack: "FakeSlack", asked: dict[str, Any]) -> dict[str, Any]:
    bot = _bot(slack, asked)
    return {"channel": bot.team.channel(_person(slack, asked), bot.person, name=asked.get("name", "lake")).id}


def _texts(slack: "FakeSlack", asked: dict[str, Any]) -> dict[str, Any]:
    return {"texts": _channel(slack, asked).texts(thread=asked.get("thread"))}


def _command(slack: "FakeSlack", asked: dict[str, Any]) -> dict[str, Any]:
    _bot(slack, asked).command(_channel(slack, asked), asked.get("text", ""), by=_person(slack, asked))
    return {}


def _waiting(slack: "FakeSlack", asked: dict[str, Any]) -> dict[str, Any]:
    app = _bot(slack, asked).app
    return {"waiting": len(app.waiting), "done": len(app.done), "sockets": len(app.sockets)}


def _acknowledged(slack: "FakeSlack", asked: dict[str, Any]) -> dict[str, Any]:
    """Of what was acknowledged since this was asked last: seconds from each envelope to its acknowledgement."""
    done = _bot(slack, asked).app.done
    seconds = [each.took_s for each in done if each.ids]
    done.clear()
    return {"seconds": seconds}


def _url(slack: "FakeSlack", asked: dict[str, Any]) -> dict[str, Any]:
    """Events are brought to ``url`` from now on, which on this machine is ``at``."""
    _bot(slack, asked).app.url, slack.brought_at = asked["url"], asked.get("at", "")
    _bot(slack, asked).app.arrive()
    return {}


def _again(slack: "FakeSlack", asked: dict[str, Any]) -> dict[str, Any]:
    _bot(slack, asked).app.again(int(asked.get("number", 1)))
    return {}


def _install(slack: "FakeSlack", asked: dict[str, Any]) -> dict[str, Any]:
    bot = slack.install(slack.app, slack.new_team(asked["team"]))
    return {"team": bot.team.id, "token": bot.token}


def _bot(slack: "FakeSlack", asked: dict[str, Any]) -> Bot:
    return next(bot for bot in slack.world.bots() if asked.get("token", slack.bot.token) == bot.token)


def _person(slack: "FakeSlack", asked: dict[str, Any]) -> Person:
    team, id = _bot(slack, asked).team, asked.get("person", "U1001")
    return team.people.get(id) or team.person(asked.get("real_name", f"Person {id}"), id=id)


def _channel(slack: "FakeSlack", asked: dict[str, Any]) -> Channel:
    bot = _bot(slack, asked)
    return bot.team.channels[asked["channel"]] if asked.get("channel") else bot.direct(_person(slack, asked))


DEEDS = {
    "say": _say, "channel": _channel_made, "texts": _texts, "command": _command, "waiting": _waiting,
    "acknowledged": _acknowledged, "url": _url, "again": _again, "install": _install,
}  # fmt: skip
