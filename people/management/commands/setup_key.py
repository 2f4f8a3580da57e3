"""Prints the key of the page on which a site without an account gets its first admin."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from people.services.site_setup import is_set_up, setup_key


class Command(BaseCommand):
    help = "Print the setup key of a site without an account. The page /setup asks for it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--site", default="", help="the address of the site, such as http://127.0.0.1:8000")

    def handle(self, *args: Any, **options: Any) -> None:
        if is_set_up():
            self.stdout.write("The site is set up: it has an account.")
        else:
            self.stdout.write(f"To set up the site, open {options['site']}/setup and enter this key:  {setup_key()}")
