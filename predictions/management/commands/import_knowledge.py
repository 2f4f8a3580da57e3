"""./emic manage import_knowledge <team> <key> <entries.jsonl> [--pictures FOLDER|ZIP]: what lies on this machine."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobs import readers, runner
from jobs.models import Job
from people.models import Team
from predictions.services.knowledge import bases

SHOWN = 20


class Command(BaseCommand):
    help = "Import the entries of a knowledge base from files on this machine. Again adds nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("team", help="the team's address, as in /teams/<this>/")
        parser.add_argument("key", help="of the knowledge base; made if it is new")
        parser.add_argument("entries", type=Path, help="JSON Lines or a table")
        parser.add_argument("--pictures", type=Path, help="a folder, or a .zip")
        parser.add_argument("--name", default="")
        parser.add_argument("--version-name", default="1", metavar="VERSION")
        parser.add_argument("--licence", default="")

    def handle(self, **options: Any) -> None:
        team = Team.objects.filter(slug=options["team"]).first()
        if team is None:
            raise CommandError(f"There is no team {options['team']!r}.")
        for path in (options["entries"], options["pictures"]):
            if path is not None and not path.exists():
                raise CommandError(f"There is nothing at {path}.")
        told = {"key": options["key"], "version": options["version_name"], "licence": options["licence"]}
        base, _made = bases.make(team, None, name=options["name"] or options["key"], **told)
        job = bases.start_path(base, None, options["entries"], options["pictures"])
        try:
            runner.run(job.pk)
        except KeyboardInterrupt:
            raise CommandError("Stopped. Run it again: what is there stays, and is not added twice.") from None
        self._tell(Job.objects.get(pk=job.pk))

    def _tell(self, job: Job) -> None:
        if job.state != Job.State.DONE:
            raise CommandError(job.error or f"The import ended as {job.state}.")
        self.stdout.write(", ".join(f"{words}: {n}" for _key, words, n in readers.counts(job)) or "No rows.")
        rows, _more = readers.page(job, only_errors=True, after=0)
        for row in rows[:SHOWN]:
            self.stdout.write(f"  row {row.number} {row.name}: {row.message}")
        if len(rows) > SHOWN:
            self.stdout.write(f"  ... and more: /jobs/{job.pk}/")
