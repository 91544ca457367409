"""A fake object store that speaks S3 over plain HTTP: real requests on loopback, objects in memory.

    async with s3_server() as store:
        monkeypatch.setenv("AWS_ENDPOINT", store.url)

It knows what an archive needs: put, also only where there is nothing yet, get, head, list and delete. A request whose
signature (AWS Signature Version 4) is not that of ``KEY`` and ``SECRET`` is refused.
"""

import hashlib
import hmac
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import quote
from xml.etree import ElementTree

from aiohttp import web

KEY, SECRET = "fake-key", "fake-secret"
MODIFIED = "2026-11-20T09:00:00.000Z"
HTTP_MODIFIED = "Fri, 20 Nov 2026 09:00:00 GMT"


@dataclass
class S3:
    url: str = ""
    objects: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """``bucket/key`` -> content."""

    async def answer(self, request: web.Request) -> web.Response:
        """What the store says to a request."""
        if request.headers.get("Authorization", "").rpartition("Signature=")[2] != signature(request):
            return _refused(403, "SignatureDoesNotMatch")
        name, body = request.path.lstrip("/"), await request.read()
        if "list-type" in request.query:
            return self.listed(name.strip("/"), request)
        if "delete" in request.query:
            return self._deleted(name.strip("/"), body)
        if request.method == "PUT":
            return self.put(name, body, is_new=request.headers.get("If-None-Match") == "*")
        return self.got(name)

    def put(self, name: str, body: bytes, *, is_new: bool) -> web.Response:
        if is_new and name in self.objects:
            return _refused(412, "PreconditionFailed")
        self.objects[name] = body
        return web.Response(headers={"ETag": _tag(body)})

    def got(self, name: str) -> web.Response:
        if name not in self.objects:
            return _refused(404, "NoSuchKey")
        found = self.objects[name]
        return web.Response(body=found, headers={"ETag": _tag(found), "Last-Modified": HTTP_MODIFIED})

    def names(self, bucket: str, request: web.Request) -> tuple[list[str], list[str]]:
        """What a request lists: keys, and folders."""
        prefix, delimiter = request.query.get("prefix", ""), request.query.get("delimiter", "")
        keys = sorted(name.removeprefix(f"{bucket}/") for name in self.objects if name.startswith(f"{bucket}/{prefix}"))
        folders = {
            prefix + key[len(prefix) :].split(delimiter)[0] + "/" for key in keys if _is_below(key, prefix, delimiter)
        }
        return [key for key in keys if not _is_below(key, prefix, delimiter)], sorted(folders)

    def listed(self, bucket: str, request: web.Request) -> web.Response:
        shown, folders = self.names(bucket, request)
        contents = "".join(
            f"<Contents><Key>{key}</Key><LastModified>{MODIFIED}</LastModified><ETag>{_tag(b'')}</ETag>"
            f"<Size>{len(self.objects[f'{bucket}/{key}'])}</Size></Contents>"
            for key in shown
        )
        prefixes = "".join(f"<CommonPrefixes><Prefix>{each}</Prefix></CommonPrefixes>" for each in folders)
        return _xml(f"<ListBucketResult><IsTruncated>false</IsTruncated>{contents}{prefixes}</ListBucketResult>")

    def _deleted(self, bucket: str, body: bytes) -> web.Response:
        keys = [each.text or "" for each in ElementTree.fromstring(body).iter() if each.tag.endswith("Key")]
        for key in keys:
            self.objects.pop(f"{bucket}/{key}", None)
        deleted = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        return _xml(f"<DeleteResult>{deleted}</DeleteResult>")


@asynccontextmanager
async def s3_server() -> AsyncGenerator[S3]:
    """A store on a free port of this machine, during the block."""
    store = S3()
    async with served(store):
        yield store


@asynccontextmanager
async def served(store: S3) -> AsyncGenerator[None]:
    """Let a store answer, during the block."""
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{name:.*}", store.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    store.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield
    finally:
        await runner.cleanup()


def signature(request: web.Request) -> str:
    """The signature that a request has if it was signed with our key.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
    """
    given = dict(
        part.strip().partition("=")[::2]
        for part in request.headers.get("Authorization", " ").split(" ", 1)[1].split(",")
    )
    key, _, scope = given.get("Credential", "").partition("/")
    names = given.get("SignedHeaders", "").split(";")
    query = "&".join(f"{quote(name, '-_.~')}={quote(value, '-_.~')}" for name, value in sorted(request.query.items()))
    headers = "".join(f"{name}:{request.headers.get(name, '').strip()}\n" for name in names)
    asked = (request.method, request.raw_path.partition("?")[0], query, headers, ";".join(names))
    canonical = "\n".join((*asked, request.headers.get("x-amz-content-sha256", "")))
    time = request.headers.get("x-amz-date", "")
    text = "\n".join(("AWS4-HMAC-SHA256", time, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    made = f"AWS4{SECRET if key == KEY else ''}".encode()
    for part in (*scope.split("/"), text):
        made = hmac.digest(made, part.encode(), "sha256")
    return made.hex()


def _is_below(key: str, prefix: str, delimiter: str) -> bool:
    return bool(delimiter) and delimiter in key[len(prefix) :]


def _tag(content: bytes) -> str:
    return f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"'


def _xml(text: str, status: int = 200) -> web.Response:
    return web.Response(
        text=f'<?xml version="1.0" encoding="UTF-8"?>{text}', status=status, content_type="application/xml"
    )


def _refused(status: int, code: str) -> web.Response:
    return _xml(f"<Error><Code>{code}</Code><Message>refused</Message></Error>", status)
