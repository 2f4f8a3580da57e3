"""A run planned by a program: the form of the page, with its defaults for what was not sent."""

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.models import Campaign
from api.protocol.contents import check_form, form_data, problem
from api.protocol.problems import Refused
from benchmarks.access import label_set_for
from benchmarks.models import Benchmark
from jobs.formats.numbers import parse_id
from predictions.forms.answer_runs import OPTION, PlanForm, RunStartForm, campaigns_of, prompt_id
from predictions.models import Endpoint
from predictions.prompts.contract import Prompt
from predictions.queries.compatible_prompts import CompatiblePrompts, find_compatible_prompts
from predictions.queries.endpoints import models_of
from predictions.services.runs.plans import RunPlan

NOT_OF_THE_FORM = ("options", "prompt", "confirmed", "stage", "endpoint_name")


def plan_of(benchmark: Benchmark, content: Mapping[str, Any]) -> RunPlan:
    """Raises Refused, with the errors of the form, and Http404 for a label set of others."""
    content = {**content, **_named(benchmark, content)}
    if label_set := parse_id(str(content.get("label_set", ""))):
        label_set_for(benchmark.team, label_set)
    chosen = check_form(RunStartForm(form_data(content), benchmark=benchmark))
    fits = find_compatible_prompts(chosen["campaign"], chosen["endpoint"])
    prompt = _prompt(fits, str(content.get("prompt", "")))
    about: dict[str, Any] = {
        "benchmark": benchmark, "campaign": chosen["campaign"], "fitting": fits.prompts, "chosen": prompt,
    }  # fmt: skip
    values = {name: value for name, value in content.items() if name not in NOT_OF_THE_FORM}
    values |= {OPTION + name: value for name, value in content.get("options", {}).items()}
    values["prompt"] = prompt_id(prompt)
    known = models_of(chosen["endpoint"])
    if "model" not in values and len(known) == 1:
        values["model"] = known[0]
    form = PlanForm(_with_defaults(PlanForm(**about), values), **about)
    check_form(form)
    return form.plan()


def _named(benchmark: Benchmark, content: Mapping[str, Any]) -> dict[str, int]:
    """Numbers of the campaign and the endpoint that were named otherwise. Raises Refused."""
    numbers = {}
    if "campaign" not in content and "stage" in content:
        campaigns = campaigns_of(benchmark).filter(stage__key=content["stage"])
        campaign = campaigns.filter(state=Campaign.State.OPEN).first() or campaigns.first()
        if campaign is None:
            raise _refused("stage", _("No campaign of this stage has been opened."))
        numbers["campaign"] = campaign.pk
    if "endpoint" not in content and "endpoint_name" in content:
        endpoints = Endpoint.objects.filter(team=benchmark.team, retired_at=None).order_by("name", "pk")
        numbers["endpoint"] = endpoint_named(list(endpoints), content["endpoint_name"]).pk
    return numbers


def endpoint_named(endpoints: list[Endpoint], name: str, member: str = "endpoint_name") -> Endpoint:
    """By its name, or by the first word of it where one endpoint alone has that. `member` of the body has the name.
    Raises Refused."""
    named = [endpoint for endpoint in endpoints if endpoint.name.casefold() == name.casefold()]
    longer = [endpoint for endpoint in endpoints if endpoint.name.casefold().startswith(f"{name.casefold()} ")]
    if not named and len(longer) > 1:
        names = ", ".join(endpoint.name for endpoint in longer[:20])
        raise _refused(member, _("Several endpoints begin so: %(names)s. Write the whole name.") % {"names": names})
    if not named and not longer:
        names = ", ".join(endpoint.name for endpoint in endpoints[:20]) or "-"
        raise _refused(member, _("The team has no such endpoint. There are: %(names)s.") % {"names": names})
    return (named or longer)[0]


def _refused(member: str, words: str) -> Refused:
    return Refused(words, errors=[problem(f"/{member}", "unknown", words)])


def _prompt(fits: CompatiblePrompts, wanted: str) -> Prompt:
    if fits.ready is None:
        raise Refused(_("No prompt fits the sheet of this campaign and this endpoint."))
    if not wanted:
        return fits.ready
    for prompt in fits.prompts:
        if wanted in (prompt.key, prompt_id(prompt)):
            return prompt
    names = ", ".join(prompt.key for prompt in fits.prompts)
    raise Refused(_("This prompt does not fit. There are: %(names)s.") % {"names": names})


def _with_defaults(form: PlanForm, values: Mapping[str, Any]) -> QueryDict:
    """What the page would show in each field, changed by what was sent."""
    first = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    unknown = [name for name in values if name not in first]
    if unknown:
        names = ", ".join(name.removeprefix(OPTION) for name in first if name.startswith(OPTION)) or "-"
        words = _("“%(name)s” is of no use here. Options of the prompt are: %(names)s.")
        raise Refused(words % {"name": unknown[0].removeprefix(OPTION), "names": names})
    return form_data({**first, **values})
