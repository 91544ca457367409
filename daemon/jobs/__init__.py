"""Jobs: what must go on after a crash, done by whoever has the lease, from where the one before has come to.

``Jobs`` keeps them in Redis; ``JobRunner`` does those whose kind has a ``Handler``, in the consolidation role or, with
``until_ended``, for somebody who waits.
"""

from daemon.jobs.chat_notice import tell
from daemon.jobs.job_host import Host
from daemon.jobs.job_runner import Handler, Job, JobRunner, Report
from daemon.jobs.job_store import Held, JobRecord, Jobs, Tell

__all__ = ["Handler", "Held", "Host", "Job", "JobRecord", "JobRunner", "Jobs", "Report", "Tell", "tell"]
