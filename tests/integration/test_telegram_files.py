"""What people send along on Telegram, all the way from the fake Bot API to what a model is asked."""

from typing import Any

from daemon.config import BotConfig, ModelConfig, QueueConfig, Secret, TranscriptionConfig
from daemon.process import Process
from tests.fakes.openai_server import Plain, fake_openai
from tests.fakes.telegram import FakeTelegram, fake_telegram
from tests.integration.test_telegram_walk import NAME, walking
from tests.speaking import Speaking

JPEG = b"\xff\xd8\xff\xe0a heron"
OGG = b"OggS water the plants"
PATIENT = QueueConfig(lease_s=6.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)
QUEUE = PATIENT


async def answered(process: Process, kind: str, data: bytes, **more: Any) -> tuple[str, str]:
    """What a message with a file says in the log, and all of what the model was asked."""
    text, bot = more.pop("text", ""), more.pop("bot", BotConfig(tools=("time", "read_file")))
    async with fake_telegram() as telegram:
        ann = telegram.direct(telegram.person("Ann"))
        ann.say(text, file=telegram.file(kind, data, **more))
        async with walking(process, telegram, bot=bot, model=Speaking(answer=lambda _: "Seen.")) as walk:
            await walk.shows(ann, "Seen.")
            [said] = await walk.said(f"{NAME}:{ann.id}")
            return said, walk.model.asked()


async def test_a_photo_is_seen(process: Process) -> None:
    said, asked = await answered(process, "photo", JPEG, text="Who is this?")

    assert said.startswith("Who is this?\n[image: ")
    assert "saved as inbox/" in said
    assert "data:image/jpeg;base64," in asked


async def test_a_picture_that_is_sent_as_a_file_is_seen_too(process: Process) -> None:
    said, asked = await answered(process, "document", JPEG, name="heron.jpg", mime_type="image/jpeg")

    assert "[image: heron.jpg, 11 bytes, saved as inbox/" in said
    assert "data:image/jpeg;base64," in asked


async def test_a_document_is_kept(process: Process) -> None:
    said, _ = await answered(process, "document", b"%PDF-1.7", name="plan.pdf", mime_type="application/pdf")

    assert "[document: plan.pdf, 8 bytes, saved as inbox/" in said


async def test_what_is_too_large_for_bots_is_said(process: Process) -> None:
    said, _ = await answered(process, "video", b"film", name="film.mp4", claims_bytes=34_000_000)

    assert "[video: film.mp4, 34.0 MB: too large to be fetched]" in said


async def test_a_voice_is_heard(process: Process) -> None:
    async with fake_openai([Plain(b'{"text": "Water the plants."}', "application/json")]) as server:
        hearing = TranscriptionConfig(base_url=server.base_url, name="whisper-1", api_key=Secret("sk-hear"))
        said, _ = await answered(process, "voice", OGG, bot=BotConfig(transcription=hearing))

    assert said == "[voice message] Water the plants."
    assert OGG in server.requests[0].raw


async def test_a_blind_model_is_told_of_a_photo(process: Process) -> None:
    _, asked = await answered(process, "photo", JPEG, bot=BotConfig(model=ModelConfig(vision=False)))

    assert "[image: " in asked
    assert "data:image" not in asked


async def test_a_server_that_loses_the_file_is_said(process: Process) -> None:
    async with fake_telegram() as telegram:
        await _without_its_file(process, telegram)


async def _without_its_file(process: Process, telegram: FakeTelegram) -> None:
    ann = telegram.direct(telegram.person("Ann"))
    file = telegram.file("document", b"gone", name="gone.txt")
    ann.say("Read it", file=file)
    del telegram.world.files[file.id]
    async with walking(process, telegram, model=Speaking(answer=lambda _: "Pity.")) as walk:
        await walk.shows(ann, "Pity.")
        [said] = await walk.said(f"{NAME}:{ann.id}")

    assert said.startswith("Read it\n[document: gone.txt, 4 bytes: could not be fetched: ")
