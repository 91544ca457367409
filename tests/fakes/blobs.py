"""Fake object stores that speak the other two dialects over plain HTTP: Google's XML API and Azure's Blob service.

As ``s3_server``, with objects in memory, and as much as an archive needs. Azure's requests are refused unless they are
signed with ``ACCOUNT`` and ``ACCOUNT_KEY``; Google's need no signature, as with its emulators.
"""

import base64
import hmac
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import unquote

from aiohttp import web

from tests.fakes.s3 import HTTP_MODIFIED, S3, served

ACCOUNT, ACCOUNT_KEY = "millpond", base64.b64encode(b"fake-secret").decode()

_SIGNED = (
    "Content-Encoding", "Content-Language", "Content-Length", "Content-MD5", "Content-Type", "Date",
    "If-Modified-Since", "If-Match", "If-None-Match", "If-Unmodified-Since", "Range",
)  # fmt: skip


class Google(S3):
    """https://cloud.google.com/storage/docs/xml-api/reference-methods; lists are those of S3."""

    async def answer(self, request: web.Request) -> web.Response:
        name, body = request.path.lstrip("/"), await request.read()
        if "list-type" in request.query:
            return self.listed(name.strip("/"), request)
        if request.method == "PUT":
            return self.put(name, body, is_new=request.headers.get("x-goog-if-generation-match") == "0")
        if request.method == "DELETE":
            return web.Response(status=204 if self.objects.pop(name, None) is not None else 404)
        return self.got(name)

    @property
    def key(self) -> str:
        """A service account that needs no token, as emulators of Google's are used."""
        nothing = dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
        return json.dumps({"gcs_base_url": self.url, "disable_oauth": True} | nothing)


class Azure(S3):
    """https://learn.microsoft.com/en-us/rest/api/storageservices/blob-service-rest-api"""

    async def answer(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization", "") != f"SharedKey {ACCOUNT}:{shared_key(request)}":
            return web.Response(status=403)
        name, body = request.path.lstrip("/"), await request.read()
        if request.query.get("comp") == "list":
            return self._enumerated(name.strip("/"), request)
        if request.query.get("comp") == "batch":
            return self._batched(body.decode())
        if request.method == "PUT":
            if request.headers.get("If-None-Match") == "*" and name in self.objects:
                return web.Response(status=409)
            return self.put(name, body, is_new=False)
        return self.got(name)

    def _enumerated(self, container: str, request: web.Request) -> web.Response:
        shown, folders = self.names(container, request)
        blobs = "".join(
            f"<Blob><Name>{key}</Name><Properties><Last-Modified>{HTTP_MODIFIED}</Last-Modified><Etag>e</Etag>"
            f"<Content-Type>a/b</Content-Type><Content-Length>{len(self.objects[f'{container}/{key}'])}</Content-Length>"
            "</Properties></Blob>"
            for key in shown
        )
        prefixes = "".join(f"<BlobPrefix><Name>{each}</Name></BlobPrefix>" for each in folders)
        text = f"<EnumerationResults><Blobs>{blobs}{prefixes}</Blobs><NextMarker/></EnumerationResults>"
        return web.Response(text=text, content_type="application/xml")

    def _batched(self, body: str) -> web.Response:
        answers = list[str]()
        for number, path in enumerate(re.findall(r"^DELETE (\S+) ", body, re.MULTILINE)):
            found = self.objects.pop(unquote(path).lstrip("/"), None)
            status = "404 Not Found\r\nx-ms-error-code: BlobNotFound" if found is None else "202 Accepted"
            head = f"--answer\r\nContent-Type: application/http\r\nContent-ID: {number}\r\n\r\n"
            answers.append(f"{head}HTTP/1.1 {status}\r\n\r\n\r\n")
        headers = {"Content-Type": "multipart/mixed; boundary=answer"}
        return web.Response(body=("".join(answers) + "--answer--\r\n").encode(), status=202, headers=headers)


def shared_key(request: web.Request) -> str:
    """The signature: https://learn.microsoft.com/en-us/rest/api/storageservices/authorize-with-shared-key"""
    headers = {name.lower(): value for name, value in request.headers.items()}
    words = [request.method, *(headers.get(name.lower(), "") for name in _SIGNED)]
    words = ["" if name == "Content-Length" and word == "0" else word for name, word in zip(("", *_SIGNED), words)]  # noqa: B905
    words += [f"{name}:{value}" for name, value in sorted(headers.items()) if name.startswith("x-ms-")]
    resource = f"/{ACCOUNT}{request.raw_path.partition('?')[0]}"
    words += [resource, *(f"{name}:{value}" for name, value in sorted(request.query.items()))]
    key = base64.b64decode(ACCOUNT_KEY)
    return base64.b64encode(hmac.digest(key, "\n".join(words).encode(), "sha256")).decode()


@asynccontextmanager
async def google_server() -> AsyncGenerator[Google]:
    """Google's store, during the block."""
    store = Google()
    async with served(store):
        yield store


@asynccontextmanager
async def azure_server() -> AsyncGenerator[Azure]:
    """Azure's store, during the block."""
    store = Azure()
    async with served(store):
        yield store
