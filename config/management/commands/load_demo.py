from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from demo import loader, loading


class Command(BaseCommand):
    help = (
        "Load the demo: a team, three cohorts, simulated people, and CulturalVQA. A job of the worker loads the rest. "
    )
    "Does nothing if the demo exists."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="do the worker's job, too")

    def handle(self, *args: Any, **options: Any) -> None:
        if loader.exists():
            self.stdout.write("The demo is already there.")
            return
        accounts, job = loader.load(self.report)
        loader.write_accounts(accounts)
        if options["all"]:
            self.report("the other benchmarks")
            loading.finish(job)
        self.stdout.write("The demo is ready.")

    def report(self, progress: str) -> None:
        """Print a line at once; `./emic run` shows the last one."""
        self.stdout.write(f"Loading the demo: {progress}")
        self.stdout.flush()
