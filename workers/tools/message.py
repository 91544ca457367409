"""The ``message`` tool: sends a message before the answer, sends files, or writes to another chat of the same scope."""

import mimetypes
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from daemon.errors import ToolError
from daemon.events import Attachment
from workers.tools.file_access import FileAccess
from workers.tools.registry import Saying, Tool, ToolContext
from workers.tools.tool_result import in_thread

CONTENT_MAX_CHARS = 20_000
MEDIA_MAX = 10
"""Files in one message."""

MEDIA_MAX_BYTES = 50_000_000
"""Largest file that is sent: what platforms take from bots (Telegram Bot API, ``sendDocument``)."""

Kind = Literal["image", "document", "audio", "video"]
_KINDS: Mapping[str, Kind] = {"image": "image", "audio": "audio", "video": "video"}


async def _message(arguments: Mapping[str, Any], context: ToolContext) -> str:
    media: Sequence[str] = arguments.get("media", ())
    saying = Saying(
        text=arguments["content"],
        attachments=await in_thread(lambda: [_attachment(context.folders, path) for path in media]),
        channel=arguments.get("channel", ""),
        chat=arguments.get("chat_id", ""),
    )
    session = await context.say(context, saying)
    files = f" with {len(media)} file{'s' if len(media) > 1 else ''}" if media else ""
    return f"sent to {session}{files}"


def _attachment(folders: FileAccess, path: str) -> Attachment:
    place = folders.place(path)
    with folders.opened(place) as descriptor:
        size = os.fstat(descriptor).st_size
    if not 0 < size <= MEDIA_MAX_BYTES:
        raise ToolError(f"{place.path} has {size:,} bytes. Only files of 1 to {MEDIA_MAX_BYTES:,} bytes can be sent.")
    kind: Kind = _KINDS.get((mimetypes.guess_type(path)[0] or "").partition("/")[0], "document")
    return Attachment(kind=kind, name=place.names[-1], size_bytes=size, path=folders.in_workspace(place))


MESSAGE = Tool(
    name="message",
    description=(
        "Send a message or files to this chat before your answer. Files can be sent only with this tool. To send to "
        "another chat that shares this conversation's memory, set channel and chat_id. You do not need a tool for "
        "your answer itself."
    ),
    parameters={
        "type": "object",
        "properties": {
            "content": {"type": "string", "minLength": 1, "maxLength": CONTENT_MAX_CHARS, "pattern": r"\S"},
            "media": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": MEDIA_MAX,
                "description": "Paths of files: images, documents, audio, video.",
            },
            "channel": {"type": "string", "description": "Name of the channel. Default: this chat's channel."},
            "chat_id": {"type": "string", "description": "Chat; default: this one."},
        },
        "required": ["content"],
        "additionalProperties": False,
    },
    run=_message,
    # A message is identified by turn and call, so a successor that repeats the call sends no duplicate.
    repeatable=True,
)
