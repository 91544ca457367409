"""The heap of the C library, in a process of its own: what was said to it once holds for good."""

import json
import subprocess
import sys
from typing import Any

import pytest

from daemon.concurrency import ARENAS
from tests.limits import HANG_S

LARGE = 20  # pieces of a megabyte that are held at a time
PROGRAM = f"""
import ctypes, json, sys, threading
from daemon.concurrency import share_heap

share_heap()
libc = ctypes.CDLL(None)
if not hasattr(libc, "mallinfo2") or not hasattr(libc, "malloc_info"):
    print("{{}}")
    sys.exit()

class Info(ctypes.Structure):
    # Of <malloc.h>: the fourth is how many pieces are mapped by themselves.
    _fields_ = [(f"number_{{at}}", ctypes.c_size_t) for at in range(10)]

libc.mallinfo2.restype = Info
libc.fopen.restype = ctypes.c_void_p

held, all_there = [], threading.Barrier(32)

def work():
    all_there.wait()
    held.append(bytearray(4_096))
    all_there.wait()

threads = [threading.Thread(target=work) for _ in range(32)]
for each in threads:
    each.start()
for each in threads:
    each.join()
stream = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, stream)
libc.fclose(stream)
with open(sys.argv[1]) as file:
    arenas = file.read().count("<heap nr=")

del (large := [bytearray(1 << 20)])[:]  # glibc maps no more of this size once one was freed
before = libc.mallinfo2().number_3
large = [bytearray(1 << 20) for _ in range({LARGE})]
print(json.dumps({{"arenas": arenas, "mapped": libc.mallinfo2().number_3 - before}}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("heap") / "info"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file)], capture_output=True, text=True, timeout=HANG_S, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    if not found:
        pytest.skip("this C library has another heap")
    return found


def test_threads_share_a_few_heaps(seen: dict[str, Any]) -> None:
    # Each of up to eight a core had its own, with what it once needed for a moment.
    assert seen["arenas"] <= ARENAS


def test_what_is_large_goes_back_when_it_is_freed(seen: dict[str, Any]) -> None:
    assert seen["mapped"] == LARGE
