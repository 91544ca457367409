"""A process that does a job up to one of its calls to Redis, says so, and waits there to be killed."""

import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from daemon.bus import Bus
from daemon.config import Config, RedisConfig
from daemon.job_handlers import job_runner
from daemon.run import open_process
from tests.conftest import HASTY
from tests.cut_short import CutBus


class HaltingBus(CutBus):
    """Stands still before its ``at``-th call."""

    async def passing(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self.calls += 1
        if self.calls == self._at:
            print("here", flush=True)
            await anyio.sleep_forever()
        return await call()


async def main(server_dir: str, data_dir: str, prefix: str, job_id: str, at: int) -> None:
    config = Config(queue=HASTY, redis=RedisConfig(prefix=prefix))
    async with open_process(config, Path(server_dir)) as process:
        bus: Bus = HaltingBus(process.bus, at=at)
        await job_runner(replace(process, bus=bus, data_dir=Path(data_dir))).run_one(job_id)


if __name__ == "__main__":
    _, *texts, number = sys.argv
    anyio.run(main, *texts, int(number))
