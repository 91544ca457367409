"""Who does which kind of job."""

from collections.abc import Callable, Mapping

from daemon.forget import KIND as FORGET
from daemon.forget import ForgetJob, stores_for
from daemon.forget.sweep import HOOKS
from daemon.jobs import Handler, JobHost, JobRunner
from daemon.people import link_job, unlink_job
from daemon.people.link_job import KIND as LINK
from daemon.people.unlink_job import KIND as UNLINK
from daemon.recall.index_removal import forget_in_indexes

if forget_in_indexes not in HOOKS:
    HOOKS.append(forget_in_indexes)

HANDLERS: Mapping[str, Callable[[JobHost], Handler]] = {
    FORGET: lambda host: ForgetJob(stores_for(host)),
    LINK: link_job.handler,
    UNLINK: unlink_job.handler,
}
"""Kind of a job → what makes its handler for a process."""


def job_runner(host: JobHost) -> JobRunner:
    """What does the jobs of every kind for a process."""
    return JobRunner(host, {kind: make(host) for kind, make in HANDLERS.items()})
