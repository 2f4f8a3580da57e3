"""A job that is done at the command line, and told there."""

from django.core.management.base import BaseCommand, CommandError

from jobs.models import Job
from jobs.queries import job_reports
from jobs.services import runner

SHOWN = 20


def run_import(command: BaseCommand, job: Job) -> None:
    """Do an import that was started with `here`, and say what became of its rows. Raises CommandError."""
    try:
        runner.run(job.pk)
    except KeyboardInterrupt:
        raise CommandError("Stopped. Run it again: what is there stays, and is not added twice.") from None
    job.refresh_from_db()
    if job.state != Job.State.DONE:
        raise CommandError(job.error or f"The import ended as {job.state}.")
    command.stdout.write(", ".join(f"{words}: {n}" for _key, words, n in job_reports.counts(job)) or "No rows.")
    rows, _more = job_reports.page(job, only_errors=True, after=0)
    for row in rows[:SHOWN]:
        command.stdout.write(f"  row {row.number} {row.name}: {row.message}")
    if len(rows) > SHOWN:
        command.stdout.write(f"  ... and more: /jobs/{job.pk}/")
