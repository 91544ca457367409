"""What a person said, taken out of a message to a model."""

from collections.abc import Sequence

from daemon.model import RUNTIME_CONTEXT

Content = str | Sequence[dict[str, object]] | None


def said(content: Content) -> str:
    """The words of a user message, without the runtime context in front of them."""
    texts = (
        [content or ""] if content is None or isinstance(content, str) else [str(p.get("text", "")) for p in content]
    )
    return " ".join(filter(None, (_words(text) for text in texts)))


def _words(text: str) -> str:
    return text.partition("\n\n")[2] if text.startswith(RUNTIME_CONTEXT) else text
