"""What CulturalVQA's questions and answers are like: counts, lengths, facets, openers, skips.

A question is an item of the stage `answers`; its answers are those of people there, and the asker's own, which the item
brings along, unless the option says otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Assignment
from benchmarks.models import Item, ItemImage
from evaluation.metrics import resampling
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.proportions import share_of
from evaluation.rendering.report import Cell, PrintedValue, Rounding, Row, Words
from evaluation.selections.selection import Selection
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.culturalvqa.printed_values import PRINTED, printed
from papers.culturalvqa.prompts.lave import drop_rare_references
from papers.culturalvqa.tables.judgements import (
    CEILING,
    FACETS,
    JUDGE,
    SCALE,
    SUB_CATEGORIES_FROM,
    judged_answers,
    select_origins,
    with_concepts,
)
from papers.culturalvqa.tables.labels import NO_SUB_CATEGORIES, sub_categories
from predictions.prompts.prompt_templates import split_texts

NEEDS = gettext_lazy("Questions, and answers of people to them.")
OTHER_QUESTIONS = gettext_lazy("The paper's data are not in this benchmark; it uses other questions.")
OWN_ANSWER = TableOption(
    "asker",
    gettext_lazy("The asker's own answer"),
    {"counts": gettext_lazy("is one of a question's answers"), "apart": gettext_lazy("is not counted")},
)
TOTALS = ("images", "questions", "answers", "question_words", "answer_words")
SHARE = Rounding(1, 100)


def _in_text(quantity: str, of: str = "") -> PrintedValue | None:
    return PRINTED.in_text(quantity, of, OTHER_QUESTIONS)


@dataclass
class ImageQuestion:
    country: str
    facet: str
    text: str
    images: set[int] = field(default_factory=set)
    answers: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Profile:
    """A country's questions; `people` wrote or answered them."""

    country: str
    questions: Sequence[ImageQuestion]
    people: frozenset[int]

    @property
    def question_words(self) -> float | None:
        return _mean([_count_words(question.text) for question in self.questions])

    @property
    def answers_each(self) -> float | None:
        return _mean([len(question.answers) for question in self.questions])


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _count_words(text: str) -> int:
    return len(text.split())


def questions_of(inputs: TableInputs) -> tuple[dict[int, ImageQuestion], dict[str, set[int]]]:
    """Questions by the item's key, and the people of each country. Raises MissingData."""
    people: dict[str, set[int]] = {}
    answer_rows = list(inputs.answers("answers", "answer", ("person",)))
    selection = inputs.used_selections[-1]
    every = Item.objects.filter(
        stage__benchmark=inputs.benchmark,
        stage__key="answers",
        condition__in=selection.conditions,
        withdrawn_at=None,
    )
    rows = select_origins(inputs, with_concepts(every, selection))
    questions: dict[int, ImageQuestion] = {}
    for pk, origin, text, context in rows.order_by("key").values_list("pk", "origin", "text", "context"):
        questions[pk] = ImageQuestion(origin, str(context.get("facet") or ""), text)
        if inputs.chosen.get("asker", "counts") == "counts" and context.get("asker_answer"):
            questions[pk].answers.append(str(context["asker_answer"]))
    if not questions:
        raise MissingData(_("There are no questions yet. Accept some, or import them into the stage “answers”."))
    for item, image in ItemImage.objects.filter(item__in=rows).values_list("item_id", "image_id"):
        questions[item].images.add(image)
    for answer in answer_rows:
        if answer.thing.pk in questions:
            questions[answer.thing.pk].answers.append(str(answer.answer))
            people.setdefault(questions[answer.thing.pk].country, set()).add(answer.rater.pk)
    with suppress(MissingData):
        for answer in inputs.answers("questions", "question", ("person",)):
            people.setdefault(answer.thing.origin, set()).add(answer.rater.pk)
    return questions, people


def counted_questions(inputs: TableInputs) -> list[Profile]:
    """One for each country with a question, by name; none without any."""
    try:
        questions, people = questions_of(inputs)
    except MissingData:
        return []
    return _profiles(questions, people)


def _profiles(questions: dict[int, ImageQuestion], people: dict[str, set[int]]) -> list[Profile]:
    countries = sorted({question.country for question in questions.values()})
    return [
        Profile(c, [question for question in questions.values() if question.country == c], frozenset(people.get(c, ())))
        for c in countries
    ]


def build_profile(inputs: TableInputs) -> Table:
    """Table 3 and Figure 3: what there is of each country."""
    profiles = _profiles(*questions_of(inputs))
    ceilings: dict[str, Estimate] = {}
    with suppress(MissingData):
        answers = judged_answers(inputs).people
        ceilings = {country: answers.of(country=country).ceiling for country in answers.countries}
        ceilings[""] = answers.ceiling
    whole = Profile(
        "",
        [question for profile in profiles for question in profile.questions],
        frozenset().union(*(p.people for p in profiles)),
    )
    rows = [Row(profile.country, _profile_cells(profile, ceilings)) for profile in profiles]
    rows.append(Row(_("All"), _profile_cells(whole, ceilings)))
    columns: list[Words] = [
        _("Pictures"), _("Questions"), _("Answers"), _("Words in a question"), _("Words in an answer"),
        _("Answers per question"), _("People's accuracy, percent"), _("Annotators"), _("References LAVE keeps"),
    ]  # fmt: skip
    words: list[Words] = [
        _("Means are over questions or answers. Words are separated by spaces."),
        _(
            "References: answers that are written differently, less those given at most a quarter as often as the "
            "commonest one of their question, as in the prompt of the original LAVE."
        ),
    ]
    return inputs.table(corner=_("Country"), columns=columns, rows=rows, words=words)


def _profile_cells(profile: Profile, ceilings: dict[str, Estimate]) -> tuple[Cell, ...]:
    answers = [(n, text) for n, question in enumerate(profile.questions) for text in question.answers]
    counts = {
        "images": len({image for question in profile.questions for image in question.images}),
        "questions": len(profile.questions),
        "answers": len(answers),
    }
    totals = {name: _in_text("total", name) for name in TOTALS} if not profile.country else {}
    each = range(len(profile.questions))
    means = {
        "question_words": _of_questions([_count_words(question.text) for question in profile.questions], each),
        "answer_words": _of_questions([_count_words(text) for _n, text in answers], [n for n, _text in answers]),
        "answers_each": _of_questions([len(question.answers) for question in profile.questions], each),
    }
    ceiling = ceilings.get(profile.country)
    theirs = printed("table_3", "annotators", OTHER_QUESTIONS, country=profile.country)
    return (
        *(Cell(text=str(number), printed=totals.get(name)) for name, number in counts.items()),
        *(Cell(number, rounding=Rounding(2), printed=totals.get(name)) for name, number in means.items()),
        Cell(ceiling, rounding=SHARE) if ceiling else Cell(empty=True),
        Cell(text=str(len(profile.people)), printed=theirs),
        Cell(
            text=str(
                sum(len(set(drop_rare_references(split_texts(question.answers)))) for question in profile.questions)
            )
        ),
    )


def _of_questions(values: Sequence[float], questions: Iterable[int]) -> Estimate:
    numbers, clusters = np.array(values, np.float64), np.array(list(questions), np.int64)
    return replace(resampling.mean(numbers, clusters, scale=resampling.NOT_NEGATIVE), resampled="questions")


def build_openers(inputs: TableInputs) -> Table:
    """The first word of questions, the commonest first."""
    found, _people = questions_of(inputs)
    first = Counter(_opener(question.text) for question in found.values() if question.text.strip())
    n = sum(first.values())
    rows = [
        Row(
            word,
            (
                Cell(text=str(count)),
                Cell(
                    share_of(count, n, method="share of questions"),
                    rounding=SHARE,
                    printed=_in_text("opener", word),
                ),
            ),
        )
        for word, count in sorted(first.items(), key=lambda pair: (-pair[1], pair[0]))[:12]
    ]
    return inputs.table(corner=_("First word"), columns=[_("Questions"), _("Share in percent")], rows=rows)


def _opener(text: str) -> str:
    return text.split()[0].strip("\"',.:;?!()\u201c\u201d\u2018\u2019\u00bf\u00a1").capitalize()


def build_facets(inputs: TableInputs) -> Table:
    """Figure 4: shares of facets, and the answers people gave most often in each."""
    questions, _people = questions_of(inputs)
    there = {question.facet for question in questions.values()}
    rows = []
    for facet in [*(one for one in FACETS if one in there), *sorted(there - set(FACETS))]:
        some = [question for question in questions.values() if question.facet == facet]
        texts = Counter(" ".join(text.casefold().split()) for question in some for text in question.answers)
        often = [
            f"{text} ({count})" for text, count in sorted(texts.items(), key=lambda pair: (-pair[1], pair[0]))[:10]
        ]
        theirs = _in_text("facet_share", facet)
        decimals = 0 if facet == "rituals" else 1
        share = share_of(len(some), len(questions), method="share of questions")
        rows.append(
            Row(
                facet or _("None"),
                (
                    Cell(text=str(len(some))),
                    Cell(share, rounding=Rounding(decimals, 100), printed=theirs),
                    Cell(text=str(texts.total())),
                    Cell(text=str(len(texts))),
                    Cell(text=", ".join(often)),
                ),
            )
        )
    columns: list[Words] = [
        _("Questions"), _("Share in percent"), _("Answers"), _("Different answers"), _("Most often, with how often"),
    ]  # fmt: skip
    return inputs.table(corner=_("Facet"), columns=columns, rows=rows)


def build_sub_categories(inputs: TableInputs) -> Table:
    """Figure 10: how a facet's accepted questions are spread over sub-categories. No answer need be judged."""
    labelled = _labelled_questions(inputs)
    facets = {facet for facet, _name in labelled} - {""}
    shown = [*(one for one in FACETS if one in facets), *sorted(facets - set(FACETS))]
    counts = Counter(labelled)
    rows = []
    for name in sorted({name for _facet, name in labelled}):
        cells = []
        for facet in shown:
            count = counts[facet, name]
            theirs = _in_text("type_or_name", facet) if name == "Type/Name" else None
            inside = sum(n for (other, _name), n in counts.items() if other == facet)
            share = share_of(count, inside, method="share of the facet's questions")
            cells += [
                Cell(text=str(count)),
                Cell(share, rounding=SHARE, printed=theirs),
            ]
        rows.append(Row(name, tuple(cells)))
    columns: list[Words] = []
    for facet in shown:
        columns += [facet, _("%(facet)s, percent") % {"facet": facet}]
    words: list[Words] = [SUB_CATEGORIES_FROM]
    return inputs.table(corner=_("Sub-category"), columns=columns, rows=rows, words=words)


def _labelled_questions(inputs: TableInputs) -> list[tuple[str, str]]:
    """Facet and sub-category of each accepted question that has one. Raises MissingData.

    Questions are the items of the stage `answers`; of benchmarks whose judged answers were imported, also those that
    these name.
    """
    selection = _first_selection(inputs)
    inputs.used_selections.append(selection)
    rows = Item.objects.filter(
        stage__benchmark=inputs.benchmark, stage__key__in=("answers", "lave"), withdrawn_at=None,
        condition__in=selection.conditions,
    )  # fmt: skip
    rows = with_concepts(rows, selection)
    by_people, by_models = sub_categories(inputs)
    questions: dict[str, tuple[str, str]] = {}
    for stage, key, context in select_origins(inputs, rows).order_by("pk").values_list("stage__key", "key", "context"):
        question = key if stage == "answers" else str(context.get("question") or "")
        facet, own = (str(context.get(name) or "") for name in ("facet", "sub_category"))
        known = questions.get(question, ("", ""))
        questions[question] = (known[0] or facet, known[1] or own)
    labelled = [
        (facet, name)
        for question, (facet, own) in questions.items()
        if (name := by_people.get(question) or own or by_models.get(question, ""))
    ]
    if not labelled:
        raise MissingData(NO_SUB_CATEGORIES)
    return labelled


def _first_selection(inputs: TableInputs) -> Selection:
    """Of the first of these stages that was asked. Raises what the first says."""
    missing: MissingData | None = None
    for stage, field_key in (("sub-categories", "sub_category"), ("answers", "answer"), ("lave", "lave")):
        try:
            return inputs.selection(stage, field_key)
        except MissingData as error:
            missing = missing or error
    assert missing is not None
    raise missing


def build_skips(inputs: TableInputs) -> Table:
    """How many of the pictures shown were skipped when questions were written."""
    selection = inputs.selection("questions", "question", ("person",))
    inputs.used_selections.append(selection)
    done = Assignment.objects.filter(
        campaign__in=selection.campaigns, participation__cohort__cohort__in=selection.cohorts,
        state__in=["skipped", "submitted", "returned", "accepted", "rejected"],
        unit__item__condition__in=selection.conditions, unit__item__withdrawn_at=None,
    )  # fmt: skip
    if selection.concepts:
        done = done.filter(unit__item__concept__in=selection.concepts)
    name = "participation__cohort__cohort__label"
    counted = (
        done.values_list(name).annotate(n=Count("pk"), skipped=Count("pk", filter=Q(state="skipped"))).order_by(name)
    )
    counts = list(counted)
    if not counts:
        raise MissingData(_("No picture has been shown for a question yet."))
    rows = [Row(label, _skip_cells(n, skipped, None)) for label, n, skipped in counts]
    theirs = _in_text("skipped")
    rows.append(Row(_("All"), _skip_cells(sum(n for _l, n, _s in counts), sum(s for _l, _n, s in counts), theirs)))
    columns: list[Words] = [_("Shown"), _("Skipped"), _("Skipped in percent")]
    return inputs.table(corner=_("Country"), columns=columns, rows=rows)


def _skip_cells(n: int, skipped: int, theirs: PrintedValue | None) -> tuple[Cell, ...]:
    share = share_of(skipped, n, method="share of pictures skipped")
    return (Cell(text=str(n)), Cell(text=str(skipped)), Cell(share, rounding=Rounding(2, 100), printed=theirs))


OPTIONS = (OWN_ANSWER,)
DATA_TABLES: tuple[TableSpec, ...] = (
    TableSpec(
        "profile", "Table 3, Figure 3", gettext_lazy("The data by country"), NEEDS, build_profile,
        (OWN_ANSWER, CEILING, JUDGE, SCALE),
    ),
    TableSpec("answers", "Figure 4", gettext_lazy("Facets and their answers"), NEEDS, build_facets, OPTIONS),
    TableSpec("openers", "Section 4", gettext_lazy("How questions begin"), NEEDS, build_openers),
    TableSpec(
        "sub-categories", "Figure 10", gettext_lazy("Sub-categories of facets"),
        gettext_lazy("Accepted questions that have a sub-category."), build_sub_categories,
    ),
    TableSpec(
        "skips", "Section 3", gettext_lazy("Pictures that were skipped"),
        gettext_lazy("A campaign in which people write questions."), build_skips,
    ),
)  # fmt: skip
