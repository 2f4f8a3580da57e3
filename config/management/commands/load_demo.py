from typing import Any

from django.core.management.base import BaseCommand

from demo import loader


class Command(BaseCommand):
    help = "Load the demo: a team, three cohorts, pictures, simulated raters. Does nothing if the demo exists."

    def handle(self, *args: Any, **options: Any) -> None:
        if loader.exists():
            self.stdout.write("The demo is already there.")
            return
        loader.write_accounts(loader.load(self.report))
        self.stdout.write("The demo is ready.")

    def report(self, progress: str) -> None:
        """Print a line at once; `./emic run` shows the last one."""
        self.stdout.write(f"Loading the demo: {progress}")
        self.stdout.flush()
