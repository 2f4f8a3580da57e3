"""./emic manage import_items <benchmark> <stage> <folder | zip | manifest>: import what lies on this machine."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.imports.records import Defaults
from benchmarks.models import Stage
from benchmarks.services import imports
from jobs.management.console import run_import

MANIFESTS = (".csv", ".tsv", ".jsonl", ".ndjson")


class Command(BaseCommand):
    help = "Import items from a folder, a zip or a manifest with its files beside it. Again adds nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("benchmark", help="the benchmark's address, as in /b/<this>/")
        parser.add_argument("stage", help="the stage's key")
        parser.add_argument("path", type=Path, help="a folder, a .zip, or a manifest (.csv, .jsonl)")
        parser.add_argument("--condition", default="", help="for rows that do not say it")
        parser.add_argument("--source", default="")
        parser.add_argument("--licence", default="")
        parser.add_argument("--complete", action="store_true", help="fill in empty columns of items that exist")

    def handle(self, **options: Any) -> None:
        stage = Stage.objects.filter(benchmark__slug=options["benchmark"], key=options["stage"]).first()
        if stage is None:
            raise CommandError(f"There is no stage {options['stage']!r} in a benchmark {options['benchmark']!r}.")
        path = Path(options["path"])
        if not path.exists():
            raise CommandError(f"There is nothing at {path}.")
        listed = path if path.suffix.lower() in MANIFESTS else None
        defaults = Defaults(options["condition"], options["source"], options["licence"])
        where = path.parent if listed else path
        job = imports.start_path(
            stage, None, path=where, manifest=listed, defaults=defaults, complete=options["complete"]
        )
        run_import(self, job)
