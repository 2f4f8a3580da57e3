"""A run as a researcher plans it: what is asked of whom, how, and for how much."""

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import Model, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.models import Benchmark, Item
from benchmarks.queries.model_conditions import is_judging
from people.forms.base import StyledFormMixin
from people.forms.teams import validate_single_line
from predictions.backends.contract import Decoding
from predictions.forms.asked_about import AskedAboutMixin
from predictions.models import Endpoint, KnowledgeBase, Run
from predictions.prompts.contract import Prompt, PromptOption
from predictions.prompts.registry import problems_of
from predictions.queries.example_items import choose_example_items
from predictions.requests.preprocessing import LONGEST, MOST
from predictions.services.knowledge.linking import METHODS
from predictions.services.runs.asked_about import COHORTS, GOLD, SET
from predictions.services.runs.plans import RunPlan
from predictions.services.runs.unit_selection import ANSWERED_FIRST, ANY
from predictions.texts.call_reasons import WAYS, option_problem_text

OPTION = "o-"
MOST_CONCEPTS = 500
CHECKS = forms.CheckboxSelectMultiple
Fitting = Sequence[Prompt]


def prompt_id(prompt: Prompt) -> str:
    """A prompt with its version, as the form sends it."""
    return f"{prompt.key}@{prompt.version}"


class RunStartForm(StyledFormMixin, forms.Form):
    """What is asked about, and who is asked. The rest depends on both."""

    campaign = forms.ModelChoiceField(Campaign.objects.none(), label=_("Campaign"), empty_label=_("Choose"))
    endpoint = forms.ModelChoiceField(Endpoint.objects.none(), label=_("Endpoint"), empty_label=_("Choose"))

    def __init__(
        self, *args: Any, benchmark: Benchmark, kinds: Collection[str] = Endpoint.Kind.values, **kwargs: Any
    ) -> None:
        """`kinds`: of endpoints that some prompt can put the campaign's sheet to."""
        super().__init__(*args, **kwargs)
        self._offer("campaign", campaigns_of(benchmark))
        endpoints = Endpoint.objects.filter(team=benchmark.team, retired_at=None)
        self._offer("endpoint", endpoints.filter(kind__in=kinds).order_by("name"))
        if endpoints.exclude(kind__in=kinds).exists():
            self.fields["endpoint"].help_text = _("Endpoints with a compatible prompt.")

    def _offer(self, name: str, rows: "QuerySet[Any]") -> None:
        self.fields[name].queryset = rows  # type: ignore[attr-defined]
        self.fields[name].widget.attrs["data-submits"] = ""


def campaigns_of(benchmark: Benchmark) -> "QuerySet[Campaign]":
    """Those that take answers, or took some."""
    rows = Campaign.objects.filter(stage__benchmark=benchmark).exclude(opened_at=None)
    return rows.select_related("stage__benchmark__team", "sheet_version").order_by("-pk")


class PlanForm(AskedAboutMixin, RunStartForm):
    """All of a plan. `fitting`: the prompts that fit the campaign's sheet and the endpoint's kind."""

    model = forms.CharField(
        label=_("Model"), max_length=200, help_text=_("As the endpoint calls it."),
        error_messages={"required": _("Name the model, as the endpoint calls it.")},
        widget=forms.TextInput(attrs={"list": "models", "dir": "ltr", "autocomplete": "off", "spellcheck": "false"}),
    )  # fmt: skip
    revision = forms.CharField(
        label=_("Revision (optional)"), max_length=100, required=False,
        help_text=_("A date or a hash, if you know it. Another revision is another model to the cache."),
    )  # fmt: skip
    prompt = forms.ChoiceField(label=_("Prompt"), widget=forms.RadioSelect)
    name = forms.CharField(
        label=_("Name in the tables (optional)"), max_length=200, required=False, help_text=_("Empty: the model's own.")
    )
    setting = forms.CharField(
        label=_("Prompt variant (optional)"), max_length=60, required=False,
        help_text=_("Distinguishes prompt variants of the same model. Leave empty for the default of the " "prompt."),
    )  # fmt: skip
    temperature = forms.FloatField(label=_("Temperature"), min_value=0, max_value=2, initial=0)
    top_p = forms.FloatField(label=_("Top p (optional)"), min_value=0, max_value=1, required=False)
    max_tokens = forms.IntegerField(
        label=_("Most tokens of a reply (optional)"), min_value=1, max_value=100_000, required=False,
        help_text=_("Empty: as the prompt says."),
    )  # fmt: skip
    decoding_seed = forms.IntegerField(label=_("Seed of the model (optional)"), min_value=0, required=False)
    longest = forms.IntegerField(
        label=_("Longest side of pictures, in pixels"), min_value=16, max_value=MOST, initial=LONGEST,
        help_text=_("Pictures are sent upright, without metadata, and no larger than this."),
    )  # fmt: skip
    fresh = forms.BooleanField(
        label=_("Ignore cached replies"),
        required=False,
        help_text=_("Cached replies are not used; all requests are paid again."),
    )
    ways = forms.MultipleChoiceField(
        label=_("Answer methods"), choices=list(WAYS.items()), required=False, widget=CHECKS,
        help_text=_("None chosen: the best that the prompt knows and the endpoint offers."),
    )  # fmt: skip
    conditions = forms.MultipleChoiceField(label=_("Conditions"), required=False, widget=CHECKS)
    targets = forms.MultipleChoiceField(label=_("Target cultures"), required=False, widget=CHECKS)
    concepts = forms.MultipleChoiceField(label=_("Concepts"), required=False, widget=CHECKS)
    sample = forms.IntegerField(
        label=_("Only a sample of (optional)"), min_value=1, max_value=10_000_000, required=False,
        help_text=_("Number of items, drawn by the seed. Empty: all."),
    )  # fmt: skip
    draw = forms.ChoiceField(
        label=_("A sample takes"), required=False, initial=ANSWERED_FIRST,
        choices=[(ANSWERED_FIRST, _("Items that people answered first")), (ANY, _("Any item"))],
        help_text=_("Agreement with people is computed from items that people answered too."),
    )  # fmt: skip
    seed = forms.IntegerField(
        label=_("Seed of the run"), min_value=0, max_value=2**31 - 1, initial=0,
        help_text=_("Of the sample, and of what the prompt shuffles."),
    )  # fmt: skip
    repeats = forms.IntegerField(
        label=_("Requests per item"), min_value=1, max_value=20, initial=1,
        help_text=_("The first counts; the others say how much the model agrees with itself."),
    )  # fmt: skip
    budget = forms.DecimalField(
        label=_("Budget in dollars (optional)"), min_value=Decimal("0.0001"), max_digits=12, decimal_places=4,
        required=False, help_text=_("The run pauses before it would cost more."),
    )  # fmt: skip
    follows = forms.BooleanField(
        label=_("Follow new items"), required=False, help_text=_("Items that come later are asked, too.")
    )

    def __init__(
        self, *args: Any, benchmark: Benchmark, campaign: Campaign, fitting: Fitting, chosen: Prompt, **kwargs: Any
    ) -> None:
        super().__init__(*args, benchmark=benchmark, **kwargs)
        self.chosen, self.fitting = chosen, fitting
        self.offer_targets(campaign)
        self._choose("prompt", [(prompt_id(one), one.name) for one in fitting])
        self.fields["prompt"].initial = prompt_id(chosen)
        self.fields["follows"].initial = is_judging(campaign.stage)
        self.fields["prompt"].widget.attrs["data-submits"] = ""
        items = campaign.stage.items.filter(withdrawn_at=None)
        if campaign.conditions:
            items = items.filter(condition__in=campaign.conditions)
        self._choose("conditions", _pairs(_distinct(items, "condition")))
        self._choose(
            "targets", _pairs(campaign.cohorts.order_by("cohort__label").values_list("cohort__label", flat=True))
        )
        self._choose("concepts", _pairs(_distinct(items, "concept")[:MOST_CONCEPTS]))
        needed = {one.option for one in problems_of(chosen, {})}
        for option in chosen.options:
            self.fields[OPTION + option.key] = field_of(option, benchmark, campaign)
            if option.key in needed:
                self.fields[OPTION + option.key].label = _("%(option)s (needed)") % {"option": gettext(option.label)}
        if OPTION + "longest" in self.fields:  # a prompt that speaks of pixels has to know the size itself
            own = self.fields.pop("longest")
            self.fields[OPTION + "longest"] = forms.IntegerField(
                label=own.label, help_text=own.help_text, min_value=16, max_value=MOST, initial=LONGEST,
                widget=forms.NumberInput(attrs={"class": "in"}),
            )  # fmt: skip

    def _choose(self, name: str, choices: Sequence[tuple[str, Any]]) -> None:
        self.fields[name].choices = choices  # type: ignore[attr-defined]

    def clean_model(self) -> str:
        return validate_single_line(str(self.cleaned_data["model"]).strip())

    def clean(self) -> dict[str, Any]:
        """What keeps the prompt's options from being used stands beside each."""
        cleaned = super().clean() or self.cleaned_data
        if all(OPTION + one.key in cleaned for one in self.chosen.options):
            for one in problems_of(self.chosen, self.options()):
                name = OPTION + one.option
                self.add_error(name if name in self.fields else None, option_problem_text(one.code, one.place))
        return cleaned

    def options(self) -> dict[str, Any]:
        """What the prompt's options were set to, by their keys."""
        return _stored({one.key: self.cleaned_data[OPTION + one.key] for one in self.chosen.options})

    def sent_size(self) -> int:
        """Of the pictures that are sent, in pixels."""
        return int(self.cleaned_data.get("longest") or self.cleaned_data.get(OPTION + "longest") or LONGEST)

    def selection(self) -> dict[str, Any]:
        """Which units: empty lists stand for all."""
        names = ("conditions", "targets", "concepts", "sample")
        draw = {"draw": self.cleaned_data["draw"] or ANSWERED_FIRST} if self.cleaned_data["sample"] else {}
        return {name: self.cleaned_data[name] for name in names} | draw | self.asked_about()

    def plan(self) -> RunPlan:
        """Of a valid form."""
        data = self.cleaned_data
        decoding = Decoding(
            temperature=data["temperature"], top_p=data["top_p"], seed=data["decoding_seed"],
            max_tokens=data["max_tokens"], ways=tuple(data["ways"]),
        )  # fmt: skip
        return RunPlan(
            campaign=data["campaign"], endpoint=data["endpoint"], model=data["model"],
            revision=data["revision"].strip(), prompt=self.chosen, options=self.options(), decoding=decoding,
            selection=self.selection(), repeats=data["repeats"], seed=data["seed"], budget=data["budget"],
            name=data["name"].strip(), setting=data["setting"].strip(), longest=self.sent_size(),
            fresh=data["fresh"], follows=data["follows"],
        )  # fmt: skip

    def parts(self) -> dict[str, list[Any]]:
        """The bound fields, as the page groups them."""
        parts = {name: [self[one] for one in names if one in self.fields] for name, names in PARTS.items()}
        shown = {COHORTS: "targets", SET: "label_set labels", GOLD: "others"}.get(self.about_kind, "").split()
        parts["about"] = [field for field in parts["about"] if field.name in ("asked_about", *shown)]
        own = [self[OPTION + one.key] for one in self.chosen.options]
        for name, long in (("options", False), ("wording", True)):
            parts[name] = [one for one in own if isinstance(one.field, _Words) == long]
        return parts

    def prompts(self) -> list[tuple[Any, Prompt, bool]]:
        """Each prompt with its button, and whether it needs what a linking run finds."""
        linked = [any(option.kind == "run" for option in one.options) for one in self.fitting]
        return list(zip(self["prompt"], self.fitting, linked, strict=True))


PARTS = {
    "who": ["model", "revision"],
    "called": ["name", "setting"],
    "decoding": ["temperature", "top_p", "max_tokens", "decoding_seed", "longest", "fresh"],
    "numbers": ["sample", "draw", "seed", "repeats", "budget", "follows"],
    "about": ["asked_about", "label_set", "labels", "others", "targets"],
    "which": ["conditions", "concepts"],
}


def raw_form_data(form: forms.BaseForm, data: QueryDict) -> dict[str, Any]:
    """What somebody typed, unchecked: the form shows it again while the rest of it takes shape."""
    return {name: field.widget.value_from_datadict(data, {}, name) for name, field in form.fields.items()}


def field_of(option: PromptOption, benchmark: Benchmark, campaign: Campaign) -> forms.Field:
    """The form field of something that a prompt may be told."""
    about: dict[str, Any] = {"label": gettext(option.label), "required": False}
    about["help_text"] = gettext(option.help) if option.help else ""
    field: forms.Field = MAKERS[option.kind](option, benchmark, campaign, about)
    if not isinstance(field.widget, forms.CheckboxInput):
        field.widget.attrs["class"] = "in"
    return field


def default_options(prompt: Prompt, benchmark: Benchmark, campaign: Campaign) -> dict[str, Any]:
    """The prompt's options as its form has them before anybody changes one: with the newest linking run that fits, and
    with examples chosen by rule. Raises ValidationError where there is nothing to choose."""
    fields = {option.key: field_of(option, benchmark, campaign) for option in prompt.options}
    values = {key: field.clean(field.initial) for key, field in fields.items()}
    return _stored(values | ({"longest": LONGEST} if "longest" in fields else {}))


def _stored(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value.pk if isinstance(value, Model) else value for key, value in values.items() if value is not None}


def _choice(option: PromptOption, benchmark: Benchmark, campaign: Campaign, about: Any) -> forms.Field:
    choices = [(key, gettext(label)) for key, label in option.choices]
    return forms.ChoiceField(choices=choices, initial=option.default, **about)


def _number(option: PromptOption, benchmark: Benchmark, campaign: Campaign, about: Any) -> forms.Field:
    return forms.FloatField(initial=None if option.default == "" else option.default, **about)


def _flag(option: PromptOption, benchmark: Benchmark, campaign: Campaign, about: Any) -> forms.Field:
    return forms.BooleanField(initial=bool(option.default), **about)


def _text_field(option: PromptOption, benchmark: Benchmark, campaign: Campaign, about: Any) -> forms.Field:
    return _Words(initial=option.default, strip=False, max_length=20_000, widget=_area(), **about)


def _concepts_field(option: PromptOption, benchmark: Benchmark, campaign: Campaign, about: Any) -> forms.Field:
    """A text that begins with the concepts of the stage's items, unless the sheet offers an item's own options."""
    offers = any(getattr(field.config, "draws_item", False) for field in sheet_of(campaign.sheet_version).fields)
    items = campaign.stage.items.filter(withdrawn_at=None)
    concepts = [] if offers else _distinct(items, "concept")[:MOST_CONCEPTS]
    return _Words(initial="\n".join(concepts), strip=False, max_length=20_000, widget=_area(), **about)


def _linking_field(option: PromptOption, benchmark: Benchmark, campaign: Campaign, about: Any) -> forms.Field:
    runs = Run.objects.filter(benchmark=benchmark, task=Run.Task.LINKING, complete=True, withdrawn_at=None)
    runs = runs.select_related("rater", "knowledge_index__base").order_by("-pk")
    newest = runs.filter(selection__stage=campaign.stage.key).first()
    return _Linking(runs, empty_label=_("None"), initial=newest.pk if newest else None, **about)


def _base_field(option: PromptOption, benchmark: Benchmark, campaign: Campaign, about: Any) -> forms.Field:
    """The base that the stage was linked to last, else the newest one."""
    bases = KnowledgeBase.objects.filter(team=benchmark.team).order_by("-pk")
    linked = bases.filter(indexes__runs__benchmark=benchmark, indexes__runs__withdrawn_at=None)
    initial = linked.order_by("-indexes__runs__pk").first() or bases.first()
    return forms.ModelChoiceField(bases, empty_label=_("None"), initial=initial.pk if initial else None, **about)


def _examples(option: PromptOption, benchmark: Benchmark, campaign: Campaign, about: Any) -> forms.Field:
    return _Examples(campaign, initial="", widget=_area(), **about)


def _area() -> forms.Textarea:
    return forms.Textarea(attrs={"rows": 3, "dir": "auto"})


MAKERS = {
    "choice": _choice, "number": _number, "flag": _flag, "text": _text_field, "run": _linking_field,
    "base": _base_field, "examples": _examples, "concepts": _concepts_field,
}  # fmt: skip


class _Words(forms.CharField):
    """A wording of one's own."""


class _Linking(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, run: Any) -> str:
        base = run.knowledge_index.base.name if run.knowledge_index else ""
        way = METHODS.get(run.options.get("method"), run.rater.setting)
        told = [base, str(way), run.rater.name, f"{run.created_at:%Y-%m-%d %H:%M}"]
        return " · ".join(one for one in told if one)


class _Examples(forms.CharField):
    """Keys of items of the stage, one in a line; by rule, where none is named. They are never asked about."""

    def __init__(self, campaign: Campaign, **about: Any) -> None:
        super().__init__(**about)
        self.campaign = campaign

    def clean(self, value: Any) -> Any:
        keys = [line.strip() for line in str(super().clean(value) or "").splitlines() if line.strip()]
        known = set(Item.objects.filter(stage=self.campaign.stage, key__in=keys).values_list("key", flat=True))
        missing = [key for key in keys if key not in known]
        if missing:
            text = _("There is no item “%(key)s” in this stage. Give the keys of its items, one in a line.")
            raise forms.ValidationError(text % {"key": missing[0]})
        return keys or choose_example_items(self.campaign.stage)


def _distinct(items: Any, name: str) -> list[str]:
    return list(items.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct())


def _pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]
