"""Whether a site's robots.txt lets a page be fetched (RFC 9309)."""

from daemon.errors import ToolError
from workers.tools.web.fetch import AGENT, Fetched

SERVER_ERRORS = 500
"""From this status on the site cannot say, and then everything is forbidden (RFC 9309, 2.3.1.4)."""

FOUND = range(200, 300)


def rules_of(answer: Fetched) -> str:
    """The text of a robots.txt; an empty one allows everything.

    Raises:
        ToolError: the site cannot say.
    """
    if answer.status >= SERVER_ERRORS:
        raise ToolError("The site's robots.txt cannot be read right now, so its pages may not be fetched.")
    return answer.body.decode("utf-8", "replace") if answer.status in FOUND else ""


def check_allowed(rules: str, address: str) -> None:
    """Raise ToolError for a page that the rules forbid."""
    from protego import Protego  # noqa: PLC0415 - an extra

    if not Protego.parse(rules).can_fetch(address, AGENT):
        raise ToolError("The site's robots.txt does not allow programs to fetch this page.")
