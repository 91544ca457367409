"""Lengths of time in words."""

from daemon.wording import Language, text


def duration(seconds: float, language: Language) -> str:
    """``seconds`` in the largest unit that it fills: ``40 seconds``, ``3 minutes``, ``1 hour``."""
    for unit, size in (("hour", 3_600), ("minute", 60)):
        if (count := int(seconds // size)) >= 1:
            return text(unit if count == 1 else f"{unit}s", language, count=count)
    return text("seconds", language, count=int(seconds))
