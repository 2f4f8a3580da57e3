"""`manage rotate_secrets`: after a new key was put before the others in EMIC_SECRETS_KEY."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from predictions.services.endpoints import secrets
from predictions.services.endpoints.endpoints import rotate_secrets


class Command(BaseCommand):
    help = "Encrypt the secrets of all endpoints and webhooks anew, with the first key of EMIC_SECRETS_KEY."

    def handle(self, *args: Any, **options: Any) -> None:
        renewed, problems = 0, []
        for name, rotation in {"endpoints": rotate_secrets, **secrets.ROTATIONS}.items():
            try:
                number, unopened = rotation()
            except secrets.MissingKey as problem:
                raise CommandError(str(problem)) from problem
            renewed += number
            if unopened:
                named = ", ".join(map(str, unopened))
                problems.append(f"No key opens the secrets of these {name}: {named}. Type them in again.")
        self.stdout.write(f"{renewed} secrets are encrypted with the first key now.")
        if problems:
            raise CommandError(" ".join(problems))
