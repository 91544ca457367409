"""Looking through everything that is kept: every file, unpacked, and every key of the server."""

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

from redis.asyncio import Redis

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
DEPTH_MAX = 4  # archives inside each other


def unpacked(raw: bytes, depth: int = DEPTH_MAX) -> Iterator[bytes]:
    """``raw``, and all that is packed in it."""
    yield raw
    if not depth:
        return
    with suppress(OSError, EOFError, zlib.error, zipfile.BadZipFile):
        if raw.startswith(GZIP):
            yield from unpacked(gzip.decompress(raw), depth - 1)
        elif raw.startswith(ZIP):
            with zipfile.ZipFile(io.BytesIO(raw)) as packed:
                for name in packed.namelist():
                    yield name.encode()
                    yield from unpacked(packed.read(name), depth - 1)


def files_below(folder: Path) -> Iterator[Path]:
    """Plain files; links are not followed, and what is gone meanwhile is none."""
    for path in paths_below(folder):
        if path.is_file() and not path.is_symlink():
            yield path


def paths_below(folder: Path) -> Iterator[Path]:
    """All that is not a folder, links to folders too."""
    for here, folders, files in os.walk(folder):
        yield from (Path(here, name) for name in sorted([*folders, *files]) if not is_folder(Path(here, name)))


def is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def names_of(path: Path) -> int:
    """How many names a file has; 0 when it is gone meanwhile."""
    with suppress(OSError):
        return path.lstat().st_nlink
    return 0


def contents(path: Path) -> bytes:
    """All of a file, unpacked, one after the other; nothing when it is gone meanwhile."""
    with suppress(OSError):
        return b"\n".join([str(path).encode(), *unpacked(path.read_bytes())])
    return b""


async def keys_of(redis: Redis) -> AsyncIterator[tuple[str, bytes]]:
    async for key in redis.scan_iter(count=500):
        match await redis.type(key):
            case b"string":
                found = await redis.get(key)
            case b"hash":
                found = await redis.hgetall(key)
            case b"list":
                found = await redis.lrange(key, 0, -1)
            case b"set":
                found = await redis.smembers(key)
            case b"zset":
                found = await redis.zrange(key, 0, -1)
            case b"stream":
                found = await redis.xrange(key)
            case _:
                continue
        yield key.decode(), key + b"\n" + _joined(found)


def _joined(found: object) -> bytes:
    """Everything in an answer, whole: a text of it would show other than what is in it."""
    match found:
        case bytes():
            return found
        case dict():
            return b"\n".join(_joined(each) for pair in found.items() for each in pair)
        case list() | tuple() | set():
            return b"\n".join(map(_joined, found))
        case _:
            return b""
