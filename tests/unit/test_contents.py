"""What the parts of a reply hold, by what its platform can do."""

from collections.abc import Sequence
from typing import Any

import anyio

from channels.base import Limits
from channels.outbox.reply_parts import PartContent, ReplyParts
from daemon.events import Attachment, Reply
from tests.tables import each_row


class Platform:
    def __init__(self, part_max: int, send_max_bytes: int, caption_max: int) -> None:
        self.limits = Limits(
            part_max=part_max,
            edit_every_s=1.0,
            group_edit_every_s=1.0,
            typing_lasts_s=0.0,
            fetch_max_bytes=0,
            send_max_bytes=send_max_bytes,
            caption_max=caption_max,
        )

    def length(self, text: str) -> int:
        return len(text)


def contents(
    text: str,
    *,
    send_max_bytes: int,
    part_max: int = 10,
    caption_max: int = 0,
    files: Sequence[Attachment] = (),
) -> list[PartContent]:
    reply = Reply(id="x:1#1", session="x:1", turn=1, text=text, correlation="c", attachments=tuple(files))
    made = ReplyParts(Platform(part_max, send_max_bytes, caption_max), parts_max=3, language="en")  # type: ignore[arg-type]
    return anyio.run(made.of, reply)


WORDS = " ".join(f"word{n}" for n in range(20))


def test_a_reply_of_too_many_parts_goes_as_a_file() -> None:
    [part] = contents(WORDS, send_max_bytes=1_000)

    assert part.document == WORDS


@each_row("send_max_bytes", [0, 50])
def test_where_the_file_could_not_be_sent_it_goes_in_as_many_parts_as_it_takes(send_max_bytes: int) -> None:
    parts = contents(WORDS, send_max_bytes=send_max_bytes)

    assert len(parts) > 3
    assert not any(part.document for part in parts)
    assert "".join(part.text for part in parts).split() == WORDS.split()


def test_each_file_is_a_part_of_its_own_and_one_that_is_too_large_is_said() -> None:
    files = [Attachment(kind="document", name=f"{size}.txt", size_bytes=size) for size in (5, 500, 6)]

    *texts, first, second = contents("", send_max_bytes=100, part_max=200, files=files)

    assert [part.attachments[0].name for part in (first, second)] == ["5.txt", "6.txt"]
    assert "500.txt" in "".join(part.text for part in texts)


@each_row(
    "text, kind, captions",
    [
        ("Short.", "document", ["Short.", ""]),
        ("Too long for it.", "document", ["Too long for it.", "", ""]),
        ("Short.", "voice", ["Short.", "", ""]),
        ("", "document", ["", ""]),
    ],
)
def test_a_short_text_stands_below_the_first_file_if_the_platform_can_do_that(
    text: str, kind: Any, captions: list[str]
) -> None:
    files = [Attachment(kind=kind, name=name, size_bytes=5) for name in ("a", "b")]

    parts = contents(text, send_max_bytes=100, part_max=200, caption_max=10, files=files)

    assert [part.text for part in parts] == captions
    assert [file.name for part in parts for file in part.attachments] == ["a", "b"]


def test_a_spoken_answer_that_cannot_be_sent_is_not_mentioned() -> None:
    speech = Attachment(kind="voice", name="answer.ogg", size_bytes=500)

    assert contents("Soon.", send_max_bytes=0, files=[speech]) == [PartContent(text="Soon.")]
