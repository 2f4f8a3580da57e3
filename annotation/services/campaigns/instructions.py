"""Instructions of a campaign: versions of texts, by language and cohort, with their protocol."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.instructions.protocol import Protocol
from annotation.models import Campaign, InstructionText, InstructionVersion
from annotation.services.transactions import in_transaction
from jobs.models import record
from people.models import User


@dataclass(frozen=True)
class InstructionDraft:
    """One text. `cohort`: its id, or None for all. `parts`: see annotation.protocol."""

    language: str
    body: str
    cohort: int | None = None
    parts: Mapping[str, Any] = field(default_factory=dict)


def newest_version(campaign: Campaign) -> InstructionVersion | None:
    return campaign.instruction_versions.prefetch_related("texts").order_by("-number").first()


def texts_of(version: InstructionVersion | None) -> list[InstructionDraft]:
    """Those for all cohorts first."""
    rows = version.texts.order_by("cohort__label", "pk") if version else []
    drafts = [InstructionDraft(row.language, row.body, row.cohort_id, row.parts) for row in rows]
    return sorted(drafts, key=lambda draft: draft.cohort is not None)


def texts_by_language(texts: Mapping[str, str]) -> list[InstructionDraft]:
    """Texts by language, for all cohorts; the empty ones left out."""
    return [InstructionDraft(language, body.strip()) for language, body in texts.items() if body.strip()]


def current_instructions(campaign: Campaign) -> dict[str, str]:
    """What all cohorts read, by language."""
    return {draft.language: draft.body for draft in texts_of(newest_version(campaign)) if draft.cohort is None}


@in_transaction
def publish(
    campaign: Campaign, texts: Sequence[InstructionDraft], actor: User | None, *, required: bool = False
) -> InstructionVersion:
    """A new version; answers are stamped with it from now on. The same again makes none.

    `required`: nobody is given work before they went through it, also those who began under an earlier one.
    """
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    last = newest_version(campaign)
    if last is not None and (last.required, _set(texts_of(last))) == (required, _set(texts)):
        return last
    number = last.number + 1 if last else 1
    version = InstructionVersion.objects.create(campaign=campaign, number=number, required=required, created_by=actor)
    InstructionText.objects.bulk_create(
        InstructionText(version=version, language=t.language, cohort_id=t.cohort, body=t.body, parts=dict(t.parts))
        for t in texts
    )
    scope, target = f"benchmark:{campaign.stage.benchmark_id}", f"campaign:{campaign.pk}"
    record(actor, "campaign.instructed", scope=scope, target=target, number=number, required=required)
    return version


def _set(texts: Sequence[InstructionDraft]) -> list[Any]:
    return sorted(([t.language, t.cohort or 0, t.body, dict(t.parts)] for t in texts), key=lambda row: row[:2])


def set_instructions(campaign: Campaign, texts: Mapping[str, str], actor: User | None) -> InstructionVersion:
    """Texts for all cohorts, without a protocol."""
    return publish(campaign, texts_by_language(texts), actor)


def copy(campaign: Campaign, to: Campaign, actor: User | None) -> None:
    """The newest version of one campaign begins another."""
    last = newest_version(campaign)
    if last is not None:
        publish(to, texts_of(last), actor, required=last.required)


def text_for(version: InstructionVersion, cohort_id: int, language: str) -> InstructionText | None:
    """For this cohort in this language; else for all in it; else of the cohort, then of all, in English; else any."""
    fitting = [row for row in version.texts.all() if row.cohort_id in (None, cohort_id)]
    return _nearest_text(fitting, cohort_id, language)


def _nearest_text(rows: Iterable[InstructionText], cohort_id: int, language: str) -> InstructionText | None:
    base = language.split("-")[0]

    def rank(row: InstructionText) -> tuple[int, int, int]:
        near = (language, base, "en")
        spoken = near.index(row.language) if row.language in near else _matching_language(row.language, base)
        return spoken, 0 if row.cohort_id == cohort_id else 1, row.pk

    return min(rows, key=rank, default=None)


def required_text(version: InstructionVersion, cohort_id: int, language: str) -> InstructionText | None:
    """What a person has to go through: `text_for`, but where one in their language asks something else than those of
    their cohort, one of these. Another language is no way round a quiz."""
    text = text_for(version, cohort_id, language)
    rows = [row for row in version.texts.all() if row.cohort_id == cohort_id]
    if text is None or text.cohort_id == cohort_id or not rows:
        return text
    asked = {Protocol.from_json(row.parts).demand for row in rows}
    return text if asked == {Protocol.from_json(text.parts).demand} else _nearest_text(rows, cohort_id, language)


def has_uneven_demands(texts: Iterable[InstructionDraft]) -> bool:
    """Whether people of one cohort can choose, by their language, how much is asked of them."""
    asked: dict[int | None, set[Any]] = {}
    for draft in texts:
        asked.setdefault(draft.cohort, set()).add(Protocol.from_json(draft.parts).demand)
    return any(len(several) > 1 for several in asked.values())


def _matching_language(language: str, base: str) -> int:
    """pt-br serves a page in pt; any language is better than none."""
    return 1 if language.split("-")[0] == base else 9
