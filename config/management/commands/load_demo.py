from typing import Any

from django.core.management.base import BaseCommand

from config import demo


class Command(BaseCommand):
    help = "Loads the demo: a team, three cohorts, pictures, simulated raters. Does nothing if it exists."

    def handle(self, *args: Any, **options: Any) -> None:
        if demo.exists():
            self.stdout.write("The demo is already there.")
            return
        demo.write_accounts(demo.load(self.stdout.write))
        self.stdout.write("The demo is ready.")
