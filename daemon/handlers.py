"""Who does which kind of job."""

from collections.abc import Callable, Mapping

from daemon.jobs import Handler, Host, JobRunner
from daemon.people import linking, parting

HANDLERS: Mapping[str, Callable[[Host], Handler]] = {"link": linking.handler, "unlink": parting.handler}
"""Kind of a job → what makes its handler for a process."""


def job_runner(host: Host) -> JobRunner:
    """What does the jobs of every kind for a process."""
    return JobRunner(host, {kind: make(host) for kind, make in HANDLERS.items()})
