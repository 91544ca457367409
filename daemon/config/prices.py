"""The prices of models."""

from typing import Annotated

from msgspec import Meta

from daemon.config.section import Price, Section


class PricesConfig(Section, frozen=True):
    """The prices of a model per million tokens. Without prices, calls are counted but cost nothing."""

    input: Price = 0.0
    cached_input: Price | None = None
    """Of the part of a prompt that the provider had kept; unset: as ``input``."""
    cache_write: Price | None = None
    """Of the part of a prompt that the provider wrote to its cache; unset: as ``input``."""
    output: Price = 0.0
    currency: Annotated[str, Meta(max_length=16)] = ""
    """Shown beside costs; costs of different currencies are never added."""
