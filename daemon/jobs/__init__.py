"""Runs background jobs that continue after a crash.

Public: ``Jobs`` stores them in Redis, ``JobRunner`` runs those of its ``Handler`` functions.
Begin with ``job_runner``.
"""

from daemon.jobs.job_runner import Handler, Job, JobHost, JobRunner, Report, tell
from daemon.jobs.job_store import HeldJob, JobRecord, Jobs, NotifiedChat

__all__ = ["Handler", "HeldJob", "Job", "JobHost", "JobRecord", "JobRunner", "Jobs", "NotifiedChat", "Report", "tell"]
