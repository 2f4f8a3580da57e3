"""Long work with progress, and who did what. The lowest app: it knows no other."""

from jobs.models.events import Event, record
from jobs.models.jobs import REFUSED, Job, JobRow

__all__ = ["REFUSED", "Event", "Job", "JobRow", "record"]
