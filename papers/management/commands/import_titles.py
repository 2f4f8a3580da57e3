"""./emic manage import_titles <benchmark> <file>: titles of English Wikipedia, to look for the answers' words in."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from benchmarks.models import Benchmark
from papers.culturalvqa.titles import import_titles, read_lines


class Command(BaseCommand):
    help = "Read a list of Wikipedia titles, one on a line (plain or .gz), and keep those with a word of the answers."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="as in its address: /b/<benchmark>/")
        parser.add_argument("file", type=Path, help="such as enwiki-latest-all-titles-in-ns0.gz")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = Benchmark.objects.filter(slug=options["benchmark"], recipe="culturalvqa").first()
        if benchmark is None:
            raise CommandError(f"There is no benchmark {options['benchmark']!r} made from CulturalVQA's recipe.")
        if not options["file"].is_file():
            raise CommandError(f"There is no file {options['file']}.")
        with read_lines(options["file"]) as titles:
            collection, read, kept = import_titles(benchmark, titles, timezone.now())
        self.stdout.write(
            f"{read:,} titles read, {kept:,} kept as version {collection.version}: "
            f"/b/{benchmark.slug}/tables/in-titles/"
        )
