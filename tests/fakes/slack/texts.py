"""Text as Slack counts and keeps it."""

import re

MARKDOWN_MAX = 12_000  # characters of ``markdown_text``
TEXT_MAX = 40_000  # characters of ``text``; what is longer is cut
UPDATE_MAX = 4_000  # characters of a text in ``chat.update``
BLOCKS_MAX = 13_200  # characters of all blocks of a message, escaped


def escaped(text: str) -> str:
    """With the three characters that mean something to Slack written otherwise."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_mrkdwn(markdown: str) -> str:
    """The ``text`` that is kept of a message that was given as Markdown: not the same, but the same words."""
    text = escaped(markdown)
    text = re.sub(r"\*\*(.+?)\*\*", r"*\1*", text)
    text = re.sub(r"(?m)^#{1,6} +(.*)$", r"*\1*", text)
    text = re.sub(r"(?m)^([-*]) ", "• ", text)
    return re.sub(r"\[([^\]]+)\]\((https?://[^)\s]+)\)", r"<\2|\1>", text)


def unescaped(text: str) -> str:
    """As people read what ``escaped`` wrote."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
