"""Signature and encryption of events by HTTP (open.feishu.cn, "Receive events"). Pure."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

import msgspec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from daemon.config import Secret
from daemon.errors import UNREADABLE

TIME, NONCE, SIGNATURE = "X-Lark-Request-Timestamp", "X-Lark-Request-Nonce", "X-Lark-Signature"

BLOCK_BYTES = 16
"""Of AES, and of the initial vector before the text."""

OLD_S = 300
"""Largest difference between the time of a signature and our clock. Feishu signs a repetition anew."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def problem_of(key: Secret, headers: Mapping[str, str], body: bytes, *, now_s: float) -> str:
    """The reason why a request is not accepted; empty if its signature is valid."""
    stamped, nonce, signature = headers.get(TIME, ""), headers.get(NONCE, ""), headers.get(SIGNATURE, "")
    if not (stamped and nonce and signature):
        return f"The request has no Feishu signature. The headers {TIME}, {NONCE} and {SIGNATURE} are required."
    right = signature_of(key, stamped, nonce, body).encode()
    if not hmac.compare_digest(signature.encode("utf-8", "replace"), right):
        return "The Feishu signature of the request is not valid. Check encrypt_key."
    if not (stamped.isascii() and stamped.isdigit() and abs(int(stamped) - now_s) <= OLD_S):
        return (
            f"The timestamp of the signature differs from this machine's time by more than {OLD_S} s. Check the clock "
            "of this machine."
        )
    return ""


def signature_of(key: Secret, stamped: str, nonce: str, body: bytes) -> str:
    """What Feishu writes into the header of a request."""
    return hashlib.sha256(f"{stamped}{nonce}{key.reveal()}".encode() + body).hexdigest()


def decrypted(key: Secret, body: bytes) -> bytes:
    """The event in an encrypted request, as JSON.

    Raises:
        ValueError: it is not encrypted, or with another key.
    """
    try:
        encrypted = base64.b64decode(_decode(body)["encrypt"], validate=True)
    except (*UNREADABLE, KeyError, TypeError, binascii.Error):
        raise ValueError("the request is not encrypted") from None
    start, content = encrypted[:BLOCK_BYTES], encrypted[BLOCK_BYTES:]
    if not content or len(content) % BLOCK_BYTES:
        raise ValueError("the encrypted event has an impossible size")
    cipher = Cipher(algorithms.AES(hashlib.sha256(key.reveal().encode()).digest()), modes.CBC(start))
    decryptor = cipher.decryptor()
    plain = decryptor.update(content) + decryptor.finalize()
    padding = plain[-1]
    if not 1 <= padding <= BLOCK_BYTES or plain[-padding:] != bytes([padding]) * padding:
        raise ValueError("the event cannot be decrypted with this key")
    return plain[:-padding]
