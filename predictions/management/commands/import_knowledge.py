"""./emic manage import_knowledge <team> <key> <entries.jsonl> [--pictures FOLDER|ZIP]: what lies on this machine."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobs.management.console import run_import
from people.models import Team
from predictions.services.knowledge import bases


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
        base, _made = bases.get_or_create_base(team, None, name=options["name"] or options["key"], **told)
        job = bases.start_path(base, None, options["entries"], options["pictures"])
        run_import(self, job)
