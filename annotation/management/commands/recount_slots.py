from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.services.queue import recount

SHOWN = 50


class Command(BaseCommand):
    help = "Recount every counter of the queue from the rows that it counts. Ends with status 1 if any differs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="put right what differs; work waits meanwhile")

    def handle(self, *args: Any, **options: Any) -> None:
        differences = recount.repair() if options["repair"] else recount.find_differences()
        for difference in differences[:SHOWN]:
            self.stdout.write(
                f"{difference.check} {difference.id}: stored {difference.stored}, counted {difference.true}"
            )
        if len(differences) > SHOWN:
            self.stdout.write(f"... and {len(differences) - SHOWN} more")
        if differences and not options["repair"]:
            raise CommandError(f"{len(differences)} differ. Look for the cause, then run it again with --repair.")
        self.stdout.write(f"{len(differences)} put right." if differences else "No difference.")
