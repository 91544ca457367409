"""The archive in an object store: S3, Google, Azure, and compatible ones."""

import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import msgspec

from daemon.archive.storage import CALLS, FILE_MAX_BYTES, STORAGE_LIMIT_S, Kind, StoredFile
from daemon.concurrency import at_once
from daemon.config import Secret, masked_url
from daemon.errors import UNREADABLE, ArchiveError, ArchiveMissing, ArchiveUnavailable, ConfigError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

CONNECT_S = 5.0
REQUEST_S = 15.0
"""Limit for one request; ``STORAGE_LIMIT_S`` covers all requests of a call, including retries."""

RETRIES = 3

_SERVICES = {
    **dict.fromkeys(("s3", "s3a"), "AWS"),
    **dict.fromkeys(("az", "adl", "azure", "abfs", "abfss"), "AZURE"),
    "gs": "GOOGLE",
}
_ENDPOINTS = ("ENDPOINT", "ENDPOINT_URL", "ENDPOINT_URL_S3", "STORAGE_ENDPOINT", "BASE_URL")
"""Variables of the library (https://docs.rs/object_store), after the prefix of the service."""
_ACCOUNTS = ("GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH")
"""Variables with a service account: JSON, or the path of a file."""
_TRUE = ("1", "true", "on", "yes", "y")
"""What the library takes for true."""


class _Account(msgspec.Struct):
    gcs_base_url: str = ""
    """Of an emulator."""


_decode_account = msgspec.json.Decoder(_Account).decode
_T = TypeVar("_T")


def object_storage(url: Secret, *, allow_http: bool = False) -> "ObjectStorage":
    """The storage at an address; credentials are read from the environment, nothing is sent yet.

    ``allow_http``: whether the store may be reached without TLS, which the environment may allow as well.

    Raises:
        ConfigError: the address cannot be used.
    """
    from obstore.exceptions import BaseError  # noqa: PLC0415 - 20 ms, for those who have an object store
    from obstore.store import from_url  # noqa: PLC0415

    where = masked_url(url)
    service = _SERVICES.get(url.reveal().partition(":")[0], "")
    allow_http = allow_http or os.environ.get(f"{service}_ALLOW_HTTP", "").lower() in _TRUE
    if not allow_http and (name := _plain_endpoint(service)):
        raise ConfigError(
            f"archive.url: the address in {name} begins with http://, so messages and keys would be sent without "
            f"encryption. Use an https:// address, or set archive.allow_http = true or {service}_ALLOW_HTTP=true."
        )
    try:
        store = from_url(
            url.reveal(),
            client_options={
                "connect_timeout": timedelta(seconds=CONNECT_S),
                "timeout": timedelta(seconds=REQUEST_S),
                "allow_http": allow_http,
            },
            retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=REQUEST_S)},
        )
    except (BaseError, ValueError) as error:
        # The library's text may quote the address.
        reason = type(error).__name__ if url.reveal() in str(error) else _first_line(error)
        raise ConfigError(f"archive.url: {where} cannot be used: {reason}. Correct the URL.") from None
    return ObjectStorage(store, where=where)


def _plain_endpoint(service: str) -> str:
    """The variable that names an address without TLS for the store; empty: none does."""
    names = (f"{service}_{each}" for each in _ENDPOINTS)
    found = next((name for name in names if os.environ.get(name, "").lower().startswith("http://")), "")
    return found or (_plain_account() if service == "GOOGLE" else "")


def _plain_account() -> str:
    """The variable with Google's service account, if the account names an address without TLS; else empty."""
    for name in _ACCOUNTS:
        text = os.environ.get(name, "")
        with suppress(OSError, *UNREADABLE):
            account = _decode_account(text if name.endswith("_KEY") else Path(text).read_bytes())
            if account.gcs_base_url.lower().startswith("http://"):
                return name
    return ""


class ObjectStorage:
    """Objects of a store, under names as they are; a store shows an object whole or not at all."""

    kind: Kind = "object"

    def __init__(self, store: "ObjectStore", *, where: str) -> None:
        self._store = store
        self.where = where

    async def create(self, name: str, content: bytes) -> bool:
        """See ``Storage``."""
        from obstore.exceptions import AlreadyExistsError, NotSupportedError  # noqa: PLC0415 - as above

        try:
            await self._run(lambda: self._store.put_async(name, content, mode="create"), name)
        except ArchiveError as error:
            if isinstance(error.__cause__, AlreadyExistsError):
                return False
            if not isinstance(error.__cause__, NotSupportedError):
                raise
        else:
            return True
        # A store that cannot: two who write other content under one name at the same moment are not told apart.
        with suppress(ArchiveMissing):
            await self._run(lambda: self._store.head_async(name), name)
            return False
        await self.put(name, content)
        return True

    async def put(self, name: str, content: bytes) -> None:
        """See ``Storage``."""
        await self._run(lambda: self._store.put_async(name, content), name)

    async def get(self, name: str, *, max_bytes: int = FILE_MAX_BYTES) -> bytes:
        """See ``Storage``."""

        async def read() -> bytes:
            found = await self._store.get_async(name)
            if found.meta["size"] > max_bytes:
                raise ArchiveError(f"{self.where}/{name} is larger than the object that Millpond wrote")
            return bytes(await found.bytes_async())

        return await self._run(read, name)

    async def list(self, folder: str) -> Sequence[StoredFile]:
        """See ``Storage``."""

        async def read() -> Sequence[StoredFile]:
            found = [
                StoredFile(name=each["path"], modified_s=each["last_modified"].timestamp(), size=each["size"])
                async for page in self._store.list(f"{folder}/")  # pyright: ignore[reportUnknownMemberType]
                for each in page
            ]
            return sorted(found, key=lambda stored: stored.name)

        return await self._run(read, folder)

    async def folders(self) -> Sequence[str]:
        """See ``Storage``."""
        store: Any = self._store  # the types of this method are partial
        found = await self._run(store.list_with_delimiter_async, "")
        return sorted(prefix.rstrip("/") for prefix in found["common_prefixes"])

    async def delete(self, *names: str) -> None:
        """See ``Storage``."""
        await at_once(names, self._delete, most=CALLS)

    async def _delete(self, name: str) -> None:
        with suppress(ArchiveMissing):
            await self._run(lambda: self._store.delete_async(name), name)

    async def _run(self, work: Callable[[], Awaitable[_T]], name: str) -> _T:
        from obstore.exceptions import BaseError  # noqa: PLC0415 - as above

        place = f"{self.where}/{name}"
        try:
            with anyio.fail_after(STORAGE_LIMIT_S):
                return await work()
        except TimeoutError as error:
            raise ArchiveUnavailable(
                f"{place}: the object store did not respond for {STORAGE_LIMIT_S:.0f} s. Check the network."
            ) from error
        except FileNotFoundError as error:
            raise ArchiveMissing(f"{place} was not found. Restore the object from a backup.") from error
        except (BaseError, OSError, ValueError) as error:
            raise ArchiveUnavailable(
                f"{place} cannot be used: {_first_line(error)}. Check archive.url, the credentials in the "
                "environment, and the network."
            ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
