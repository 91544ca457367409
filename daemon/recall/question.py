"""Tells which questions ask for several things, and which for the first time of something. Pure."""

import re

_several = re.compile(
    r"""\b(?:
    how\ (?:many|often)
    |(?:what|which)\ (?:other\ |different\ |\w+ing\ )?(?:\w\w+[^\Ws]s|people|children)\b(?!')
    |(?:what|which)\ (?:kinds|types|sorts|else|are|were)
    |(?:who|where|what|which)\ (?:all|else)|in\ (?:what|which)\ ways|(?:list|name)\ (?:all|every|the|my)|every\ time
    )\b
    |哪些|哪几|几次|多少次|多少个|所有的?|列出|都[有去做买看吃学]过?(?:什么|谁|哪)
    |\bwelche\ \w+(?:en|er)\b|\bwie\ (?:viele|oft)\b|\bcombien\ de\b|\bquels\b|\bquelles\b
    """,
    re.IGNORECASE | re.VERBOSE,
).search
_first = re.compile(
    r"""\b(?:(?:for\ the|the\ very)\ first|first\ time|(?:did|do|have|has|was|were|when)\ (?:\w+\ ){1,3}first
    |originally|zum\ ersten\ Mal|première\ fois)\b
    |第一次|首次|最早|最初|当初""",
    re.IGNORECASE | re.VERBOSE,
).search


def asks_for_several(text: str) -> bool:
    """Whether a question has several answers, such as "How many …?" and "Which books …?"."""
    return bool(_several(text))


def asks_for_first(text: str) -> bool:
    """Whether a question asks for the first time of something."""
    return bool(_first(text))
