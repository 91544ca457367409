"""Characters that nobody sees, in names and texts of other people: no list, no name and no terminal shows them."""

from types import SimpleNamespace
from typing import Any

import click
import msgspec
import pytest

from channels.arrival import Arrival, Sender, cleaned
from channels.inbound import make_inbound
from channels.slack.mrkdwn import name_in
from channels.telegram import updates
from channels.telegram.updates import Me
from channels.terminal.markdown import rendered, wrapped
from daemon.cli import root_command
from daemon.cli.output.table_output import say, table
from daemon.config import Config
from daemon.errors import BadSessionKey
from daemon.events import Attachment, Quote
from daemon.jobs import NotifiedChat
from daemon.people import Party
from daemon.printable import INVISIBLE
from daemon.testing import ManualClock
from tests.tables import each_row

HIDDEN = "Ann\n\u200b\u202e\u2028\U000e0041 \x1b[31mBea"
ONE_LINE = HIDDEN.replace("\n", " ")
SHOWN = "Ann \ufffd\ufffd\ufffd\ufffd \ufffd[31mBea"


def accepted_name() -> str:
    process: Any = SimpleNamespace(config=Config(), clock=ManualClock())
    return make_inbound(process, channel="web", chat="a", text="hi", sender_id="a", sender_name=HIDDEN).sender_name


def arrived() -> Arrival:
    return cleaned(
        Arrival(
            seen_as="1", id="1", order=1, chat="1", sender=Sender(id="1", name=HIDDEN),
            quote=Quote(text="q", sender_name=HIDDEN), attachments=(Attachment(kind="document", name=HIDDEN),),
        )
    )  # fmt: skip


def forwarded() -> str:
    chat, origin = {"id": 7, "type": "private"}, {"type": "hidden_user", "sender_user_name": HIDDEN}
    message = {"message_id": 1, "date": 1, "chat": chat, "from": {"id": 7, "first_name": "A"}, "text": "hi"}
    update = msgspec.json.encode({"update_id": 1, "message": message | {"forward_origin": origin}})
    arrival = updates.read(update, Me(id=1))
    assert isinstance(arrival, Arrival)
    return arrival.text.partition("]\n")[0].removeprefix("[forwarded from ")


def told(error: str) -> None:
    root_command._told([BadSessionKey(error)], BadSessionKey(error))


@each_row(
    "place, shown",
    [
        ("a cell of a list", lambda _: table(("name",), [(HIDDEN,)])),
        ("a line of a command", lambda _: say(ONE_LINE)),
        ("an error of a command", lambda _: told(ONE_LINE)),
        ("a notice in a terminal", lambda _: click.echo(wrapped(ONE_LINE, columns=80))),
        ("an answer in a terminal", lambda _: click.echo(rendered(ONE_LINE, columns=80, look="bare"))),
        ("the name of a sender", lambda _: accepted_name()),
        ("the name of who arrives", lambda _: arrived().sender.name),
        ("the name of who is quoted", lambda _: arrived().quote.sender_name),
        ("the name of a file", lambda _: arrived().attachments[0].name),
        ("the name of who is forwarded on Telegram", lambda _: forwarded()),
        ("a name on Slack", lambda _: name_in(HIDDEN)),
        (
            "the name of who is to be linked",
            lambda _: Party(scope="pond:person:web:a", chat=NotifiedChat(session=""), name=HIDDEN).called,
        ),
    ],
)
def test_names_lists_and_terminals_show_no_hidden_characters(
    place: str, shown: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    said = shown(place)
    printed = capsys.readouterr()

    text = said or (printed.out + printed.err).splitlines()[-1].removeprefix("millpond: ")
    assert INVISIBLE.search(text) is None
    assert text in (SHOWN, "“Ann \ufffd\ufffd\ufffd\ufffd \ufffd 31mBea” (web:a)")


@each_row(
    "sign",
    "\xad\u034f\u061c\u115f\u180e\u200b\u2028\u202e\u2066\u206f\u3164\ufeff\uffa0\ufff0\U0001bca0\U0001d17a\U000e0041",
)
def test_signs_without_a_glyph_are_hidden_characters(sign: str) -> None:
    # Of each range of Unicode's Default_Ignorable_Code_Point one, except the selectors of emoji and of Mongolian
    assert INVISIBLE.match(sign)
