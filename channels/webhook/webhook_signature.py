"""Signatures of Standard Webhooks 1.0.0: HMAC-SHA256 over id, time and body. Pure."""

import base64
import hashlib
import hmac
from collections.abc import Mapping

from daemon.config import Secret, signing_key

ID, TIME, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
"""Names of the headers."""

VERSION = "v1"
TOLERANCE_S = 300.0
"""Largest difference between the sender's clock and this one, as the specification proposes."""

ID_MAX_CHARS = 256


def signed(secret: Secret, message_id: str, body: bytes, *, now_s: float) -> dict[str, str]:
    """The headers of a request. ``now_s``: seconds since 1970."""
    time = str(int(now_s))
    return {ID: message_id, TIME: time, SIGNATURE: f"{VERSION},{_signature(secret, message_id, time, body)}"}


def problem_of(secret: Secret, headers: Mapping[str, str], body: bytes, *, now_s: float) -> str:
    """The reason why a request is not accepted; empty if its signature is valid."""
    message_id, time = headers.get(ID, ""), headers.get(TIME, "")
    if not 0 < len(message_id) <= ID_MAX_CHARS or not time or not headers.get(SIGNATURE):
        return f"The headers {ID}, {TIME} and {SIGNATURE} are required. {ID} has at most {ID_MAX_CHARS} characters."
    if not (time.isascii() and time.isdigit() and abs(int(time) - now_s) <= TOLERANCE_S):
        return (
            f"{TIME} must be the current time in seconds since 1970, with a difference of at most {TOLERANCE_S:g} s. "
            "Set the clock of the sender."
        )
    right = _signature(secret, message_id, time, body).encode()
    for given in headers[SIGNATURE].split():
        version, _, value = given.partition(",")
        if version == VERSION and hmac.compare_digest(value.encode("utf-8", "replace"), right):
            return ""
    return f"{SIGNATURE} is not valid. Sign <id>.<timestamp>.<body> with the secret of the channel."


def _signature(secret: Secret, message_id: str, time: str, body: bytes) -> str:
    content = f"{message_id}.{time}.".encode() + body
    return base64.b64encode(hmac.digest(signing_key(secret), content, hashlib.sha256)).decode()
