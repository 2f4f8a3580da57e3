"""The form *Ask models*: rows of models, each with the conditions under which it is asked; one budget and one seed."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.forms.utils import ErrorDict
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Benchmark
from people.forms.base import StyledFormMixin
from people.forms.teams import validate_single_line
from predictions.forms.answer_runs import default_options
from predictions.models import Endpoint
from predictions.queries.model_conditions import OfferedCondition
from predictions.services.runs.asked_about import COHORTS, GOLD, SET, default_kind
from predictions.services.runs.plan_sets import MOST_RUNS, PlannedRun
from predictions.services.runs.plans import RunPlan

MOST_MODELS = 30
EXTRA = 3  # empty rows of a new form
OTHERS = 5  # labels beside an item's gold labels, as the form of a single run proposes


class ModelRowForm(StyledFormMixin, forms.Form):
    """A model with its conditions. A row where nothing is filled in is left out. Without `checks` the form only shows
    again what was typed: nobody is told what is missing before they have finished."""

    endpoint = forms.ModelChoiceField(Endpoint.objects.none(), label=_("Endpoint"), empty_label=_("Choose"))
    model = forms.CharField(
        label=_("Model"), max_length=200,
        error_messages={"required": _("Name the model, as the endpoint calls it.")},
        widget=forms.TextInput(attrs={"list": "models", "dir": "ltr", "autocomplete": "off", "spellcheck": "false"}),
    )  # fmt: skip
    conditions = forms.MultipleChoiceField(
        label=_("Conditions"), widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one condition for this model.")},
    )  # fmt: skip

    def __init__(
        self,
        *args: Any,
        endpoints: "QuerySet[Endpoint]",
        ready: Sequence[OfferedCondition],
        checks: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.checks = checks
        self.fields["endpoint"].queryset = endpoints  # type: ignore[attr-defined]
        known = list(endpoints[:2])
        if len(known) == 1:
            self.fields["endpoint"].initial = known[0].pk
        choices = [(offer.condition.key, offer.condition.key) for offer in ready]
        self.fields["conditions"].choices = choices  # type: ignore[attr-defined]

    def full_clean(self) -> None:
        if self.checks:
            super().full_clean()
        else:
            self._errors, self.cleaned_data = ErrorDict(), {}

    def clean_model(self) -> str:
        return validate_single_line(str(self.cleaned_data["model"]).strip())


class AskModelsForm(StyledFormMixin, forms.Form):
    """What holds for all runs of the set."""

    budget = forms.DecimalField(
        label=_("Budget in dollars (optional)"), min_value=Decimal("0.0001"), max_digits=12, decimal_places=4,
        required=False, help_text=_("For all runs together. They pause before they would cost more."),
    )  # fmt: skip
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=0, help_text=_("Of what the prompts shuffle.")
    )
    asked_about = forms.ChoiceField(
        label=_("Models are asked about"),
        initial=COHORTS,
        choices=[(COHORTS, _("The cohorts of the campaign"))],
        help_text=_("Only for stages whose recipe says nothing. For a label set, plan a single run."),
    )

    def __init__(self, *args: Any, ready: Sequence[OfferedCondition], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not any(needs_target_choice(offer) for offer in ready):
            del self.fields["asked_about"]


def needs_target_choice(offer: OfferedCondition) -> bool:
    """Whether somebody has to say what the models are asked about."""
    return bool(offer.campaign and offer.stage.has_target and not default_kind(offer.campaign)[0])


class BaseModelRows(forms.BaseFormSet):  # type: ignore[type-arg]
    """The rows that are filled in; at least one."""

    @property
    def filled(self) -> list[dict[str, Any]]:
        """Of a valid form: what each row says."""
        return [form.cleaned_data for form in self.forms if form.cleaned_data.get("model")]

    def clean(self) -> None:
        if any(form.errors or not form.checks for form in self.forms):
            return
        if not self.filled:
            raise forms.ValidationError(_("Fill in at least one model."))
        cells = [
            (row["endpoint"].pk, row["model"], condition) for row in self.filled for condition in row["conditions"]
        ]
        if len(cells) > MOST_RUNS:
            text = _("One plan has at most %(most)s runs. Start some of them first.")
            raise forms.ValidationError(text % {"most": MOST_RUNS})
        models = [(model, condition) for _endpoint, model, condition in cells]
        for model, condition in models:
            if models.count((model, condition)) > 1:
                text = _("“%(model)s” is asked twice under one condition. Remove one of the two rows.")
                raise forms.ValidationError(text % {"model": model})


ModelRows = forms.formset_factory(
    ModelRowForm, formset=BaseModelRows, extra=EXTRA, max_num=MOST_MODELS, absolute_max=MOST_MODELS + 1,
    validate_max=True,
)  # fmt: skip


def planned_runs(
    benchmark: Benchmark, form: AskModelsForm, rows: Any, ready: Sequence[OfferedCondition]
) -> list[PlannedRun]:
    """A run for each model and condition of the valid form, in the order of the rows and of the conditions. Raises
    ValidationError where a prompt has nothing to choose from."""
    offers = {offer.condition.key: offer for offer in ready}
    options: dict[str, dict[str, Any]] = {}
    planned = []
    for row in rows.filled:
        for key in (key for key in offers if key in row["conditions"]):
            offer = offers[key]
            if offer.campaign is None or offer.prompt is None:
                continue
            if key not in options:
                own = default_options(offer.prompt, benchmark, offer.campaign)
                options[key] = own | dict(offer.condition.options)
            plan = RunPlan(
                campaign=offer.campaign, endpoint=row["endpoint"], model=row["model"], prompt=offer.prompt,
                options=options[key], selection=_selection(form, offer), seed=form.cleaned_data["seed"],
                setting=offer.condition.setting, follows=offer.condition.judge,
            )  # fmt: skip
            planned.append(PlannedRun(plan, key, fixed=offer.condition.options))
    return planned


def _selection(form: AskModelsForm, offer: OfferedCondition) -> dict[str, Any]:
    """What the recipe asks about at the stage; else what the form says."""
    if offer.campaign is None or not offer.stage.has_target:
        return {}
    kind, label_set = default_kind(offer.campaign)
    if not kind:
        return {"asked_about": {"kind": form.cleaned_data["asked_about"]}}
    about: dict[str, Any] = {"kind": kind}
    if kind == SET:
        about |= {"set": label_set, "labels": []}
    if kind == GOLD:
        about |= {"others": OTHERS, "seed": form.cleaned_data["seed"]}
    return {"asked_about": about}
