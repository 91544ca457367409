"""``[bots.<name>.web]``: the tools ``web_search`` and ``web_fetch``."""

from typing import Literal

from daemon.config.secret import Secret
from daemon.config.section import NO_SECRET, Count, Limit, PathText, Seconds, Section

Provider = Literal["", "brave", "tavily", "searxng"]


class WebToolsConfig(Section, frozen=True):
    """How a bot searches the web and reads its pages."""

    search: Provider = ""
    """The provider of ``web_search``."""
    search_url: str = ""
    """Its address; required for SearXNG, else the provider's own."""
    api_key: Secret = NO_SECRET
    api_key_file: PathText = ""
    timeout_s: Seconds = 20.0
    """For one search or one page with all its redirects."""
    page_max_bytes: Count = 2_000_000
    """The rest of a longer page is left out, before and after decompression."""
    robots: bool = True
    """Whether ``web_fetch`` obeys robots.txt."""
    private_hosts: tuple[str, ...] = ()
    """Host names that may have addresses that are not public."""
    cache_ttl_s: Seconds = 900.0
    """How long a result is used again."""
    calls_per_minute: Limit = 20
    """Of both tools together, for each person."""
