"""What Slack says, as far as it is of use here; everything else in it is passed over.

Nearly nothing must be there. What has another shape than today is left out field by field (``lenient``), so that what
can be understood is not lost with the rest.
"""

from typing import Any

from channels.shapes import UNFITTING, Shape, lenient, objects_in

__all__ = ["UNFITTING", "Shape", "lenient", "objects_in"]


class File(Shape, frozen=True):
    """A file that came with a message; of some there is no more than a sign that it was one."""

    id: str = ""
    name: str = ""
    title: str = ""
    mimetype: str = ""
    subtype: str = ""
    """``slack_audio`` and ``slack_video``: recorded in Slack itself."""
    mode: str = ""
    """``hosted``, ``snippet``, ``external``, ``tombstone``, ``hidden_by_limit`` and others."""
    file_access: str = ""
    """``check_file_info``: of another workspace; only files.info tells where it lies."""
    is_external: bool = False
    size: int = 0
    url_private: str = ""
    url_private_download: str = ""
    thumb_1024: str = ""
    """Of a picture: where it lies with no side longer than so many pixels; missing for those that are smaller."""
    thumb_960: str = ""
    thumb_720: str = ""
    external_url: str = ""


class Attached(Shape, frozen=True):
    """What Slack calls an attachment: a message that is passed on, what a link shows, or a card that an app made."""

    fallback: str = ""
    pretext: str = ""
    title: str = ""
    text: str = ""
    author_name: str = ""
    author_id: str = ""
    is_share: bool = False
    is_msg_unfurl: bool = False
    is_reply_unfurl: bool = False
    files: tuple[File, ...] = ()
    message_blocks: Any = None
    blocks: Any = None

    @property
    def is_passed_on(self) -> bool:
        """Whether it is a message that somebody passes on, or links to."""
        return self.is_share or self.is_msg_unfurl or self.is_reply_unfurl


class Edited(Shape, frozen=True):
    """When a person changed a message."""

    user: str = ""
    ts: str = ""


class Profile(Shape, frozen=True):
    """Which app speaks."""

    id: str = ""
    app_id: str = ""
    name: str = ""


class Message(Shape, frozen=True):
    """Something said in a conversation, or something that happened there; also an event of another type."""

    type: str = ""
    subtype: str = ""
    channel: str = ""
    channel_type: str = ""
    ts: str = ""
    thread_ts: str = ""
    deleted_ts: str = ""
    event_ts: str = ""
    user: str = ""
    bot_id: str = ""
    app_id: str = ""
    username: str = ""
    bot_profile: Profile | None = None
    text: str = ""
    blocks: Any = None
    files: tuple[File, ...] = ()
    attachments: tuple[Attached, ...] = ()
    edited: Edited | None = None
    hidden: bool = False
    message: "Message | None" = None
    """Of ``message_changed``: what it says now."""
    previous_message: "Message | None" = None


class Command(Shape, frozen=True):
    """A slash command, as its fields say."""

    command: str = ""
    text: str = ""
    team_id: str = ""
    channel_id: str = ""
    user_id: str = ""
    user_name: str = ""
    trigger_id: str = ""


class Body(Shape, frozen=True):
    """What comes around an event."""

    team_id: str = ""
    api_app_id: str = ""
    event_id: str = ""
    event: Message | None = None
