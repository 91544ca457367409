"""A fake Slack: Web API, Socket Mode and events by HTTP, as strict as the documentation, and every way to go wrong.

    async with fake_slack() as slack:
        bot_token, app_token = Secret(slack.bot.token), Secret(slack.app.token)
        config = SlackConfig(base_url=slack.base_url, bot_token=bot_token, app_token=app_token)
        ann = slack.person("Ann")
        lake = slack.channel(ann)
        slack.faults.on("chat.postMessage", Refuse(retry_after=1), Cut())
        slack.faults.on("envelope", Cut(half=True))
        root = lake.say(f"{slack.bot.mention} how deep is the pond?", by=ann)
        await slack.said(lake, thread=root.ts)
        slack.direct(ann).say("and now?")

It is written from the documentation and imports nothing of what it tests, so that a misunderstanding shows. People
speak by ``Channel.say``, ``edit``, ``delete`` and ``unfurl`` and give commands by ``Bot.command``; ``Bot.push`` lets
any event wait, ``App.bring`` anything, and ``App.again`` repeats some. A message that names the bot is two events.

What an app has not acknowledged waits in ``App.waiting`` and is brought again after ``repeat_s``. ``App.sockets`` can
be ``cut``, closed, made ``mute`` and told to ``disconnect``. While ``App.url`` is set, events are brought there by
HTTP; ``FakeSlack.bring`` brings anything, with a wrong or an old signature too.

``FakeSlack.faults`` knows each method by its name, and besides ``upload`` and ``download`` of files, ``connect`` of a
socket, ``envelope``, and ``acknowledge``, which then is lost. ``Message.streaming`` made False ends a stream as Slack
may. ``FakeSlack.calls`` has every call with how it went, ``Channel.texts`` what a person sees, ``oddities`` what the
documentation does not have.

``python -m tests.fakes.slack PORT FILE [EVERY]`` runs it for other processes: it prints its address, the token of its
bot, the token of its app and its signing secret, writes a JSON line a call, is told by ``POST /control`` what people do
(see ``control``), and with EVERY each so-many-th call of ``chat.*`` meets one of the faults in turn.
"""

from tests.fakes.faults import Cut, Garbled, Hang, Page, Slow, every
from tests.fakes.slack.apps import App, Bot, Delivery
from tests.fakes.slack.bringing import signed
from tests.fakes.slack.calls import Call
from tests.fakes.slack.faults import Fault, Refuse
from tests.fakes.slack.server import FakeSlack, fake_slack
from tests.fakes.slack.sockets import Socket
from tests.fakes.slack.world import Channel, File, Message, Person, Team

__all__ = [
    "App", "Bot", "Call", "Channel", "Cut", "Delivery", "FakeSlack", "Fault", "File", "Garbled", "Hang", "Message",
    "Page", "Person", "Refuse", "Slow", "Socket", "Team", "every", "fake_slack", "signed",
]  # fmt: skip
