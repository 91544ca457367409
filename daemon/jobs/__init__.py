"""Jobs: what must go on after a crash, done by whoever has the lease, from where the one before has come to.

``Jobs`` keeps them in Redis; ``JobRunner`` does those whose kind has a ``Handler``, in the consolidation role or, with
``until_ended``, for somebody who waits.
"""

from daemon.jobs.job_runner import Handler, Job, JobHost, JobRunner, Report, tell
from daemon.jobs.job_store import HeldJob, JobRecord, Jobs, NotifiedChat

__all__ = ["Handler", "HeldJob", "Job", "JobHost", "JobRecord", "JobRunner", "Jobs", "NotifiedChat", "Report", "tell"]
