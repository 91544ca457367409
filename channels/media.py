"""Files of messages: their kinds, and the length of recordings. Pure."""

import mimetypes
from typing import Literal

Kind = Literal["image", "document", "audio", "video", "voice"]
"""As ``Attachment.kind``."""

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/webp", "image/gif"})
"""Media types of pictures that models take; other pictures are documents."""

OPUS_HZ = 48_000
"""Samples in a second of Opus, whatever was recorded (RFC 7845, section 4)."""

_SKIP_AT, _GRANULE_AT = 10, 6
"""Places in the identification header (RFC 7845, section 5.1) and in the header of a page (RFC 3533, section 6)."""


def file_kind(media_type: str, name: str = "") -> Kind:
    """The kind of a file by its media type, or by its name if the type says nothing."""
    plain = media_type.partition(";")[0].strip().lower()
    if plain in ("", "application/octet-stream"):
        plain = mimetypes.guess_type(name)[0] or ""
    if plain in IMAGE_TYPES:
        return "image"
    if plain.startswith("audio/"):
        return "audio"
    return "video" if plain.startswith("video/") else "document"


def opus_s(content: bytes) -> float | None:
    """The length of an Ogg Opus recording in seconds; None: it is none."""
    head, last = content.find(b"OpusHead", 0, 100), content.rfind(b"OggS")
    if not content.startswith(b"OggS") or head < 0 or last == 0 or len(content) < last + _GRANULE_AT + 8:
        return None
    skipped = int.from_bytes(content[head + _SKIP_AT : head + _SKIP_AT + 2], "little")
    samples = int.from_bytes(content[last + _GRANULE_AT : last + _GRANULE_AT + 8], "little")
    return max(0, samples - skipped) / OPUS_HZ
