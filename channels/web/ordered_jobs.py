"""Jobs that an operator requested: the response waits a moment for the end of the job."""

import anyio
from starlette.responses import Response

from channels.web.request_params import json_response
from channels.web.site import Site
from daemon.forget import ForgetOrder, ForgetRequests, ForgetSearch, stores_for
from daemon.jobs import Jobs

END_S = 5.0
"""Longest wait for the end of a job, which continues after that."""

LOOK_AGAIN_S = 0.1


class OrderedJobs:
    """The jobs of one site."""

    def __init__(self, site: Site) -> None:
        process = site.process
        self.stores = stores_for(process)
        lease_s = process.config.queue.lease_s
        self._jobs = Jobs(process.bus, lease_s=lease_s, worker=process.name, clock=process.clock)
        self.asking = ForgetRequests(process.bus, self._jobs)

    async def forget(self, order: ForgetOrder, search: ForgetSearch | None, *, name: str) -> Response:
        """Have ``order`` done; the same ``name`` is done once."""
        return await self.answer(await self.asking.order(order, search, name=name))

    async def answer(self, job_id: str) -> Response:
        """The response about a job: 200 with its report, or 202 if it has not ended yet."""
        with anyio.move_on_after(END_S):
            while True:
                record = await self._jobs.find(job_id)
                if record is not None and record.partly:
                    return json_response({"job": job_id, "done": False, "reason": record.reason}, 202)
                if record is not None and record.has_ended:
                    return json_response({"job": job_id, "done": True, "report": record.report})
                await anyio.sleep(LOOK_AGAIN_S)
        return json_response({"job": job_id, "done": False}, 202)
