"""What is said of a plan before it becomes a run: all that it fixes, and what stands in its way."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from benchmarks.models import LabelSet
from benchmarks.queries.label_sets import find_set
from people.models import User
from predictions.models import Run
from predictions.pages.runs import run_summary
from predictions.prompts import registry
from predictions.services.runs.asked_about import COHORTS
from predictions.services.runs.plans import RunPlan
from predictions.services.runs.unit_selection import pinned_selection, sample_facts, select_item_targets
from predictions.templatetags.money import input_amount


def plan_summary(plan: RunPlan, actor: User) -> list[tuple[str, str]]:
    """As the run's own page will have them, label and value."""
    name, setting = plan.rater_name
    spots = select_item_targets(plan.campaign, plan.selection, plan.seed) if plan.selection.get("sample") else []
    selection = {
        **pinned_selection(plan.campaign, plan.selection),
        **sample_facts(plan.campaign, plan.selection, spots),
    }
    draft = Run(
        campaign=plan.campaign, endpoint=plan.endpoint, model=plan.model, revision=plan.revision,
        prompt=plan.prompt.key, prompt_version=registry.version_of(plan.prompt, plan.options),
        prompt_options=dict(plan.options), decoding=asdict(plan.decoding), selection=selection,
        options={"longest": plan.longest, "fresh": plan.fresh}, repeats=plan.repeats, seed=plan.seed,
        budget=plan.budget, follows=plan.follows, created_by=actor,
    )  # fmt: skip
    own = [(_("Name in the tables"), name), (_("Setting"), setting or _("none")), (_("Prompt"), _(plan.prompt.name))]
    return [*own, *run_summary(draft)]


def form_data_of(run: Run) -> QueryDict:
    """The form of a new run, filled in as this one was planned."""
    data = QueryDict(mutable=True)
    prompt = f"{run.prompt}@{run.prompt_version.partition('+')[0]}"
    usual = next((one.setting for one in registry.PROMPTS if one.key == run.prompt), "")
    plain = {
        "campaign": run.campaign_id, "endpoint": run.endpoint_id, "model": run.model, "revision": run.revision,
        "prompt": prompt, "shown_prompt": prompt, "name": run.rater.name if run.rater.name != run.model else "",
        "setting": run.rater.setting if run.rater.setting != usual else "",
        "decoding_seed": run.decoding.get("seed"), "longest": run.options.get("longest"),
        "fresh": "on" if run.options.get("fresh") else None, "follows": "on" if run.follows else None,
        "sample": run.selection.get("sample"), "draw": run.selection.get("draw"),
        "seed": run.seed, "repeats": run.repeats, "budget": input_amount(run.budget),
    }  # fmt: skip
    plain |= {name: run.decoding.get(name) for name in ("temperature", "top_p", "max_tokens")}
    for key, value in run.prompt_options.items():
        plain[f"o-{key}"] = "\n".join(map(str, value)) if isinstance(value, list) else None if value is False else value
    plain |= _asked_about_data(run)
    for name, value in plain.items():
        if value is not None:
            data[name] = str(value)
    data.setlist("ways", list(run.decoding.get("ways") or []))
    for name in ("conditions", "targets", "concepts"):
        data.setlist(name, list(run.selection.get(name) or []))
    data.setlist("labels", list((run.selection.get("asked_about") or {}).get("labels") or []))
    return data


def _asked_about_data(run: Run) -> dict[str, Any]:
    """The form's values for what the run asked about: the very version of its label set."""
    about = run.selection.get("asked_about") or {"kind": COHORTS}
    reference = str(about.get("set") or "")
    row = find_set(run.benchmark.team, str((about.get("sets") or {}).get(reference, reference))) if reference else None
    return {"asked_about": about.get("kind"), "label_set": row.pk if row else None, "others": about.get("others")}


def set_rows(by_set: Mapping[int | None, int]) -> list[tuple[str, int]]:
    """Label sets with their version and the number of units; the cohorts' own first."""
    sets = LabelSet.objects.in_bulk([pk for pk in by_set if pk])
    rows = [(f"{sets[pk].name} · {sets[pk].version}", n) for pk, n in by_set.items() if pk]
    own = [(_("Cohorts"), by_set[None])] if None in by_set and rows else []
    return [*own, *sorted(rows)]
