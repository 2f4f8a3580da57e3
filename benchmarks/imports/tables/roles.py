"""What each column of a table is likely to be, with the reason: a proposal, which a person confirms or changes."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.translation import gettext as _

from benchmarks.imports.web_addresses import is_web_address

MISSING = frozenset({"NA", "N/A", "nan", "null", "None"})
"""In a column that is no text these mean that nothing is known, as an empty cell does."""
NAMES: Mapping[str, tuple[str, ...]] = {
    "file": ("file", "filename", "image", "img", "imgfile", "imagefile", "imagepath", "path", "picture", "photo",
             "url", "imageurl"),
    "key": ("key", "id", "item", "itemid", "imageid", "uid", "qid", "instanceid"),
    "rater": ("annotator", "rater", "worker", "workerid", "user", "userid", "participantid", "completedby"),
    "country": ("country", "pais", "pays", "land", "nation"),
    "origin": ("origin", "culture", "country", "pais", "pays", "land", "nation"),
    "target": ("target",),
    "cohort": ("cohort",),
    "concept": ("concept",),
    "condition": ("condition",),
    "licence": ("licence", "license"),
    "source": ("source", "sourceurl"),
    "time": ("time", "timestamp", "submittedat", "date"),
    "answer": ("label", "labels", "answer", "rating", "score", "category", "code", "relevance"),
    "text": ("text", "caption", "question", "sentence", "prompt", "title"),
}  # fmt: skip
"""Role to the folded names that mean it, the surest first."""
SINGLE = frozenset(NAMES) - {"answer"}
ENDINGS = re.compile(r"\.(jpe?g|jpe|png|webp|gif|avif|heic|bmp|tiff?)$", re.IGNORECASE)
ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$")
MOST_ANSWERS = 20
LONG_TEXT = 15
MOST_KEY_WORDS = 4


@dataclass(frozen=True)
class ColumnRole:
    """`role` is a key of NAMES, or empty: the column stays with the item as it is."""

    column: str
    role: str
    reason: str


def fold(name: str) -> str:
    """A name for comparison: small letters and digits, no accents.

    >>> fold("img_file"), fold("IMG-FILE"), fold("País"), fold("WTF?!")
    ('imgfile', 'imgfile', 'pais', 'wtf')
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    return "".join(letter for letter in plain if letter.isalnum())


def name_parts(name: str) -> list[str]:
    """The words of a name, folded.

    >>> name_parts("Caption (EN)"), name_parts("answer.relevance"), name_parts("imageId")
    (['caption', 'en'], ['answer', 'relevance'], ['image', 'id'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [fold(part) for part in re.split(r"[\W_]+", spaced) if fold(part)]


def propose(
    columns: Sequence[str],
    rows: Sequence[Mapping[str, str]],
    *,
    files: Collection[str] = (),
    countries: Callable[[str], bool] = lambda text: False,
    questions: Collection[str] = (),
) -> list[ColumnRole]:
    """A role for each column. `files`: names of pictures that came along. `countries`: whether a text is one.
    `questions`: keys of the sheet.

    >>> rows = [{"img_file": "a.png", "Image ID": "0001", "WTF?!": ""}, {"img_file": "b.png", "Image ID": "0002"}]
    >>> [(entry.column, entry.role) for entry in propose(["img_file", "Image ID", "WTF?!"], rows)]
    [('img_file', 'file'), ('Image ID', 'key'), ('WTF?!', '')]
    >>> rows = [{"Nº": "1", "WTF?!": "hot bread, and much of it"}, {"Nº": "2", "WTF?!": "cold bread\\nof a day ago"}]
    >>> [(entry.column, entry.role) for entry in propose(["WTF?!", "Nº"], rows)]
    [('WTF?!', 'text'), ('Nº', 'key')]
    """
    values = {column: [row.get(column, "").strip() for row in rows] for column in columns}
    proposed: dict[str, ColumnRole] = {}
    used: set[str] = set()

    def give(column: str, role: str, reason: str) -> None:
        if column not in proposed and (role not in used or role not in SINGLE):
            proposed[column] = ColumnRole(column, role, reason)
            used.add(role)

    for find in (_by_name, _by_words):
        for role in NAMES:
            for column in sorted(columns, key=lambda name, role=role: _rank(name, role)):  # type: ignore[misc]
                if find(column, role, questions) and _fits(role, values[column], files, countries):
                    give(column, role, _reason(role, column))
    has_rater = "rater" in used
    for column in columns:
        role, reason = _by_content(values[column], files, countries, has_rater)
        if role:
            give(column, role, reason)
    return [proposed.get(column, ColumnRole(column, "", _("Kept with the item."))) for column in columns]


def _reason(role: str, column: str) -> str:
    if role == "origin" and fold(column) in NAMES["country"]:
        return _("Its name says so. Not all of its values are known countries, so they stay as they are.")
    return _("Its name says so.")


def _rank(column: str, role: str) -> int:
    folded = fold(column)
    return NAMES[role].index(folded) if folded in NAMES[role] else len(NAMES[role])


def _by_name(column: str, role: str, questions: Collection[str]) -> bool:
    if role == "answer" and (column in questions or column.lower().startswith("answer.")):
        return True
    return fold(column) in NAMES[role]


def _by_words(column: str, role: str, questions: Collection[str]) -> bool:
    parts = name_parts(column)
    pairs = {first + second for first, second in pairwise(parts)}
    return bool(set(NAMES[role]) & ({*parts} | pairs))


def _fits(role: str, values: Sequence[str], files: Collection[str], countries: Callable[[str], bool]) -> bool:
    """Whether the content does not contradict the name."""
    filled = [value for value in values if value]
    if role == "file":
        return not filled or looks_like_files(filled, files) or _share(filled, is_web_address) >= 0.9
    if role == "country":
        return _share(filled, countries) >= 0.9
    return role != "key" or all(values)


def _by_content(
    values: Sequence[str], files: Collection[str], countries: Callable[[str], bool], has_rater: bool
) -> tuple[str, str]:
    filled = [value for value in values if value and value not in MISSING]
    if not filled:
        return "", ""
    if looks_like_files(filled, files):
        return "file", _("Its values are names of pictures.")
    if _share(filled, countries) >= 0.9:
        return "country", _("Its values are countries.")
    if _share(filled, lambda text: bool(ISO_TIME.match(text))) >= 0.9:
        return "time", _("Its values are times.")
    counts = Counter(filled)
    if has_rater and len(counts) <= MOST_ANSWERS and len(filled) >= 2 * len(counts):
        return "answer", _("It has few values, each of them often.")
    if not has_rater and len(filled) == len(values) == len(counts) > 1 and all(map(_may_be_key, filled)):
        return "key", _("Each row has a value of its own.")
    if sum(map(len, filled)) / len(filled) > LONG_TEXT and len(counts) > len(filled) / 2:
        return "text", _("Its values are long, and most of them differ.")
    return "", ""


def _may_be_key(text: str) -> bool:
    """Keys are short and of few words; sentences that all differ are none."""
    return len(text) <= 40 and len(text.split()) <= MOST_KEY_WORDS and "\n" not in text


def looks_like_files(values: Sequence[str], files: Collection[str]) -> bool:
    return _share(values, lambda text: bool(ENDINGS.search(text.partition("?")[0])) or text in files) >= 0.9


def _share(values: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(map(holds, values)) / len(values) if values else 0.0


def split_set(text: str, options: Iterable[str]) -> list[str] | None:
    """The members of a set: a JSON array, or parts between |, ; or # that are all options; None where it is none.

    >>> split_set('["a", "b"]', "ab"), split_set("a|b", "ab"), split_set("a|c", "ab"), split_set("a", "ab")
    (['a', 'b'], ['a', 'b'], None, ['a'])
    """
    known = set(options)
    if text.startswith("["):
        try:
            parts = json.loads(text)
        except ValueError:
            parts = None
        if isinstance(parts, list) and {str(part) for part in parts} <= known:
            return [str(part) for part in parts]
    for separator in ("|", ";", "#"):
        parts = [part.strip() for part in text.split(separator)]
        if all(part in known for part in parts):
            return parts
    return None
