"""Which prompts can ask a campaign's sheet at an endpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Exists, OuterRef

from annotation.displays.shown_item import build_shown
from annotation.fields.contract import Shown
from annotation.models import Campaign, Unit
from annotation.services.campaigns.lifecycle import items_of
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import ItemImage, Stage
from jobs.queries.read_once import read_once
from predictions.models import Endpoint
from predictions.prompts.contract import Kind, MissingInput, Prompt, Scene, SceneImage
from predictions.prompts.registry import prompts_for
from predictions.queries.scenes import build_requests, missing_image_roles, roles_of, scene_of

ASKED: Mapping[str, Sequence[Kind]] = {
    Endpoint.Kind.OPENAI: ("chat", "continuation"),
    Endpoint.Kind.OPEN_CLIP: ("probe",),
    Endpoint.Kind.DETECTOR: ("grounding",),
    Endpoint.Kind.GROUNDING: ("grounding",),
}


@dataclass(frozen=True)
class CompatiblePrompts:
    """`prompts`: those written for such a sheet first. `ready`: the first that can ask it as it is, without anything
    that a researcher has to bring. `missing`: roles of pictures that the display needs and the item has not;
    `unavailable`: prompts that would fit if it had them."""

    prompts: Sequence[Prompt] = ()
    ready: Prompt | None = None
    missing: Sequence[str] = ()
    unavailable: Sequence[Prompt] = ()


def find_compatible_prompts(campaign: Campaign, endpoint: Endpoint) -> CompatiblePrompts:
    """By the campaign's first item that has the pictures its display needs, else by its first. Empty where there is
    none."""
    example = _first_scene(campaign)
    if example is None:
        return CompatiblePrompts()
    scene, shown = example
    kinds, stage = ASKED[endpoint.kind], campaign.stage
    prompts = prompts_for(scene, kinds)
    ready = (prompt for prompt in prompts if _can_ask(prompt, scene, shown, stage))
    missing = missing_image_roles(stage, shown)
    whole = replace(scene, images=(*scene.images, *(SceneImage(role, "", 1, 1) for role in missing)))
    idle = [prompt for prompt in prompts_for(whole, kinds) if prompt not in prompts] if missing else []
    return CompatiblePrompts(prompts, next(ready, prompts[0] if prompts else None), missing, idle)


def is_compatible(campaign: Campaign, prompt: Prompt, endpoint: Endpoint, *, may_be_empty: bool = False) -> bool:
    """Whether a prompt can ask the campaign's sheet at an endpoint of this kind. A campaign without items fits none,
    unless `may_be_empty`: then the endpoint alone decides."""
    if prompt.kind not in ASKED[endpoint.kind]:
        return False
    first = _first_scene(campaign)
    return may_be_empty if first is None else prompt.fits(first[0])


def usable_endpoint_kinds(campaign: Campaign) -> set[str]:
    """The kinds of endpoints that some prompt can put the campaign's sheet to, with or without its pictures."""
    example = _first_scene(campaign)
    if example is None:
        return set()
    scene, shown = example
    missing = missing_image_roles(campaign.stage, shown)
    whole = replace(scene, images=(*scene.images, *(SceneImage(role, "", 1, 1) for role in missing)))
    return {kind for kind, asked in ASKED.items() if prompts_for(scene, asked) or prompts_for(whole, asked)}


def _can_ask(prompt: Prompt, scene: Scene, shown: Shown, stage: Stage) -> bool:
    try:
        build_requests(
            prompt, replace(scene, options={option.key: option.default for option in prompt.options}), shown, stage, 0
        )
    except MissingInput:
        return False
    return True


def _first_scene(campaign: Campaign) -> tuple[Scene, Shown] | None:
    return read_once(("first scene", campaign.pk), lambda: _read_first_scene(campaign))


def _read_first_scene(campaign: Campaign) -> tuple[Scene, Shown] | None:
    """What is shown of that item; the unit need not be there yet."""
    items = items_of(campaign).prefetch_related("images__image", "facts").select_related("stage").order_by("pk")
    whole = items
    for role in roles_of(campaign.stage.display):
        whole = whole.filter(Exists(ItemImage.objects.filter(item=OuterRef("pk"), role=role)))
    item = whole.first() or items.first()
    if item is None:
        return None
    cohort = campaign.cohorts.select_related("cohort").order_by("pk").first()
    target = cohort.cohort.label if cohort and campaign.stage.has_target else ""
    unit = Unit(item=item, target=target)
    shown = build_shown(unit, None)
    return scene_of(unit, sheet_of(campaign.sheet_version), {}, shown), shown
