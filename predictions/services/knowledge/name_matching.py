"""What a model called the images of a stage, as entries of a knowledge base: the baseline that searches nothing."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Benchmark, Item
from predictions.models import Call, KnowledgeEntry, Run

QUESTION = "entity"
"""The question of a sheet that is answered with the name of what is shown."""
CHUNK = 5000


def normalise_name(name: str) -> str:
    """As names are compared: neither case, nor spaces, nor the way a letter is written in Unicode counts."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())


def runs_of(benchmark: Benchmark) -> list[Run]:
    """Runs over sheets that ask for the name, finished and standing; the newest first."""
    rows = Run.objects.filter(benchmark=benchmark, task=Run.Task.ANSWERS, complete=True, withdrawn_at=None)
    rows = rows.select_related("rater", "endpoint", "campaign__stage", "campaign__sheet_version").order_by("-pk")
    return [run for run in rows if _has_question(run)]


def _has_question(run: Run) -> bool:
    version = run.campaign.sheet_version if run.campaign else None
    return version is not None and any(field.key == QUESTION for field in sheet_of(version).fields)


def names_of(run: Run, items: Collection[Item] | None = None) -> dict[int, str]:
    """What each item was called, by its primary key. Of an item in several units, the first that has a name."""
    calls = Call.objects.filter(run=run, state=Call.State.ANSWERED, repeat=0)
    if items is not None:
        calls = calls.filter(item__in=items)
    rows = calls.order_by("item", "unit").values_list("item", f"annotation__answers__{QUESTION}")
    names: dict[int, str] = {}
    for item, name in rows.iterator(chunk_size=CHUNK):
        if isinstance(name, str) and normalise_name(name):
            names.setdefault(item, name)
    return names


def entries_of(base: int, names: Collection[str], beat: Callable[[], None]) -> dict[str, list[str]]:
    """Keys of the entries of which it is a name, by the name as it is compared: those first that are shown by it, then
    by key. Reads all names of the base once."""
    wanted = {normalise_name(name) for name in names}
    keys_by_name: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    rows = KnowledgeEntry.objects.filter(base=base).order_by("pk").values_list("key", "lemmas")
    for number, (key, lemmas) in enumerate(rows.iterator(chunk_size=CHUNK)):
        if number % CHUNK == 0:
            beat()
        own = [normalise_name(lemma) for lemma in lemmas]
        for name in wanted.intersection(own):
            keys_by_name[name].append((own[0] != name, key))
    return {name: [key for _other, key in sorted(rows)] for name, rows in keys_by_name.items()}


class NameLinker:
    """Links by name: read once for all images of a run."""

    def __init__(self, answers: Run, base: int, beat: Callable[[], None]) -> None:
        self.names = names_of(answers)
        self.entries = entries_of(base, set(self.names.values()), beat)

    def of(self, item: Item) -> tuple[Sequence[str], str]:
        """Keys of its entries, or why there are none."""
        name = self.names.get(item.pk)
        if name is None:
            return [], "no_name"
        keys = self.entries.get(normalise_name(name), [])
        return keys, "" if keys else "no_such_name"
