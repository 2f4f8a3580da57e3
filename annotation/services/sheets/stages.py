"""Stages as researchers write them: drafts, what is wrong with them, publishing, versions, new ones."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.composer.actions import DROPPED
from annotation.composer.paths import get_value
from annotation.composer.validation import StageProblem
from annotation.composer.validation import stage_problems as content_problems
from annotation.displays import UnknownDisplay, display
from annotation.displays.contract import required
from annotation.models import Campaign, StageDraft, StageVersion
from annotation.services.campaigns.instructions import has_uneven_demands, texts_of
from annotation.services.campaigns.people_needed import campaign_shortages
from annotation.services.derivation import derived_items, outbox
from annotation.services.derivation.derived_counts import MOST_ITEMS, count_derived
from annotation.services.sheets.stage_warnings import stage_warnings
from annotation.services.transactions import in_transaction
from benchmarks.access import benchmarks_to_work_on
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.queries.availability import is_available
from benchmarks.queries.label_sets import set_for_tables
from benchmarks.rules.coverage import SET_PREFIX
from benchmarks.rules.displays import default_pictures
from jobs.models import record
from people.locales.languages import native_name
from people.models import User

COLUMNS = (
    "name", "display", "sheet", "skip_reasons", "has_target", "target_answers", "target_in_all", "acceptance",
    "acceptance_rule", "review_reasons", "derivation", "staffing", "own_items_only", "layout", "pictures",
    "retire_after_skips", "instructions", "coverage",
)  # fmt: skip
HELD = ("display", "pictures", "staffing", "own_items_only", "has_target", "target_in_all", "acceptance")
NAMED = 3
UNEVEN = gettext_lazy(
    "The texts for the same people differ in quiz or seconds: by changing the language one is asked for less. "
    "Make them alike."
)
Content = dict[str, Any]


class DraftOutdated(Exception):
    """The draft was saved, discarded or published by somebody else since it was read; `draft` is what is there."""

    def __init__(self, draft: StageDraft | None) -> None:
        super().__init__("the draft changed")
        self.draft = draft


class NotPublishable(Exception):
    def __init__(self, problems: Sequence[StageProblem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = list(problems)


def content_of(stage: Stage) -> Content:
    """The stage as it is in force, as a draft has it."""
    return {key: getattr(stage, key) for key in COLUMNS}


def draft_of(stage: Stage) -> StageDraft | None:
    return StageDraft.objects.filter(stage=stage).select_related("saved_by").first()


def revision(stage: Stage, draft: StageDraft | None) -> str:
    """Which state of a stage a page shows: it grows with every save and every publishing."""
    return f"{stage.version}.{draft.version if draft else 0}"


@in_transaction
def save_draft(stage: Stage, content: Mapping[str, Any], revision_seen: str, actor: User, at: datetime) -> StageDraft:
    """Keep what was written. `revision_seen`: the mark of the page it was written on; DraftOutdated when it is old."""
    stage, draft = _lock_stage(stage)
    if revision_seen != revision(stage, draft):
        raise DraftOutdated(draft)
    draft = draft or StageDraft(stage=stage)
    kept_columns = {key: content[key] for key in (*COLUMNS, DROPPED) if key in content}
    draft.content, draft.version, draft.saved_by, draft.saved_at = kept_columns, draft.version + 1, actor, at
    draft.save()
    return draft


def _lock_stage(stage: Stage) -> tuple[Stage, StageDraft | None]:
    locked = Stage.objects.select_for_update(of=("self",)).select_related("benchmark").get(pk=stage.pk)
    return locked, draft_of(locked)


@in_transaction
def discard(stage: Stage, actor: User) -> None:
    """Back to what is published."""
    stage, draft = _lock_stage(stage)
    if draft is not None:
        draft.delete()
        _event(stage, actor, "stage.draft_discarded")


@in_transaction
def publish(stage: Stage, revision_seen: str, actor: User, at: datetime) -> StageVersion:
    """The draft becomes the stage. Raises DraftOutdated, NotPublishable. Campaigns keep the sheet they have."""
    stage, draft = _lock_stage(stage)
    if draft is None or revision_seen != revision(stage, draft):
        raise DraftOutdated(draft)
    content = {**content_of(stage), **{key: draft.content[key] for key in COLUMNS if key in draft.content}}
    wrong = [problem for problem in _publishing_problems(stage, content) if problem.blocks]
    if wrong:
        raise NotPublishable(wrong)
    derivation_changed = content["derivation"] != stage.derivation
    coverage_changed = content["coverage"] != stage.coverage
    if stage.version and not stage.versions.exists():
        StageVersion.objects.create(stage=stage, number=stage.version, content=content_of(stage), published_at=at)
    for key, value in content.items():
        setattr(stage, key, value)
    stage.version += 1
    stage.save()
    draft.delete()
    version = StageVersion.objects.create(
        stage=stage, number=stage.version, content=content, published_by=actor, published_at=at
    )
    _event(stage, actor, "stage.published", number=stage.version)
    if derivation_changed:
        derived_items.rederive_stage(stage)
    if coverage_changed:
        outbox.mark_cells_due(stage.pk)
    return version


def draft_problems(stage: Stage, content: Mapping[str, Any]) -> list[StageProblem]:
    """What is wrong with the content itself, whatever items and campaigns the stage has."""
    return content_problems(content, earlier_stages(stage))


def _publishing_problems(stage: Stage, content: Mapping[str, Any]) -> list[StageProblem]:
    """What is wrong with the content, and what around the stage keeps it from being published."""
    around = (_missing_label_set, _used_by_campaigns, _too_many)
    return draft_problems(stage, content) + [problem for check in around for problem in check(stage, content)]


def _too_many(stage: Stage, content: Mapping[str, Any]) -> Iterator[StageProblem]:
    derivation = content.get("derivation") or {}
    if derivation != stage.derivation and (count_derived(stage, derivation) or 0) > MOST_ITEMS:
        words = _("More than %(most)s items would result. Set a limit.") % {"most": f"{MOST_ITEMS:,}"}
        yield StageProblem("derivation.params.most", words)


def _missing_label_set(stage: Stage, content: Mapping[str, Any]) -> Iterator[StageProblem]:
    rows = str((content.get("coverage") or {}).get("rows") or "")
    key = rows.removeprefix(SET_PREFIX) if rows.startswith(SET_PREFIX) else ""
    if key and set_for_tables(stage.benchmark.team, key) is None:
        words = _("The team has no label set “%(key)s”. Choose another, or import it on the page Targets.")
        yield StageProblem("coverage.rows", words % {"key": key})


def _used_by_campaigns(stage: Stage, content: Mapping[str, Any]) -> Iterator[StageProblem]:
    """What a running campaign reads from its stage cannot change under the people who work on it."""
    running = stage.campaigns.filter(state__in=(Campaign.State.OPEN, Campaign.State.PAUSED)).order_by("pk").first()
    for key in HELD if running else ():
        if content.get(key, getattr(stage, key)) != getattr(stage, key):
            words = _("The campaign “%(name)s” is running and depends on this. Close it first, or create a new stage.")
            yield StageProblem(key, words % {"name": running})


@in_transaction
def restore_version(stage: Stage, number: int, actor: User, at: datetime) -> StageDraft:
    """A version that was published becomes the draft; a draft that was there is gone."""
    stage, draft = _lock_stage(stage)
    version = stage.versions.get(number=number)
    draft = draft or StageDraft(stage=stage)
    draft.content, draft.version, draft.saved_by, draft.saved_at = version.content, draft.version + 1, actor, at
    draft.save()
    _event(stage, actor, "stage.brought_back", number=number)
    return draft


BLANK: Mapping[str, Any] = {
    "display": "image",
    "sheet": {"fields": []},
    "skip_reasons": [
        {
            "code": "unknown",
            "label": {
                "en": "I do not know what it shows",
                "ar": "لا أعرف ما الذي يُظهره",
                "pt": "Não sei o que mostra",
                "am": "ምን እንደሚያሳይ አላውቅም",
            },
        },
        {
            "code": "broken",
            "label": {
                "en": "It is broken or unreadable",
                "ar": "معطوب أو غير واضح",
                "pt": "Danificado ou ilegível",
                "am": "ተበላሽቷል ወይም አይነበብም",
            },
        },
    ],
}


@in_transaction
def create(benchmark: Benchmark, name: str, actor: User, like: Mapping[str, Any] | None = None) -> Stage:
    """A new last stage: blank, or with the content of another. What it was derived from is taken along only within
    the benchmark, since it names stages. Content that is there from the beginning is version 1; of a blank stage
    nothing is in force yet, so the first publishing makes version 1."""
    Benchmark.objects.select_for_update(of=("self",)).get(pk=benchmark.pk)
    keys = set(benchmark.stages.values_list("key", flat=True))
    content = {key: value for key, value in dict(like or BLANK).items() if key in COLUMNS}
    if not stages_named(content.get("derivation") or {}) <= keys:
        content["derivation"] = {}
    content["pictures"] = content.get("pictures") or default_pictures(str(content.get("display")))
    last = benchmark.stages.aggregate(last=Max("position"))["last"]
    key = _unique_key(slugify(name)[:50] or "stage", keys)
    position = 0 if last is None else last + 1
    place = {"benchmark": benchmark, "key": key, "name": name, "position": position}
    stage = Stage.objects.create(**{**content, **place, "version": 0 if like is None else 1})
    _event(stage, actor, "stage.created")
    return stage


def _unique_key(wanted: str, taken: set[str]) -> str:
    numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(candidate for candidate in numbered if candidate not in taken)


@in_transaction
def remove(stage: Stage, actor: User) -> bool:
    """Take a stage away that nothing hangs on: no items, no campaigns, no other stage made of it."""
    stage, draft = _lock_stage(stage)
    others = stage.benchmark.stages.exclude(pk=stage.pk)
    used = any(stage.key in stages_named(other.derivation or {}) for other in others)
    if used or stage.items.exists() or stage.campaigns.exists() or stage.sheet_versions.exists():
        return False
    if draft is not None:
        draft.delete()
    stage.versions.all().delete()
    stage.filter_versions.all().delete()
    _event(stage, actor, "stage.removed", key=stage.key)
    stage.delete()
    return True


def stages_named(derivation: Mapping[str, Any]) -> set[str]:
    """The stages that a derivation takes from: items, names that people merged, and what models propose."""
    named = (get_value(derivation, path) for path in ("params.rename.by", "params.proposals.stage"))
    return {*derivation.get("from", ()), *(str(key) for key in named if key)}


def earlier_stages(stage: Stage) -> dict[str, tuple[str, list[Any]]]:
    """Name and fields of the stages before this one, by key."""
    return {
        other.key: (other.name, other.sheet.get("fields", []))
        for other in stage.benchmark.stages.filter(_earlier_stages_filter(stage))
    }


def earlier_pictures(stage: Stage) -> dict[str, str]:
    """How many pictures items have in the stages before this one, by key."""
    return dict(stage.benchmark.stages.filter(_earlier_stages_filter(stage)).values_list("key", "pictures"))


def own_culture_stages(stage: Stage) -> list[str]:
    """Keys of the stages before this one that ask each cohort about its own culture."""
    own = Q(has_target=True) | Q(own_items_only=True)
    return list(stage.benchmark.stages.filter(_earlier_stages_filter(stage), own).values_list("key", flat=True))


def _earlier_stages_filter(stage: Stage) -> Q:
    return Q(position__lt=stage.position) | Q(position=stage.position, pk__lt=stage.pk)


def problems(
    stage: Stage, content: Mapping[str, Any] | None = None, conditions: Sequence[str] = ()
) -> list[StageProblem]:
    """All that is wrong with a stage, or with a draft of it. What does not block is a warning.

    `conditions`: only items of these are looked at; empty means all.
    """
    content = content_of(stage) if content is None else content
    stage_problems = [*_publishing_problems(stage, content), *_items_missing_inputs(stage, content, conditions)]
    return [*stage_problems, *stage_warnings(stage, content)]


def blocking_problems(stage: Stage) -> list[StageProblem]:
    """What keeps a stage from being opened. Nothing is read for warnings."""
    content = content_of(stage)
    around = [*_publishing_problems(stage, content), *_items_missing_inputs(stage, content, ())]
    return [problem for problem in around if problem.blocks]


def _items_missing_inputs(stage: Stage, content: Mapping[str, Any], conditions: Sequence[str]) -> list[StageProblem]:
    """Items without what the display needs; the first are named. One query for each thing needed."""
    try:
        wanted = display(str(content.get("display")))
    except UnknownDisplay:
        return []
    items = stage.items.filter(is_available())
    items = items.filter(condition__in=conditions) if conditions else items
    parts = required(wanted, str(content.get("pictures", stage.pictures)))
    lacking = [(role, items.exclude(images__role=role)) for role in parts.roles]
    if parts.text:
        lacking.append((_("text"), items.filter(text="")))
    lacking += [(key, items.exclude(context__has_key=key)) for key in parts.context]
    missing = [_missing_input_problem(input_name, rows) for input_name, rows in lacking]
    return [problem for problem in missing if problem is not None]


def _missing_input_problem(input_name: str, rows: Any) -> StageProblem | None:
    count = rows.count()
    if not count:
        return None
    keys = list(rows.order_by("pk").values_list("key", flat=True)[:NAMED])
    message = ngettext(
        "%(n)s item has no “%(what)s”, which is needed to show it: %(keys)s.",
        "%(n)s items have no “%(what)s”, which is needed to show them, such as %(keys)s.",
        count,
    )
    return StageProblem("display", message % {"n": count, "what": input_name, "keys": ", ".join(keys)})


def opening_problems(campaign: Campaign) -> list[StageProblem]:
    """Before a campaign opens: those of its stage; and, as warnings, cohorts with too few people, and languages of its
    cohorts without instructions."""
    campaign_problems = problems(campaign.stage, conditions=campaign.conditions)
    version = campaign.instruction_versions.order_by("-number").first()
    written = texts_of(version)
    texts = [(instruction_draft.language, instruction_draft.cohort) for instruction_draft in written]
    if version is None:
        campaign_problems.append(
            StageProblem("instructions", _("There are no instructions. People see the sheet only."), False)
        )
    if has_uneven_demands(written):
        campaign_problems.append(StageProblem("instructions", str(UNEVEN), False))
    campaign_problems += [
        StageProblem("staffing", shortage.text, blocks=False) for shortage in campaign_shortages(campaign)
    ]
    for row in campaign.cohorts.select_related("cohort") if texts else ():
        has = {language.split("-")[0] for language, cohort in texts if cohort in (None, row.cohort_id)}
        missing = [code for code in row.cohort.languages if code.split("-")[0] not in has]
        if missing and len(missing) == len(row.cohort.languages):
            names = ", ".join(native_name(code) for code in missing)
            words = _("%(cohort)s has no instructions in %(languages)s; its people see another language.")
            campaign_problems.append(
                StageProblem("instructions", words % {"cohort": row.cohort.name, "languages": names}, False)
            )
    return campaign_problems


def copyable_stages(benchmark: Benchmark, user: User) -> list[Stage]:
    """Stages of the team that this person can copy a new one from, those of this benchmark first."""
    mine = benchmarks_to_work_on(user).filter(team=benchmark.team_id)
    rows = Stage.objects.filter(benchmark__in=mine).select_related("benchmark")
    return sorted(rows, key=lambda stage: (stage.benchmark_id != benchmark.pk, stage.benchmark.name, stage.position))


def items_in(stages: Sequence[Stage]) -> dict[int, int]:
    """How many items each stage has now."""
    rows = Item.objects.filter(stage__in=stages, withdrawn_at=None).order_by().values("stage")
    return {row["stage"]: row["n"] for row in rows.annotate(n=Count("pk"))}


def _event(stage: Stage, actor: User, verb: str, **data: Any) -> None:
    record(actor, verb, scope=f"benchmark:{stage.benchmark_id}", target=f"stage:{stage.pk}", **data)
