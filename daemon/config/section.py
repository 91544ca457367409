"""The base class of all sections."""

from typing import Annotated

import msgspec
from msgspec import Meta

from daemon.config.secret import Secret

MAX_INT = 2_147_483_647
Count = Annotated[int, Meta(ge=1, le=MAX_INT)]
Tokens = Annotated[int, Meta(ge=0, le=MAX_INT)]
Limit = Annotated[int, Meta(ge=0, le=MAX_INT)]
"""0: none."""
Seconds = Annotated[float, Meta(gt=0, le=31_536_000)]
"""At most a year: an unlimited wait is a mistake, and milliseconds must stay exact in Redis' scripts."""
Delay = Annotated[float, Meta(ge=0, le=30)]
"""Seconds that may be none at all."""
WindowTokens = Annotated[int, Meta(ge=4_096, le=MAX_INT)]
Price = Annotated[float, Meta(ge=0, le=1_000_000)]
"""Of a million tokens."""
Share = Annotated[float, Meta(ge=0, le=1)]
Port = Annotated[int, Meta(ge=0, le=65535)]
PathText = Annotated[str, Meta(description="path")]
"""``~`` is the home folder; relative to the configuration file, from a variable to the current folder."""
NO_SECRET = Secret("")


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A section: immutable, with keyword arguments only, and strict about its keys."""
