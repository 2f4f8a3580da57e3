"""Titles of English Wikipedia out of a dump of all of them: only those that share a word with the answers are kept."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from django.db import transaction
from django.utils.text import Truncator

from annotation.models import Annotation
from benchmarks.models import Benchmark, Item
from jobs.models import record
from papers.culturalvqa.tables.word_lists import TITLES, answer_words, words_of
from predictions.models import Collection, Entry

STEP = 1000
HEAD = "page_title"  # the first line of Wikimedia's list


@contextmanager
def read_lines(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a file of text, packed with gzip or not, one after the other."""
    with (
        gzip.open(path, "rt", encoding="utf-8", errors="replace")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8", errors="replace") as file
    ):
        yield (line.strip() for line in file)


def import_titles(benchmark: Benchmark, titles: Iterable[str], at: datetime) -> tuple[Collection, int, int]:
    """A new version of the benchmark's list of titles; how many were read, and how many of them kept.

    A title is kept for each word of the answers that no title before it has, so that the list stays short and says the
    same. Answers that come later have words nobody looked for: bring the list anew then.
    """
    wanted = answer_words(_answers(benchmark))
    unique_titles: dict[str, None] = {}
    read = 0
    for title in titles:
        if not title or title == HEAD:
            continue
        read += 1
        new = wanted.intersection(words_of(title))
        if new and len(title) <= 200:
            unique_titles[title] = None
            wanted -= new
    with transaction.atomic():
        Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
        version = f"{at:%Y-%m-%d %H:%M:%S}"
        name = Truncator(f"English Wikipedia, {read} titles, cut to the words of the answers").chars(120)
        collection = Collection.objects.create(benchmark=benchmark, key=TITLES, version=version, name=name)
        rows = (Entry(collection=collection, key=title) for title in unique_titles)
        Entry.objects.bulk_create(rows, batch_size=STEP)
        record(
            None,
            "collection.made",
            scope=benchmark.scope,
            target=f"collection:{collection.pk}",
            key=TITLES,
            version=version,
        )
    return collection, read, len(unique_titles)


def _answers(benchmark: Benchmark) -> Iterator[str]:
    """What people answered, and what askers said themselves."""
    of = {"stage__benchmark": benchmark, "stage__key": "answers"}
    for text in Item.objects.filter(**of).values_list("context__asker_answer", flat=True).iterator():
        yield str(text or "")
    rows = Annotation.objects.filter(
        assignment__campaign__stage__benchmark=benchmark, assignment__campaign__stage__key="answers", live=True
    )
    for answers in rows.values_list("answers", flat=True).iterator():
        yield str(answers.get("answer") or "")
