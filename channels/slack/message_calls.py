"""Calls that say something: in the first wording that Slack takes, and within a time."""

import re
from collections.abc import Mapping
from typing import Any

import anyio

from channels.slack.api import Api
from channels.slack.api_outcome import Rejected
from channels.slack.text_forms import Wording
from daemon.errors import SendRefused

_is_ts = re.compile(r"\d{1,10}\.\d{1,9}", re.ASCII).fullmatch


async def said(api: Api, method: str, wording: Wording, deadline: float, *, key: str = "") -> dict[str, Any]:
    """Slack's answer to the first accepted wording. Errors as for ``Api.call``."""
    while True:
        try:
            return await api.call(method, wording.params, timeout_s=left_s(deadline), key=key)
        except Rejected as no:
            if not wording.eased(no.error):
                raise


def left_s(deadline: float) -> float:
    """Seconds until then, by the event loop's clock.

    Raises:
        SendRefused: there are none left.
    """
    seconds = deadline - anyio.current_time()
    if seconds <= 0:
        raise SendRefused("the time limit for sending the message expired before the request was made")
    return seconds


def is_ts(platform_id: str) -> bool:
    """Whether it names a message, and no file or nothing."""
    return _is_ts(platform_id) is not None


def ts_of(found: Mapping[str, Any]) -> str:
    """The message's ID; empty if Slack accepted the message without returning it."""
    ts = found.get("ts")
    return ts if isinstance(ts, str) else ""
