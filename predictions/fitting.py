"""Which prompts can ask a campaign's sheet at an endpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from annotation.models import Campaign, Unit
from annotation.services.campaigns import items_of
from annotation.services.sheet_versions import sheet_of
from predictions.models import Endpoint
from predictions.prompts.contract import Kind, Lacking, Prompt, Scene
from predictions.prompts.registry import prompts_for
from predictions.scenes import scene_of

ASKED: Mapping[str, Sequence[Kind]] = {
    Endpoint.Kind.OPENAI: ("chat", "continuation"),
    Endpoint.Kind.OPEN_CLIP: ("probe",),
    Endpoint.Kind.DETECTOR: ("grounding",),
    Endpoint.Kind.GROUNDING: ("grounding",),
}


def fitting(campaign: Campaign, endpoint: Endpoint) -> tuple[Sequence[Prompt], Prompt | None]:
    """By a campaign's first item, those written for such a sheet first; and the first that can ask it as it is, without
    anything that a researcher has to bring. Empty where there is no item."""
    scene = first_scene(campaign)
    prompts = prompts_for(scene, ASKED[endpoint.kind]) if scene else ()
    ready = (one for one in prompts if scene and _can_ask(one, scene))
    return prompts, next(ready, prompts[0] if prompts else None)


def _can_ask(prompt: Prompt, scene: Scene) -> bool:
    try:
        prompt.ask(replace(scene, options={one.key: one.default for one in prompt.options}), 0)
    except Lacking:
        return False
    return True


def first_scene(campaign: Campaign) -> Scene | None:
    """What is shown of the campaign's first item; the unit need not be there yet."""
    items = items_of(campaign).prefetch_related("images__image", "facts").select_related("stage")
    item = items.order_by("pk").first()
    if item is None:
        return None
    cohort = campaign.cohorts.select_related("cohort").order_by("pk").first()
    target = cohort.cohort.label if cohort and campaign.stage.has_target else ""
    return scene_of(Unit(item=item, target=target), sheet_of(campaign.sheet_version), {})
