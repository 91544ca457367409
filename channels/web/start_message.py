"""The lines that a web channel shows to the person who started the process. Pure."""

import shlex

from channels.web.site import Site

NO_LINK = "page: run `millpond page` to print a link that logs a browser in"
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
        f"The API requires a token, which was made now and is stored in {path}. Programs that used the API without a "
        "token must send the token too."
    )
