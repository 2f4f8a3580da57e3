"""Prints the link with which a person sets a new password, for a site without a mail server."""

from typing import Any
from urllib.parse import urljoin

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.models import record
from people.models import User
from people.services.mail import password_path


class Command(BaseCommand):
    help = "Print a link with which a person sets a new password. It works once, for three days. Pass it on yourself."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="the e-mail of the account")
        parser.add_argument("--site", help="the address of the site, such as http://127.0.0.1:8000")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email__iexact=options["email"], is_active=True).first()
        if user is None:
            raise CommandError(f"No active account has the e-mail {options['email']}.")
        origins = [*settings.CSRF_TRUSTED_ORIGINS, "http://127.0.0.1:8000"]
        record(None, "password.link_made", target=f"user:{user.pk}")
        self.stdout.write(urljoin(options["site"] or origins[0], password_path(user)))
