"""The lines that a web channel shows to the person who started the process. Pure."""

import shlex

from channels.web.site import Site

NO_LINK = "page: to log in to the web page, run `millpond page` and open the printed link"
"""Where others can read the output, or the output is kept: a link gives the rights of an operator."""


def curl_line(site: Site) -> str:
    """A request with the token, ready to be pasted into a shell; the token itself is not shown."""
    address, name = f"{site.address}/api/sessions", site.name
    if site.config.open:
        return f"API: curl {address}"
    if site.header_file is None:
        return f"API: curl -H 'Authorization: Bearer <token>' {address}   (<token>: channels.{name}.token)"
    return f"API: curl -H {shlex.quote(f'@{site.header_file}')} {address}"


def made_line(path: str) -> str:
    """What is new, at the first start with a token."""
    return (
        f"The API now requires a token, which Millpond generated and stored in {path}. All programs that use the API "
        "must send this token."
    )
