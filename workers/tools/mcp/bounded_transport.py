"""An HTTP transport with limits on the size of responses, which the library does not have."""

from collections.abc import AsyncIterator

import httpx2

from daemon.model.event_stream import whole_json

RESPONSE_MAX_BYTES = 32 * 1024 * 1024
"""Largest response of a tool server; a stream of events counts as one."""


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """As the library's own, with a limit."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, whose body raises ``ReadError`` beyond ``RESPONSE_MAX_BYTES``."""
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - an asynchronous transport's is
        bounded = _Bounded(response.stream, request)
        # What is packed is unpacked later; the client asks for none.
        is_packed = response.headers.get("content-encoding", "identity") != "identity"
        response.stream = bounded if is_packed else _Whole(bounded)
        return response


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, request: httpx2.Request) -> None:
        self._stream = stream
        self._request = request
        self._size = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._size += len(chunk)
            if self._size > RESPONSE_MAX_BYTES:
                raise httpx2.ReadError(f"the server sent more than {RESPONSE_MAX_BYTES:,} bytes", request=self._request)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class _Whole(httpx2.AsyncByteStream):
    """JSON and events line by line, in which no character is cut: neither has a line break within an escape."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun = bytearray()
        async for chunk in self._stream:
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
            if end:
                yield whole_json(bytes(begun + chunk[:end]))
                begun.clear()
            begun += chunk[end:]
        if begun:
            yield whole_json(bytes(begun))

    async def aclose(self) -> None:
        await self._stream.aclose()
