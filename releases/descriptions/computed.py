"""Sentences of a data statement and a datasheet, of what was counted when the rows of a release were frozen.

Each function returns sentences, or none where nothing is known. People appear as counts of cohorts, and no group is
smaller than MIN_CELL.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

MIN_CELL = 5
_STAFFING = {
    "anyone": "anyone in the cohort", "others": "people without a part in the item",
    "contributors": "people with a part in the item", "not_own": "people whose question or answer it is not",
}  # fmt: skip


@dataclass(frozen=True)
class ReleaseFacts:
    """The facts of a release."""

    facts: Mapping[str, Any]
    version: str
    parent: str
    selection: Mapping[str, Any]

    @property
    def counts(self) -> Mapping[str, Any]:
        known: Mapping[str, Any] = self.facts["known"]
        return known

    @property
    def described(self) -> Mapping[str, Any]:
        described: Mapping[str, Any] = self.facts["described"]
        return described


Compute = Callable[[ReleaseFacts], list[str]]


def one_line(text: str) -> str:
    """One line that begins no other part of a page."""
    return " ".join(text.split())


def listed(counts: Mapping[str, int], empty: str = "none") -> str:
    return ", ".join(f"{one_line(name) or empty} {count:,}" for name, count in counts.items())


def count_of(number: int, noun: str) -> str:
    """Such as "1 item" and "2 items"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def group_size(people: int) -> str:
    """A count of people. A small group is not counted exactly."""
    return f"fewer than {MIN_CELL}" if 0 < people < MIN_CELL else f"{people:,}"


def purpose(known: ReleaseFacts) -> list[str]:
    return [known.described["written"]["purpose"]] if known.described["written"]["purpose"] else []


def selection_of_items(known: ReleaseFacts) -> list[str]:
    filters = known.described["filters"]
    return [f"Results of filters: {listed(filters)}."] if filters else []


def rationale(known: ReleaseFacts) -> list[str]:
    recipe = known.described["recipe"]
    design = [f"The design follows the recipe {recipe}."] if recipe else []
    return [*purpose(known), *design, *selection_of_items(known)] if purpose(known) else []


def languages(known: ReleaseFacts) -> list[str]:
    spoken = sorted({language for cohort in known.counts["cohorts"] for language in cohort["languages"]})
    sentences = [f"Languages of the cohorts (BCP 47): {', '.join(spoken)}."] if spoken else []
    shown = known.described["answer_languages"]
    return sentences + (
        [f"Answers of people by language of the interface: {listed(shown, 'not known')}."] if shown else []
    )


def origins(known: ReleaseFacts) -> list[str]:
    origin = {name: n for name, n in known.described["origins"].items() if name}
    return [f"Items by the culture that they were made or found for: {listed(origin)}."] if origin else []


def annotators(known: ReleaseFacts) -> list[str]:
    cohorts = "; ".join(f"{one_line(row['label'])}: {group_size(row['people'])}" for row in known.counts["cohorts"])
    if not cohorts:
        return []
    return [f"People who answered: {group_size(known.counts['people'])}. By cohort: {cohorts}."]


def situation(known: ReleaseFacts) -> list[str]:
    if not known.counts["first"]:
        return []
    sentences = [f"Written answers, given between {known.counts['first']} and {known.counts['last']}."]
    if count := known.described["instructions"]:
        spoken = ", ".join(known.described["instruction_languages"])
        sentences.append(f"Versions of the instructions: {count}, in {spoken or 'no language'}.")
    return sentences


def items(known: ReleaseFacts) -> list[str]:
    sentences = []
    for stage in known.counts["stages"]:
        conditions = {name: n for name, n in stage["conditions"].items() if name}
        by_condition = f"; by condition: {listed(conditions)}" if conditions else ""
        counts = f"{count_of(stage['items'], 'item')}, {count_of(stage['concepts'], 'concept')}"
        sentences.append(f"{one_line(stage['name'])}: {counts}{by_condition}.")
    texts = known.described["texts"]
    if texts["n"]:
        sentences.append(
            f"Texts of items: {texts['n']:,}, of {texts['mean']:.0f} characters on average, {texts['longest']} at most."
        )
    return sentences


def pictures(known: ReleaseFacts) -> list[str]:
    formats, sizes = known.described["picture_formats"], known.described["picture_sizes"]
    if not formats:
        return ["The items have no pictures."]
    return [
        f"Pictures by format: {listed(formats)}.",
        f"Width {sizes[0]:,} to {sizes[1]:,} pixels, height {sizes[2]:,} to {sizes[3]:,}.",
    ]


def picture_sources(known: ReleaseFacts) -> list[str]:
    described = known.described
    if not described["picture_uses"]:
        return []
    if not described["picture_sources"]:
        return ["No source of a picture is known."]
    sentences = [f"The pictures come from {count_of(described['picture_sources'], 'source')}."]
    if described["without_source"]:
        uses = f"{described['without_source']:,} of {described['picture_uses']:,}"
        sentences.append(f"Of {uses} uses of a picture in an item no source is known.")
    return sentences


def parents(known: ReleaseFacts) -> list[str]:
    before = [f"The release before is {known.parent}."] if known.parent else []
    return before + picture_sources(known)


def answers(known: ReleaseFacts) -> list[str]:
    counts = known.counts["answers"]
    sentences = [f"Answers: {counts['people']:,} of people, {counts['models']:,} of models."]
    rows = known.facts["rows"]
    return [*sentences, "Rows by table: " + listed(rows) + "."] if rows else sentences


def missing(known: ReleaseFacts) -> list[str]:
    return [*not_counted(known), *withheld(known)]


def not_counted(known: ReleaseFacts) -> list[str]:
    sentences = []
    if known.counts["answers"]["not_counted"]:
        sentences.append(f"Answers that are not counted, by reason: {listed(known.counts['answers']['not_counted'])}.")
    sentences.append(
        f"Skipped, by reason: {listed(known.counts['skipped'])}." if known.counts["skipped"] else "Nothing was skipped."
    )
    return sentences


def left_out(known: ReleaseFacts) -> list[str]:
    withdrawn = known.counts["withdrawn"]
    if not withdrawn["answers"]:
        return []
    people = group_size(withdrawn["people"])
    return [f"Left out: {withdrawn['answers']:,} answers of {people} people who withdrew their consent."]


def splits(known: ReleaseFacts) -> list[str]:
    chosen = known.selection
    if not chosen.get("splits"):
        return ["The release is not split."]
    shares = ", ".join(f"{name} {share} %" for name, share in chosen["splits"])
    sentences = [f"Splits by seed {chosen['seed']}, whole groups together (group: {chosen['group_by']}): {shares}."]
    return [*sentences, *withheld(known)]


def withheld(known: ReleaseFacts) -> list[str]:
    """Of how many items of each stage the release withholds the answers; none where it withholds nothing."""
    split = known.selection.get("withheld", "")
    if not split:
        return []
    names = {stage["key"]: one_line(stage["name"]) for stage in known.counts["stages"]}
    items = {key: n for key, name, n in known.facts["splits"] if name == split}
    totals = {key: sum(n for stage, _split, n in known.facts["splits"] if stage == key) for key in items}
    stages = "; ".join(f"{names[key]}: {n:,} of {totals[key]:,} items" for key, n in items.items()) or "no item"
    return [
        f"The answers to the items of the split {split} are withheld ({stages}): {known.facts['withheld_answers']:,}"
        " answers are in no file, and other counts of answers leave them out. The manifest has their checksum."
    ]


def errors(known: ReleaseFacts) -> list[str]:
    return [f"Items that were withdrawn: {known.described['withdrawn_items']:,}. They are marked."]


def labels(known: ReleaseFacts) -> list[str]:
    sheets = known.described["sheets"]
    return (
        [f"Sheets: {', '.join(map(one_line, sheets))}. The codebook explains every column and code."] if sheets else []
    )


def protocol(known: ReleaseFacts) -> list[str]:
    return [
        f"{one_line(stage['name'])}: answers wanted of each item: {wanted(stage)}; by "
        f"{_STAFFING.get(stage['staffing'], stage['staffing'])}; acceptance: {stage['acceptance']}."
        for stage in known.counts["stages"]
    ]


def wanted(stage: Mapping[str, Any]) -> str:
    """How many answers to an item the campaigns of a stage want from each cohort, as a range where they differ."""
    bounds: Mapping[str, Sequence[int]] = stage.get("wanted", {})
    if not bounds:
        return "not known, since the release has no campaign of the stage"
    if stage.get("wanted_in_all"):
        return f"{_range(max(low for low, _ in bounds.values()), max(high for _, high in bounds.values()))} in all"
    cohorts: dict[str, list[str]] = {}
    for label, (low, high) in sorted(bounds.items()):
        cohorts.setdefault(_range(low, high), []).append(one_line(label))
    if len(cohorts) == 1:
        return f"{next(iter(cohorts))} from each cohort"
    return ", ".join(f"{number} ({', '.join(labels)})" for number, labels in cohorts.items())


def _range(least: int, most: int) -> str:
    return f"{least}" if least == most else f"{least} to {most}"


def models(known: ReleaseFacts) -> list[str]:
    names = ", ".join(map(one_line, known.counts["models"]))
    return [f"Models that answered: {names}."] if names else []


def instances(known: ReleaseFacts) -> list[str]:
    return [*items(known), *answers(known)]


def identifiability(_known: ReleaseFacts) -> list[str]:
    return [
        "People appear under pseudonyms of this benchmark, which lead to nobody outside it. Names, addresses and"
        " platform ids are not released. Answers in free text may say more; whoever publishes looks through them."
    ]


def consent(known: ReleaseFacts) -> list[str]:
    described = known.described
    if not described["consent_versions"]:
        return []
    return [
        f"Versions of the consent text: {described['consent_versions']}. People who have agreed in the team:"
        f" {group_size(described['consents'])}.",
        "A person withdraws on the page of their profile; the next release leaves their answers out.",
        *left_out(known),
    ]


def cleaning(known: ReleaseFacts) -> list[str]:
    sentences = [f"Raters who were excluded with a reason: {known.described['excluded']:,}.", *not_counted(known)]
    if known.described["reviews"]:
        sentences.append(f"Decisions of reviewers: {listed(known.described['reviews'])}.")
    files = known.selection.get("pictures", "")
    if files in ("licensed", "all"):
        sentences.append("Pictures lost what cameras and programs wrote into them; pixels are unchanged.")
    return sentences


def raw_data(_known: ReleaseFacts) -> list[str]:
    return ["Yes. The team keeps every answer, also replaced ones, and every picture as it came."]


def software(_known: ReleaseFacts) -> list[str]:
    return [f"Emic {settings.VERSION}."]


def licence(known: ReleaseFacts) -> list[str]:
    text = known.described["written"]["licence"]
    if not text:
        return []
    sentences = [f"Licence of the data: {one_line(text)}."]
    if known.counts["licences"]:
        sentences.append(f"Pictures, by licence: {listed(known.counts['licences'], 'no licence known')}.")
    return sentences


def team(known: ReleaseFacts) -> list[str]:
    return [f"The team {one_line(known.described['team'])}."]


def time_frame(known: ReleaseFacts) -> list[str]:
    first, last = known.counts["first"], known.counts["last"]
    return [f"Answers were given between {first} and {last}."] if first else ["There is no answer yet."]


def versions(known: ReleaseFacts) -> list[str]:
    before = f" The release before is {known.parent}; CHANGES.md has the differences." if known.parent else ""
    return [
        f"This is release {known.version}.{before} A published release never changes: a correction is the next one."
    ]


def agreement(known: ReleaseFacts) -> list[str]:
    """Of each question and cohort; none where it was not computed."""
    lines: list[str] = known.facts.get("agreement", {}).get("lines", [])
    return ["\n".join(f"- {one_line(line)}" for line in lines)] if lines else []


def citation(known: ReleaseFacts) -> list[str]:
    text = known.described["written"]["citation"]
    return [f"The work behind it: {one_line(text)}"] if text else []
