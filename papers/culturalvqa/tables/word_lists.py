"""CulturalVQA's answers beside two lists that are brought: how often each stands in a text corpus (Appendix F), and
titles of English Wikipedia (section 4).

A list is a collection of the benchmark, of which one version counts, by default the newest: `corpus-counts` has an
entry for each answer with its `count`; `wikipedia-titles` one for each title. `./emic manage import_titles` makes these
from a dump.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from django.db.models import Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.models import Benchmark
from evaluation.metrics import resampling
from evaluation.metrics.counts import Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.proportions import share_of, share_of_sums
from evaluation.metrics.resampling import cluster_sums
from evaluation.rendering.report import Cell, PrintedValue, Rounding, Row, Words
from evaluation.tables.sources import COLLECTION, name_of, title_of
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import ActionLink, MissingData, Table
from evaluation.tables.table_inputs import TableInputs
from papers.culturalvqa.printed_values import PRINTED
from papers.culturalvqa.tables.data import OTHER_QUESTIONS, OWN_ANSWER, SHARE, ImageQuestion, questions_of
from papers.culturalvqa.tables.judgements import FACETS
from predictions.models import Collection, Entry

COUNTS, TITLES = "corpus-counts", "wikipedia-titles"
OTHER_CORPUS = gettext_lazy(
    "Other questions and another corpus; and the paper counts a sample with two answers of a facet once, where counts "
    "of single answers count it twice."
)
WHOLE_WORDS = gettext_lazy(
    "Compared by whole words. Case and accents are ignored, and every other sign separates words."
)


def words_of(text: str) -> tuple[str, ...]:
    """Whole words of a text as they are compared: case-folded, without the accents of Latin, Greek and Cyrillic letters
    (marks of other scripts are part of their words).

    >>> words_of("Pão_de-queijo: ÀÉ")
    ('pao', 'de', 'queijo', 'ae')
    """
    bare = "".join(one for one in unicodedata.normalize("NFKD", text.casefold()) if not "\u0300" <= one <= "\u036f")
    kept = (one if unicodedata.category(one)[0] in "LMN" else " " for one in unicodedata.normalize("NFC", bare))
    return tuple("".join(kept).split())


def answer_words(answers: Iterable[str]) -> set[str]:
    """Every word of these answers."""
    return {word for answer in answers for word in words_of(answer)}


def state_of_lists(benchmark: Benchmark) -> list[int]:
    """What changes with every list that is brought."""
    collections = Collection.objects.filter(benchmark=benchmark, key__in=(COUNTS, TITLES))
    newest = Entry.objects.filter(collection__in=list(collections.values_list("pk", flat=True))).aggregate(
        last=Max("pk")
    )
    return [newest["last"] or 0]


def _list(inputs: TableInputs, key: str, message: str) -> Collection:
    """The version that the address asks for, else the newest. Raises MissingData without any, and BadOption."""
    rows = Collection.objects.filter(benchmark=inputs.benchmark, key=key, entries__isnull=False).distinct()
    named = {name_of(row): row for row in rows.order_by("-pk")}
    if not named:
        raise MissingData(message, ActionLink("predictions:collection_new", _("Import the list")))
    return named[inputs.choose(COLLECTION, {name: title_of(collection) for name, collection in named.items()})]


def build_in_corpus(inputs: TableInputs) -> Table:
    """Appendix F: how often the answers of a facet stand in a corpus, for each of them."""
    message = _(
        "Import the list as a collection with the name “Corpus counts”. Its columns are key "
        "(an answer) and count (its frequency in the corpus)."
    )
    collection = _list(inputs, COUNTS, message)
    counts, unread = _counts(collection)
    found, _people = questions_of(inputs)
    facets = _by_facet(found.values())
    means = {facet: [counts[answer] for answer in answers if answer in counts] for facet, answers in facets.items()}
    total = sum(float(np.mean(values)) for values in means.values() if values)
    rows = [
        Row(facet or _("None"), _corpus_cells(facet, len(facets[facet]), values, total))
        for facet, values in means.items()
    ]
    words: list[Words] = [
        WHOLE_WORDS,
        _("An answer is counted once for a facet, however many people gave it. Answers without a count are left out."),
        _("In percent of all: a facet's occurrences for each answer, of the sum of these over all facets."),
    ]
    if unread:
        words.append(_("Rows whose count is not a whole number from 0: %(n)s, left out.") % {"n": f"{unread:,}"})
    columns: list[Words] = [
        _("Different answers"), _("With a count"), _("Occurrences"), _("For each answer"), _("In percent of all"),
        _("Answers that occur, percent"),
    ]  # fmt: skip
    return inputs.table(corner=_("Facet"), columns=columns, rows=rows, words=words)


def _counts(collection: Collection) -> tuple[dict[tuple[str, ...], int], int]:
    """By the words of the answer: two spellings that are one answer here have their counts added. And rows unread."""
    counts: dict[tuple[str, ...], int] = {}
    unread = 0
    for key, raw in collection.entries.values_list("key", "about__count").iterator():
        text = str(raw).strip().replace(",", "")
        if isinstance(raw, bool) or not (text.isascii() and text.isdigit() and len(text) < 16):
            unread += 1
            continue
        words = words_of(key)
        counts[words] = counts.get(words, 0) + int(text)
    return counts, unread


def _by_facet(questions: Iterable[ImageQuestion]) -> dict[str, set[tuple[str, ...]]]:
    """Different answers of each facet, in the paper's order of facets."""
    words_by_facet: dict[str, set[tuple[str, ...]]] = {}
    for question in questions:
        words_by_facet.setdefault(question.facet, set()).update(
            words for text in question.answers if (words := words_of(text))
        )
    order = [*(one for one in FACETS if one in words_by_facet), *sorted(set(words_by_facet) - set(FACETS))]
    return {facet: words_by_facet[facet] for facet in order}


def _corpus_cells(facet: str, different: int, counts: list[int], total: float) -> tuple[Cell, ...]:
    each = resampling.mean(
        np.array(counts, np.float64),
        np.arange(len(counts)),
        scale=resampling.RATIO,
        method="occurrences for each answer",
    )
    share = f"{100 * float(np.mean(counts)) / total:.1f}" if counts and total else ""
    occur = share_of(sum(count > 0 for count in counts), len(counts), method="share of answers that occur")
    return (
        Cell(text=str(different)),
        Cell(text=str(len(counts))),
        Cell(text=f"{sum(counts):,}"),
        Cell(replace(each, resampled="answers"), rounding=Rounding(2)),
        Cell(text=share, printed=PRINTED.in_text("corpus_share", facet, OTHER_CORPUS)),
        Cell(occur, rounding=SHARE),
    )


def build_in_titles(inputs: TableInputs) -> Table:
    """Section 4: answers with at least one word in at least one title of English Wikipedia."""
    message = _(
        "Import the list as a collection with the name “Wikipedia titles”. Its column is key (a title of English "
        "Wikipedia). For a whole dump of titles: ./emic manage import_titles."
    )
    titles = _list(inputs, TITLES, message)
    questions, _people = questions_of(inputs)
    wanted = answer_words(text for question in questions.values() for text in question.answers)
    title_words = words_in(titles.entries.values_list("key", flat=True).iterator(), wanted)
    countries = sorted({question.country for question in questions.values()})
    groups = [(c, [question for question in questions.values() if question.country == c]) for c in countries]
    rows = [Row(name, _title_cells(some, title_words)) for name, some in groups]
    theirs = PRINTED.in_text("in_titles", known=OTHER_QUESTIONS)
    rows.append(Row(_("All"), _title_cells(list(questions.values()), title_words, theirs)))
    words: list[Words] = [
        WHOLE_WORDS,
        _(
            "An answer counts when at least one of its words is a word of at least one title, however common the "
            "word is."
        ),
        _("Intervals leave out each question with its answers; for different answers, each answer."),
    ]
    columns: list[Words] = [
        _("Answers"), _("With a word in a title, percent"), _("Different answers"),
        _("Of these with a word in a title, percent"),
    ]  # fmt: skip
    return inputs.table(corner=_("Country"), columns=columns, rows=rows, words=words)


def words_in(titles: Iterator[str], wanted: set[str]) -> set[str]:
    """Which of the words stand in any of the titles, which are read once."""
    known_words: set[str] = set()
    for title in titles:
        known_words.update(word for word in words_of(title) if word in wanted)
    return known_words


def _title_cells(
    questions: list[ImageQuestion], title_words: set[str], theirs: PrintedValue | None = None
) -> tuple[Cell, ...]:
    texts = [(place, words_of(text)) for place, question in enumerate(questions) for text in question.answers]
    hits = np.array([bool(title_words.intersection(words)) for _place, words in texts], np.float64)
    different = {words for _place, words in texts}
    inside = sum(bool(title_words.intersection(words)) for words in different)
    rounded = Rounding(0, 100) if theirs else SHARE
    return (
        Cell(text=str(len(texts))),
        Cell(_share(hits, [place for place, _words in texts]), rounding=rounded,
             printed=theirs),
        Cell(text=str(len(different))),
        Cell(share_of(inside, len(different), method="share of different answers"), rounding=SHARE),
    )  # fmt: skip


def _share(hits: Floats, questions: list[int]) -> Estimate:
    sums = cluster_sums(np.array(questions, np.int64), hits, np.ones(hits.size))
    share = share_of_sums(
        sums, method="share of answers", n_units=int(sums.shape[0]), n_ratings=int(hits.size), extras={}
    )
    return replace(share, resampled="questions")


NEEDS = gettext_lazy("Questions with answers, and the list.")
LIST_TABLES: tuple[TableSpec, ...] = (
    TableSpec(
        "in-titles", "Section 4", gettext_lazy("Answers with a word in a Wikipedia title"), NEEDS,
        build_in_titles, (OWN_ANSWER,), state=state_of_lists,
    ),
    TableSpec(
        "in-corpus", "Appendix F", gettext_lazy("Answers in a text corpus"), NEEDS, build_in_corpus, (OWN_ANSWER,),
        state=state_of_lists,
    ),
)  # fmt: skip
