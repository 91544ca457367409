"""Failures that no later call gets around: somebody has to mend the key, the account, the name or the address. Pure."""

import socket
import ssl
from collections.abc import Iterable

from daemon.config.config_rules import is_loopback

_MOVED = "The server redirects the request to another address ({status}). Set model.base_url to the API's address."
STATUSES = {
    **dict.fromkeys((301, 302, 307, 308), _MOVED),
    401: "The server rejected the API key (401). Check {variable} or api_key_file.",
    402: "The account has no credit left (402). Add credit, or use another account's key.",
    403: (
        "The API key does not have access to this model (403). Check {variable} or api_key_file, and the "
        "key's permissions."
    ),
    404: "The model or the address was not found (404). Check model.name and model.base_url.",
    405: "The address does not accept chat requests (405). Check model.base_url.",
    426: "The server expects TLS (426). Write https:// instead of http:// in model.base_url.",
    410: "The model is no longer available (410). Set model.name to another model.",
}
"""What each status means, and what to do; docs/failures.md."""

WEB_PAGE = (
    "The server at {host} returned a web page instead of an answer from the model. Set model.base_url to the API's "
    "address."
)
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")
"""Reasons of OpenSSL when bytes come that are no TLS."""

_KEY = ("api key not valid", "invalid api key", "incorrect api key", "invalid_api_key", "api_key_invalid", "login fail")
_CREDIT = ("insufficient_quota", "insufficient balance", "credit balance is too low", "exceeded your current quota")
_CREDIT_MORE = ("arrearage", "billing_not_active", "payment required", "余额不足")
_MODEL = ("model not exist", "model_not_found", "invalid model", "unknown model", "no such model", "model not found")
_MODEL_MORE = ("invalid_model", "model_not_exist", "model does not exist", "模型不存在")

_TLS = ("plain http request was sent to https port", "http request to an https server")

_WORDS = {426: _TLS, 401: _KEY, 402: (*_CREDIT, *_CREDIT_MORE), 404: (*_MODEL, *_MODEL_MORE)}
"""Codes and words of servers that report such a fault under another status (400 and 429 of several providers)."""


def status_of(status: int, text: str) -> int | None:
    """The status of ``STATUSES`` that a refusal means; None: it is no such fault.

    Args:
        status: of the response.
        text: code, type and words of the error, in lower case.
    """
    if status in STATUSES:
        return status
    if not 400 <= status < 500:
        return None
    return next((meant for meant, words in _WORDS.items() if any(word in text for word in words)), None)


def connection_fault(causes: Iterable[BaseException], host: str) -> str | None:
    """A sentence on why a server cannot be reached until the set-up is mended; None: it may be reached later.

    Args:
        causes: the error and the errors that led to it.
        host: host and port that were asked.
    """
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"The certificate of {host} could not be verified ({cause.verify_message or 'no reason given'}). "
                "Check model.base_url, SSL_CERT_FILE and this machine's clock."
            )
        if isinstance(cause, ssl.SSLError) and getattr(cause, "reason", "") in _NO_TLS:
            return f"The server at {host} does not use TLS. Write http:// in model.base_url, or correct the port."
        if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
            return f"The host {host} was not found. Check model.base_url and this machine's DNS settings."
        if isinstance(cause, ConnectionRefusedError) and is_loopback(host.rpartition(":")[0].strip("[]") or host):
            return f"No server listens at {host}. Start the model's server, or correct model.base_url."
    return None
