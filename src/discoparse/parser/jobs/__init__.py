"""Many processes: tasks in, results out, in order; the processes share the memory of what they need for it.

For texts, `TextWork` and the tasks of `texts` make a `Pool` parse and format. Other work is an object with a
method `prepare`, as `Pool` says.
"""

from discoparse.parser.jobs.pool import Pool
from discoparse.parser.jobs.worker import Job, Work
from discoparse.parser.jobs.workers import WorkerDied

__all__ = ["Job", "Pool", "Work", "WorkerDied"]
