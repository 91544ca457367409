"""Files that come with a message, and files that are sent to Telegram."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from channels.file_transfer import content_of
from channels.media import Kind, file_kind
from channels.telegram.api import Upload
from channels.telegram.api_types import File, Media, Message, PhotoSize
from daemon.events import Attachment

# What comes with a message beside its words: files to fetch, and things that a line of text can name. Pure.

PHOTO_SIDE_MAX = 1_280
"""Of the sizes of a photo, the largest that is no wider or higher is fetched: models look at no more than that."""

NAME_MAX_CHARS = 200

PLAIN = frozenset(Message.__struct_encode_fields__) | frozenset(
    {
        *("date", "edit_date", "author_signature", "via_bot", "sender_boost_count", "sender_business_bot", "effect_id"),
        *("business_connection_id", "is_automatic_forward", "has_protected_content", "is_from_offline", "quote"),
        *("link_preview_options", "reply_to_story", "show_caption_above_media", "reply_markup"),
        *("has_media_spoiler", "paid_star_count", "sender_tag", "guest_bot_caller_user", "reply_to_checklist_task_id"),
    }
)
"""Fields that are read, or say something about a message and not what it is."""

SERVICE = (
    *("new_chat_", "left_chat_", "delete_chat_", "group_chat_", "supergroup_chat_", "channel_chat_", "message_auto_"),
    *("pinned_", "forum_", "general_forum_", "video_chat_", "boost_", "chat_", "users_", "write_access_", "proximity_"),
    *("giveaway_", "successful_", "refunded_", "connected_", "passport_", "web_app_", "direct_message_", "suggested_"),
    *(
        "gift",
        "unique_gift",
        "paid_message_",
        "checklist_tasks_",
        "poll_option_",
        "managed_",
        "user_shared",
        "migrate_",
    ),
)
"""What names of things begin with that happened in a chat, and that nobody said."""


def attachments_of(message: Media) -> tuple[Attachment, ...]:
    """The files of a message."""
    return tuple(_found(message))


def _found(message: Media) -> Iterator[Attachment]:
    number = message.message_id
    if photo := _fitting(message.photo):
        yield Attachment(kind="image", name=f"photo-{number}.jpg", size_bytes=photo.file_size, source=photo.file_id)
    # An animation is there as a document once more, for clients that know none.
    document = None if message.animation else message.document
    if document is not None:
        yield _file(file_kind(document.mime_type, document.file_name), document, f"document-{number}")
    named: tuple[tuple[Kind, File | None, str], ...] = (
        ("video", message.animation, f"animation-{number}.mp4"),
        ("audio", message.audio, f"audio-{number}"),
        ("video", message.video, f"video-{number}.mp4"),
        ("video", message.video_note, f"video-{number}.mp4"),
        ("voice", message.voice, f"voice-{number}.ogg"),
    )
    for kind, file, name in named:
        if file is not None:
            yield _file(kind, file, name, spoken=file is message.video_note)


def _file(kind: Kind, file: File, name: str, *, spoken: bool = False) -> Attachment:
    shown = (file.file_name or name)[-NAME_MAX_CHARS:]
    return Attachment(kind=kind, name=shown, size_bytes=file.file_size, source=file.file_id, spoken=spoken)


def _fitting(sizes: tuple[PhotoSize, ...]) -> PhotoSize | None:
    if not sizes:
        return None
    by_size = sorted(sizes, key=lambda each: each.width * each.height)
    small = [each for each in by_size if max(each.width, each.height) <= PHOTO_SIDE_MAX]
    return small[-1] if small else by_size[0]


def line_of(message: Media) -> str:
    """What is neither words nor a file, in words; empty when there is nothing of the kind."""
    if message.rich_message:
        return "\n".join(_rich(message.rich_message)).strip()
    words = next(_things(message), "")
    return f"[{words.strip()}]" if words else ""


def _things(message: Media) -> Iterator[str]:
    if message.sticker is not None:
        yield f"sticker {message.sticker.emoji}"
    if message.dice is not None:
        yield f"{message.dice.emoji or 'dice'}: {message.dice.value}"
    # A venue is there as a location once more.
    if message.venue is not None:
        place = message.venue.location
        yield f"venue: {message.venue.title}, {message.venue.address} ({place.latitude}, {place.longitude})"
    if message.location is not None:
        yield f"location: {message.location.latitude}, {message.location.longitude}"
    if message.contact is not None:
        name = f"{message.contact.first_name} {message.contact.last_name}".strip()
        yield f"contact: {name}, {message.contact.phone_number}"
    if message.poll is not None:
        options = "; ".join(option.text for option in message.poll.options)
        yield f"poll: {message.poll.question} ({options})"


def _rich(found: Any) -> Iterator[str]:
    """The texts of a message in blocks, without their form; a block or list item each."""
    if isinstance(found, list):
        for each in found:  # pyright: ignore[reportUnknownVariableType] - whatever the server says
            yield from _rich(each)
    elif isinstance(found, dict):
        if "text" in found:
            yield _plain(found["text"])
        for key in ("blocks", "items", "cells", "summary", "caption"):
            yield from _rich(found.get(key))  # pyright: ignore[reportUnknownMemberType]


def _plain(found: Any) -> str:
    if isinstance(found, str):
        return found
    if isinstance(found, list):
        return "".join(map(_plain, found))  # pyright: ignore[reportUnknownArgumentType]
    return _plain(found.get("text", "")) if isinstance(found, dict) else ""  # pyright: ignore


def kind_of(found: msgspec.Raw | bytes) -> str:
    """The name of what a message is that is not known here; empty when there is no such thing, or nobody said it."""
    for name in msgspec.json.decode(found, type=dict[str, msgspec.Raw]):
        if name not in PLAIN and not name.startswith(SERVICE):
            return name[:NAME_MAX_CHARS]
    return ""


# Files of a bot's workspace on their way to Telegram.

SEND_MAX_BYTES = 50_000_000
"""Largest file that bots may send (Bot API, "Sending files")."""

PHOTO_MAX_BYTES = 10_000_000
"""Largest photo; a larger one goes as a document."""

PHOTOS = frozenset({".jpg", ".jpeg", ".png", ".webp"})
"""Names of pictures that the platform takes as photos."""

METHODS = {
    "photo": "sendPhoto",
    "document": "sendDocument",
    "audio": "sendAudio",
    "video": "sendVideo",
    "voice": "sendVoice",
}
"""The parameter that a file is, and the method that sends it."""


def field_of(attachment: Attachment) -> str:
    """The parameter that a file is sent as."""
    if attachment.kind == "image":
        fine = PurePosixPath(attachment.name.lower()).suffix in PHOTOS and attachment.size_bytes <= PHOTO_MAX_BYTES
        return "photo" if fine else "document"
    return attachment.kind


async def upload_of(workspace: Path, attachment: Attachment) -> Upload:
    """A file with its content.

    Raises:
        SendRejected: it is gone, empty, too large, or no file.
    """
    content = await content_of(workspace, attachment, max_bytes=SEND_MAX_BYTES)
    return Upload(field=field_of(attachment), name=attachment.name or "file", content=content)
