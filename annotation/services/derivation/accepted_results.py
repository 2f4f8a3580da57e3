"""What was accepted in a stage, as derivations read it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Q, QuerySet

from annotation.models import Annotation, Assignment, ItemContributor, ItemSource, Outcome
from annotation.queries.item_links import ancestors
from annotation.queries.resolutions import reads_resolutions, resolutions_of_units
from annotation.queries.unit_completion import complete_units
from annotation.services.answers.model_answers import REPEAT
from annotation.services.derivation.run_choice import RunChoice
from annotation.services.derivation.unanswered_calls import UnansweredCall, unanswered_calls
from annotation.services.review.item_acceptance import accepted_as_they_are
from annotation.services.review.outcomes import BY_PERSON, facts_of, judge_unit
from benchmarks.models import Benchmark, Image, Item, Stage
from benchmarks.queries.availability import is_kept, kept_without
from benchmarks.rules.derivations import Derivation, DerivationSource, PictureRef, Result
from benchmarks.rules.derivations.renaming import Names, Rename, merged_names, rename_items
from people.models import Rater


def results_for(
    stage: Stage,
    derivation: Derivation,
    earlier: Iterable[Stage],
    runs: RunChoice | None,
    *,
    items: Collection[int] | None = None,
) -> list[Result]:
    """The results of earlier stages that a derivation of this stage reads."""
    settled = reads_resolutions(stage, derivation)
    results = [
        result
        for source_stage in earlier
        for result in results_of(
            source_stage,
            of=derivation.of,
            items=items,
            without=derivation.without,
            runs=runs,
            linked=derivation.rules.linked,
            parts=derivation.rules.parts,
            resolved=source_stage.key in settled,
            unanswered=reads_unanswered(derivation),
        )
    ]
    if derivation.rename is None:
        return results
    return rename_items(results, derivation.rename, names_that_stay(stage.benchmark, derivation.rename))


def names_that_stay(benchmark: Benchmark, rename: Rename) -> Names:
    """What people merged: the name that stays, by each other name. Empty where nothing was."""
    pairs = benchmark.stages.filter(key=rename.by).select_related("benchmark").first()
    return merged_names(results_of(pairs), rename) if pairs is not None else {}


def reads_unanswered(derivation: Derivation) -> bool:
    """Whether calls of models that ended without an answer become items, too."""
    return bool((derivation.params.get("where") or {}).get("no_answer"))


def results_of(
    stage: Stage,
    *,
    of: str = "results",
    items: Collection[int] | None = None,
    without: str = "",
    runs: RunChoice | None = None,
    filtered: bool = True,
    linked: bool = False,
    parts: bool = False,
    resolved: bool = False,
    unanswered: bool = False,
) -> list[Result]:
    """The accepted results of a stage, or of some of its items. `of` items or kept: these as such.

    On submit every counted answer is accepted; by review those that a reviewer accepted; by rule those of units whose
    newest outcome is accepted, and of items that a person accepted as they are, which are a result also without any
    answer. Those to items that are withdrawn, dropped by a filter or wait for a fact are none.
    `without`: a filter that is not asked. Answers of models are none without `runs`; with it those of the runs chosen
    are results, whatever the stage's acceptance, and results say what kinds need that read all raters. `filtered`
    false: as if no filter dropped anything or waited.
    `linked`: results of people say this too, and which items their items are made of. `parts`: they say it, and which
    item each picture came from. `resolved`: a unit whose answers were in dispute has one result, with the answer that
    settled it, and none where it cannot be decided. `unanswered`: calls of the runs chosen that ended without an answer
    are results without an annotation.
    """
    live = kept_without(stage, without) if without else stage.items.filter(is_kept())
    if not filtered:
        live = stage.items.filter(withdrawn_at=None)
    if items is not None:
        live = live.filter(pk__in=items)
    if of in ("items", "kept"):
        sources = _sources(live, stage.key)
        return [Result(sources[pk]) for pk in sorted(sources)]
    answers = _answers(stage, live)
    outcomes = _outcomes(stage, live, filtered) if stage.acceptance == Stage.Acceptance.BY_RULE else None
    accepted_items: set[int] = set()
    if outcomes is not None:
        accepted_units = {(outcome.campaign_id, unit) for unit, outcome in outcomes.items()}
        answers = [
            answer for answer in answers if (answer.assignment.campaign_id, answer.assignment.unit_id) in accepted_units
        ]
        accepted_items = _without_answers(accepted_as_they_are(live.values_list("pk", flat=True)), answers)
    if runs is not None:
        answers += _model_answers(stage, live, runs)
    sources = _sources(Item.objects.filter(pk__in={answer.assignment.unit.item_id for answer in answers}), stage.key)
    pictures = _pictures(answers, stage.benchmark)
    facts = facts_of(list(sources)) if outcomes else {}
    if linked:
        made_of = ancestors(sources)
        sources = {pk: replace(source, made_of=made_of.get(pk, frozenset())) for pk, source in sources.items()}
    if parts:
        sources = _with_parts(sources)
    results = [_result(answer, sources, pictures, outcomes, facts, stage) for answer in answers]
    if runs is not None or linked or parts:
        results = _with_raters(results, answers)
    if resolved:
        results = _with_resolutions(results, answers)
    if accepted_items:
        accepted = _sources(Item.objects.filter(pk__in=accepted_items), stage.key)
        results += [Result(accepted[pk]) for pk in sorted(accepted)]
    if unanswered and runs is not None:
        results += _unanswered(stage, live, runs)
    return results


def _without_answers(items: set[int], answers: Iterable[Annotation]) -> set[int]:
    return items - {answer.assignment.unit.item_id for answer in answers}


def _unanswered(stage: Stage, items: QuerySet[Item], runs: RunChoice) -> list[Result]:
    calls = [
        call
        for call in unanswered_calls(stage, list(items.values_list("pk", flat=True)))
        if runs.includes(call.rater, call.run)
    ]
    sources = _sources(Item.objects.filter(pk__in={call.unit.item_id for call in calls}), stage.key)
    complete = complete_units({call.unit.pk for call in calls})
    return [_unanswered_result(call, sources, complete, stage) for call in calls]


def _unanswered_result(
    call: UnansweredCall, sources: Mapping[int, DerivationSource], complete: Collection[int], stage: Stage
) -> Result:
    source = sources[call.unit.item_id]
    return Result(
        item=source,
        target=call.unit.target,
        culture=_culture(stage, call.unit.target, source),
        rater=stage.benchmark.pseudonym(call.rater.pk),
        kind="model",
        rater_name=call.rater.name,
        setting=call.rater.setting,
        run=call.run,
        repeat=call.repeat,
        submitted=call.at.timestamp(),
        complete=call.unit.pk in complete,
        unanswered=True,
    )


def _with_resolutions(results: Sequence[Result], answers: Sequence[Annotation]) -> list[Result]:
    """In place of all people's answers to a unit in dispute the one that settled it. Answers of models stay."""
    resolutions = resolutions_of_units({answer.assignment.unit_id for answer in answers})
    settled: dict[int, list[Result]] = {}
    others = []
    for result, answer in zip(results, answers, strict=True):
        if result.kind == "person" and answer.assignment.unit_id in resolutions:
            settled.setdefault(answer.assignment.unit_id, []).append(result)
        else:
            others.append(result)
    for unit, of_unit in settled.items():
        if any(resolution.answer is None for resolution in resolutions[unit]):
            continue
        chosen = {resolution.chosen_annotation_id for resolution in resolutions[unit]}
        result = next((result for result in of_unit if result.annotation in chosen), of_unit[0])
        values = {resolution.field: resolution.answer for resolution in resolutions[unit]}
        others.append(replace(result, answers={**result.answers, **values}))
    return sorted(others, key=lambda result: result.annotation or 0)


def _model_answers(stage: Stage, items: QuerySet[Item], runs: RunChoice) -> list[Annotation]:
    rows = Annotation.objects.filter(
        Q(counted=True) | Q(uncounted_because=REPEAT),
        runs.rows(),
        live=True,
        rater__kind=Rater.Kind.MODEL,
        assignment__campaign__stage=stage,
        assignment__unit__item__in=items,
    )
    joined = rows.select_related("assignment__unit", "assignment__campaign", "cohort", "sheet_version", "rater")
    return [answer for answer in joined.order_by("pk") if runs.includes(answer.rater, answer.run or 0)]


def _with_raters(results: Sequence[Result], answers: Sequence[Annotation]) -> list[Result]:
    """With what kinds need that read the answers of all raters. Two queries."""
    complete = complete_units({answer.assignment.unit_id for answer in answers})
    items = {answer.assignment.unit.item_id for answer in answers}
    owners = set(ItemContributor.objects.filter(item__in=items, own=True).values_list("item", "rater"))
    return [
        replace(
            result,
            **_model_values(answer) if answer.rater.kind == Rater.Kind.MODEL else {},
            submitted=answer.submitted_at.timestamp(),
            complete=answer.assignment.unit_id in complete,
            owns=(answer.assignment.unit.item_id, answer.rater_id) in owners,
        )
        for result, answer in zip(results, answers, strict=True)
    ]


def _model_values(answer: Annotation) -> dict[str, Any]:
    return {
        "kind": "model",
        "rater_name": answer.rater.name,
        "setting": answer.rater.setting,
        "run": answer.run or 0,
        "repeat": answer.assignment.repeat,
    }


def _answers(stage: Stage, items: Any) -> list[Annotation]:
    rows = Annotation.objects.filter(
        live=True,
        counted=True,
        rater__kind=Rater.Kind.PERSON,
        assignment__campaign__stage=stage,
        assignment__unit__item__in=items,
    )
    if stage.acceptance == Stage.Acceptance.BY_REVIEW:
        rows = rows.filter(assignment__state=Assignment.State.ACCEPTED)
    joined = rows.select_related("assignment__unit", "assignment__campaign", "cohort", "sheet_version", "rater")
    return list(joined.order_by("pk"))


def _outcomes(stage: Stage, items: Any, filtered: bool) -> dict[int, Outcome]:
    """By unit: what the newest campaign that judged it says, where that is that it is accepted. An outcome that waits
    was accepted perhaps before a filter made it wait."""
    states = {Outcome.State.ACCEPTED} if filtered else {Outcome.State.ACCEPTED, Outcome.State.WAITING}
    rows = Outcome.objects.filter(campaign__stage=stage, unit__item__in=items).select_related("rule_version")
    newest = {row.unit_id: row for row in rows.order_by("campaign_id")}
    return {unit: outcome for unit, outcome in newest.items() if outcome.state in states}


def _with_parts(sheets: Mapping[int, DerivationSource]) -> dict[int, DerivationSource]:
    """Sheets with the items that their pictures came from, of those that are there and that filters keep."""
    made_of: dict[int, set[int]] = {}
    for sheet, original in ItemSource.objects.filter(item__in=sheets).values_list("item", "source"):
        made_of.setdefault(sheet, set()).add(original)
    ids = {original for own in made_of.values() for original in own}
    originals = _sources(Item.objects.filter(is_kept(), pk__in=ids), "")
    with_parts = {}
    for pk, sheet_source in sheets.items():
        own = [originals[original] for original in sorted(made_of.get(pk, ())) if original in originals]
        pictures = sheet_source.context.get("pictures")
        rows = pictures if isinstance(pictures, Mapping) else {}
        originals_by_role = {
            role: _original(own, str(row.get("key")), sheet_source.images.get(role)) for role, row in rows.items()
        }
        parts = {role: original for role, original in originals_by_role.items() if original is not None}
        with_parts[pk] = replace(sheet_source, parts=parts if pk in made_of else None)
    return with_parts


def _original(originals: Iterable[DerivationSource], key: str, picture: PictureRef | None) -> DerivationSource | None:
    """The item of this key; where items of several stages have it, the one with this picture."""
    same = [original for original in originals if original.key == key]
    shas = {picture.image} if picture is not None else set()
    return next((row for row in same if shas & {use.image for use in row.images.values()}), same[0] if same else None)


def _sources(items: Any, stage_key: str) -> dict[int, DerivationSource]:
    sources = {}
    facts = facts_of(list(items.values_list("pk", flat=True)))
    for item in items.prefetch_related("images"):
        images = {
            use.role: PictureRef(use.image_id, use.alt, use.source, use.licence, use.file_name)
            for use in item.images.all()
        }
        sources[item.pk] = DerivationSource(
            item.pk, stage_key, item.key, item.concept, item.origin, item.condition, item.text, item.context, images,
            facts.get(item.pk, {}), item.answer_target,
        )  # fmt: skip
    return sources


def _culture(stage: Stage, target: str, item: DerivationSource) -> str:
    """What an answer is about: its target; where cohorts get only their own items, what the item is of."""
    return target or item.answer_target or (item.origin if stage.own_items_only else "")


def picture_answers(answers: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Answers that are pictures: they name one by its sha."""
    return {key: answer for key, answer in answers.items() if isinstance(answer, Mapping) and answer.get("sha")}


def _pictures(answers: Iterable[Annotation], benchmark: Benchmark) -> dict[str, int]:
    """Images of the team by sha."""
    shas = {str(picture["sha"]) for answer in answers for picture in picture_answers(answer.answers).values()}
    return dict(Image.objects.filter(team=benchmark.team_id, sha256__in=shas).values_list("sha256", "pk"))


def _result(
    answer: Annotation,
    sources: Mapping[int, DerivationSource],
    pictures: Mapping[str, int],
    outcomes: Mapping[int, Outcome] | None,
    facts: Mapping[int, Any],
    stage: Stage,
) -> Result:
    unit = answer.assignment.unit
    of_person = answer.rater.kind == Rater.Kind.PERSON
    outcome = outcomes[unit.pk] if outcomes is not None and of_person else None
    passes = True
    if outcome is not None:
        verdict = judge_unit(outcome.rule_version, [answer], facts.get(unit.item_id, {}))
        passes = verdict.state == "accepted" or bool(outcome.numbers.get(BY_PERSON))
    source = sources[unit.item_id]
    return Result(
        item=source,
        target=unit.target,
        culture=_culture(stage, unit.target, source),
        cohort=answer.cohort.label if answer.cohort else "",
        rater=stage.benchmark.pseudonym(answer.rater_id),
        annotation=answer.pk,
        version=answer.version,
        answers=answer.answers,
        pictures={
            key: PictureRef(
                pictures[str(picture["sha"])],
                "",
                str(picture.get("source", ""))[:500],
                str(picture.get("licence", ""))[:120],
            )
            for key, picture in picture_answers(answer.answers).items()
            if str(picture["sha"]) in pictures
        },
        score=outcome.numbers.get("score") if outcome is not None else None,
        passes=passes,
    )
