"""Quoted messages, the kinds of files, and the length of recordings, whatever a platform says."""

from channels.arrival import Sender
from channels.media import file_kind, opus_s
from channels.quoted_message import FILES_MAX, QUOTE_MAX_CHARS, brought, quote_of
from channels.testing.contract_steps import OPUS
from daemon.events import Attachment, Quote
from tests.tables import each_row

VOICE, PICTURE = Attachment(kind="voice", source="v"), Attachment(kind="image", name="a  b.png", source="p")
ANN = Sender(id="7", name="Ann")


@each_row(
    ("text", "files", "sender", "quoted"),
    [
        ("", (), ANN, None),
        (" \n", (), None, None),
        ("hi", (), None, Quote(text="hi")),
        ("hi", (PICTURE, VOICE), ANN, Quote(text="[image: a b.png] [voice] hi", sender_name="Ann", sender_id="7")),
        ("", (VOICE,), Sender(id="7"), Quote(text="[voice]", sender_name="7", sender_id="7")),
        ("x" * 70_000, (), Sender(id=""), Quote(text="x" * QUOTE_MAX_CHARS, sender_name="?")),
    ],
)
def test_a_quote_names_the_files_and_never_passes_for_the_bots(
    text: str, files: tuple[Attachment, ...], sender: Sender | None, quoted: Quote | None
) -> None:
    assert quote_of(text, files, sender) == quoted


def test_a_quoted_message_lends_so_many_files_and_the_bot_no_recording() -> None:
    assert [file.sender_id for file in brought([PICTURE] * (FILES_MAX + 5), ANN)] == ["7"] * FILES_MAX
    assert brought([VOICE, PICTURE], None) == (PICTURE,)
    assert [file.kind for file in brought([VOICE, PICTURE], ANN)] == ["voice", "image"]


@each_row(
    ("media_type", "name", "kind"),
    [
        ("image/png", "a.txt", "image"), ("IMAGE/PNG; q=1", "", "image"), ("image/svg+xml", "", "document"),
        ("audio/mpeg", "", "audio"), ("", "talk.mp3", "audio"), ("application/octet-stream", "film.mp4", "video"),
        ("text/plain", "talk.mp3", "document"), ("", "", "document"), ("", "no ending", "document"),
    ],
)  # fmt: skip
def test_the_kind_of_a_file_is_that_of_its_type_or_name(media_type: str, name: str, kind: str) -> None:
    assert file_kind(media_type, name) == kind


@each_row(
    ("content", "seconds"),
    [(OPUS, 2.0), (b"OggS", None), (b"ID3" + OPUS, None), (OPUS[:-1], None), (b"", None), (OPUS[:60], None)],
)
def test_the_length_of_a_recording_is_known_if_it_is_opus(content: bytes, seconds: float | None) -> None:
    assert opus_s(content) == seconds
