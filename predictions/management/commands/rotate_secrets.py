"""`manage rotate_secrets`: after a new key was put before the others in EMIC_SECRETS_KEY."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from predictions.services.endpoints import secrets
from predictions.services.endpoints.endpoints import rotate_secrets


class Command(BaseCommand):
    help = "Encrypt the secrets of all endpoints anew, with the first key of EMIC_SECRETS_KEY."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            renewed, unopened = rotate_secrets()
        except secrets.MissingKey as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(f"{renewed} secrets are encrypted with the first key now.")
        if unopened:
            named = ", ".join(map(str, unopened))
            raise CommandError(f"No key opens the secrets of these endpoints: {named}. Type them in again.")
