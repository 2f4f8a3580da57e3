"""What a researcher says of a run of a local model, and of a collection to be made."""

from typing import Any

from django import forms
from django.db.models import Count
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Benchmark, Item, Stage
from benchmarks.queries.saved_recipes import recipe_of
from people.forms.base import StyledFormMixin
from predictions.backends.detector import THRESHOLD
from predictions.forms.knowledge import index_label
from predictions.models import Collection, Endpoint, KnowledgeIndex, Query, Run
from predictions.models.facts import BASE_SIMILARITY, OBJECTS, SCORE, TEXT_VECTOR
from predictions.queries.knowledge import indexes_of
from predictions.services.collections import builder, people_texts
from predictions.services.collections.written_queries import has_model_texts
from predictions.services.encoders import encoder_runs
from predictions.services.encoders.fact_requests import NEEDS, FactPlan

MODEL_HELP = _("As ViT-B-32/laion2b_s34b_b79k, hf-hub:owner/name, or local-dir:name of a folder that is here.")
DETECTOR_HELP = _("As facebook/detr-resnet-50 on the Hugging Face hub, or local-dir:name of a folder that is here.")
LINES = {"rows": 4, "dir": "auto", "spellcheck": "false"}


OF_QUERIES = {
    "languages": ("labels_from", "renamed_by", "names_from", "languages", "words"),
    "trials": ("other_language", "seed"),
}
"""Fields that are offered with queries of this kind only."""


def known_model_input() -> forms.TextInput:
    """A text, with the models of this machine to choose from: the page has them as the list "models"."""
    return forms.TextInput(attrs={"list": "models", "dir": "ltr", "autocomplete": "off"})


class CollectionChoiceField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """By name, version and how much is in it: the newest version comes first."""

    def label_from_instance(self, obj: Any) -> str:
        values = {"name": obj.name, "version": obj.version, "n": obj.n}
        return str(_("%(name)s, version %(version)s: %(n)s entries") % values)


class EncoderRunForm(StyledFormMixin, forms.Form):
    """A dual encoder over a collection."""

    collection = CollectionChoiceField(label=_("Collection"), queryset=Collection.objects.none(), empty_label=None)
    task = forms.ChoiceField(label=_("Task"))
    query_set = forms.ChoiceField(label=_("Query set"), required=False)
    endpoint = forms.ModelChoiceField(label=_("Endpoint"), queryset=Endpoint.objects.none(), empty_label=None)
    model = forms.CharField(label=_("Model"), max_length=200, help_text=MODEL_HELP, widget=known_model_input())
    name = forms.CharField(
        label=_("Name in the tables"),
        max_length=120,
        required=False,
        help_text=_("Without one, as the model is called."),
    )
    setting = forms.CharField(label=_("Setting"), max_length=60, required=False)
    template = forms.CharField(
        label=_("Words round a query"),
        max_length=60,
        required=False,
        help_text=_("With {text} where the query goes, such as: a photo of {text}. Without any, the query alone."),
    )
    most = forms.IntegerField(
        label=_("How many entries are kept for a query"), min_value=1, max_value=100_000, initial=100,
        help_text=_("All entries are scored; the best are kept."),
    )  # fmt: skip
    some_missing = forms.BooleanField(label=_("Count the run despite unreadable pictures"), required=False)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        collections = Collection.objects.filter(benchmark=benchmark).order_by("-pk")
        self.fields["collection"].queryset = collections.annotate(n=Count("entries"))  # type: ignore[attr-defined]
        self.fields["endpoint"].queryset = endpoints(benchmark, Endpoint.Kind.OPEN_CLIP)  # type: ignore[attr-defined]
        asked = Query.objects.filter(collection__in=collections).order_by("query_set")
        choosing = set(asked.exclude(roles={}).values_list("query_set", flat=True).distinct())
        tasks = [task for task in encoder_runs.TASKS if choosing or task != Run.Task.FORCED_CHOICE]
        self.fields["task"].choices = [(task.value, task.label) for task in tasks]  # type: ignore[attr-defined]
        names = [(name, name or _("without a name")) for name in asked.values_list("query_set", flat=True).distinct()]
        with_them = _("%(set)s, with candidates to choose between")
        choices = [(name, with_them % {"set": label} if name in choosing else label) for name, label in names]
        self.fields["query_set"].choices = choices or [("", _("without a name"))]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """What is chosen between has candidates, in this very collection."""
        cleaned = super().clean() or self.cleaned_data
        of_set = Query.objects.filter(collection=cleaned.get("collection"), query_set=cleaned.get("query_set", ""))
        if cleaned.get("task") == Run.Task.FORCED_CHOICE and not of_set.exclude(roles={}).exists():
            self.add_error("query_set", _("These queries name no candidates. Choose a set that does, or retrieval."))
        return cleaned

    def plan(self) -> encoder_runs.EncoderPlan:
        data = self.cleaned_data
        names = {name: data[name].strip() for name in ("model", "setting", "template", "query_set")}
        rest = {name: data[name] for name in ("collection", "endpoint", "task", "most", "some_missing")}
        return encoder_runs.EncoderPlan(name=data["name"].strip() or names["model"], **names, **rest)


class CollectionBuildForm(StyledFormMixin, forms.Form):
    """A collection out of a stage's items."""

    stage = forms.ModelChoiceField(label=_("Stage"), queryset=Stage.objects.none(), empty_label=None)
    of = forms.ChoiceField(
        label=_("Which items"),
        required=False,
        choices=[
            ("", _("Accepted results; in a stage that asks nobody, the items that filters keep")),
            (builder.KEPT, _("All items that filters keep")),
        ],
    )
    name = forms.CharField(label=_("Name"), max_length=120)
    version = forms.CharField(label=_("Version"), max_length=40, initial="1")
    licence = forms.CharField(label=_("Licence"), max_length=120, required=False)
    what = forms.ChoiceField(
        label=_("What is searched"),
        choices=[("images", _("Pictures of the items")), ("texts", _("Texts of the items"))],
        help_text=_(
            "Where the stage has a question with the key “better”, "
            "the text that people gave there replaces that of the item."
        ),
    )
    queries = forms.MultipleChoiceField(
        label=_("Queries"),
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": ""}),
        choices=[
            (builder.UNIVERSALS, _("Each concept once (retrieval across universals)")),
            (builder.NATIVE, _("Each picture's concept in the native language")),
            (builder.THREE, _("Forced choice between three")),
            (builder.SIX, _("Forced choice between six, with the name of a country")),
        ],
    )
    asked_by = forms.ModelChoiceField(
        label=_("Items that ask"), queryset=Stage.objects.none(), required=False,
        help_text=_("Pictures become queries of the set “images”, sentences of a stage of words of “sentences”."),
    )  # fmt: skip
    labels_from = forms.ModelChoiceField(
        label=_("Labels corrected in"), queryset=Stage.objects.none(), required=False,
        help_text=_("An accepted answer goes before a model's, and this before the column labels."),
    )  # fmt: skip
    renamed_by = forms.ModelChoiceField(
        label=_("Concepts merged in"), queryset=Stage.objects.none(), required=False,
        help_text=_("Pictures take the name that stays; the name as it was found is kept."),
    )  # fmt: skip
    names_from = forms.ModelChoiceField(
        label=_("Native names from"), queryset=Stage.objects.none(), required=False,
        help_text=_("The question native_name, in the language of the cohort. Words that you type below go first."),
    )  # fmt: skip
    queries_from = forms.ModelChoiceField(
        label=_("Queries written in"), queryset=Stage.objects.none(), required=False,
        help_text=_("Each question is a query set: the forced choice between three, in accepted words of the country."),
    )  # fmt: skip
    queries_by_models = forms.BooleanField(
        label=_("Also queries that models wrote"), required=False,
        help_text=_("Each model's are query sets of their own, which bear its name."),
    )  # fmt: skip
    languages = forms.CharField(
        label=_("Languages of countries"), required=False, widget=forms.Textarea(attrs={**LINES, "rows": 3}),
        help_text=_("One to a line, such as: Japan = ja. Cohorts of the team are known already."),
    )  # fmt: skip
    words = forms.CharField(
        label=_("Words of queries"), required=False, widget=forms.Textarea(attrs=LINES),
        help_text=_("One to a line: concept | country | language | words. Without a country, the concept's own name."),
    )  # fmt: skip
    other_language = forms.BooleanField(
        label=_("Candidates from other countries have another language too"), required=False
    )
    seed = forms.IntegerField(label=_("Seed"), initial=1, min_value=0, max_value=2**31)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("stage", *builder.STAGES):
            self.fields[name].queryset = benchmark.stages.all()  # type: ignore[attr-defined]
        for name in builder.STAGES:
            self.fields[name].empty_label = _("None")  # type: ignore[attr-defined]
        self.fields["stage"].initial = _searched_stage(benchmark)
        self.fields["queries"].initial = _recipe_queries(benchmark)
        for name, pk in _stages_of_people(benchmark).items():
            self.fields[name].initial = pk
        if not has_model_texts(benchmark):
            del self.fields["queries_by_models"]

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields of every collection, then those that go with queries in languages, and with trials. A group with
        an error or a value is shown for any queries."""
        rest = {name for names in OF_QUERIES.values() for name in names}
        groups = [("", [field for field in self if field.name not in rest])]
        for kind, names in OF_QUERIES.items():
            fields = [self[name] for name in names]
            is_used = any(
                field.errors or (self.is_bound and field.name != "seed" and field.value()) for field in fields
            )
            groups.append(("" if is_used else kind, fields))
        return groups

    def clean_languages(self) -> dict[str, str]:
        language_by_country = {}
        for number, line in _lines(self.cleaned_data["languages"]):
            country, sign, language = (part.strip() for part in line.partition("="))
            if not (country and sign and language):
                raise forms.ValidationError(_("Line %(n)s: write it as Japan = ja.") % {"n": number})
            language_by_country[country] = language
        return language_by_country

    def clean_words(self) -> dict[tuple[str, str, str], str]:
        words_by_key = {}
        for number, line in _lines(self.cleaned_data["words"]):
            parts = [part.strip() for part in line.split("|", 3)]
            if len(parts) != 4 or not (parts[0] and parts[2] and parts[3]):
                text = _("Line %(n)s: write it as concept | country | language | words.")
                raise forms.ValidationError(text % {"n": number})
            words_by_key[parts[0], parts[1], parts[2]] = parts[3]
        return words_by_key

    def plan(self) -> builder.CollectionPlan:
        data = dict(self.cleaned_data)
        return builder.CollectionPlan(**{**data, "name": data["name"].strip(), "queries": tuple(data["queries"])})


def _searched_stage(benchmark: Benchmark) -> int | None:
    """The stage at which the recipe first asks models; while it has no items, pictures that are there to be searched:
    nobody is asked about them, and they are imported."""
    recipe = recipe_of(benchmark)
    tasks = [task.stage for task in recipe.prediction_tasks] if recipe else []
    stages = {stage.key: stage for stage in benchmark.stages.order_by("position")}
    asked = next((stages[key] for key in tasks if key in stages), None)
    if asked is None or asked.items.filter(withdrawn_at=None).exists():
        return asked.pk if asked else None
    imported = [stage for stage in stages.values() if not stage.derivation and not stage.target_answers]
    pictured = (stage for stage in imported if stage.pictures == Stage.Pictures.ONE)
    return next((stage.pk for stage in pictured if stage.items.filter(withdrawn_at=None).exists()), asked.pk)


def _stages_of_people(benchmark: Benchmark) -> dict[str, int]:
    """Stages in which people correct labels, merge concepts and name them, as far as the benchmark's stages tell."""
    stages = {stage.key: stage.pk for stage in benchmark.stages.all()}
    stages_by_field: dict[str, int] = {}
    for stage in benchmark.stages.order_by("position"):
        params = (stage.derivation or {}).get("params", {})
        if (params.get("proposals") or {}).get("field") == people_texts.LABELS:
            stages_by_field.setdefault("labels_from", stage.pk)
        if (merging := (params.get("rename") or {}).get("by")) in stages:
            stages_by_field.setdefault("renamed_by", stages[merging])
        if people_texts.NATIVE_NAME in {field.get("key") for field in stage.sheet.get("fields", ())}:
            stages_by_field.setdefault("names_from", stage.pk)
    return stages_by_field


def _recipe_queries(benchmark: Benchmark) -> list[str]:
    """The queries of the published work, where its models rank a collection."""
    recipe = recipe_of(benchmark)
    ranks = recipe is not None and any(task.key == "retrieval" for task in recipe.prediction_tasks)
    return [builder.UNIVERSALS] if ranks else []


def _lines(text: str) -> list[tuple[int, str]]:
    return [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


class FactLimitForm(StyledFormMixin, forms.Form):
    """How many items a fact may be computed of."""

    at_most = forms.IntegerField(
        label=_("At most so many items (optional)"), min_value=1, max_value=1_000_000, required=False,
        help_text=_("Then it pauses, until somebody raises the limit."),
    )  # fmt: skip


class FactsForm(FactLimitForm, forms.Form):
    """What a local model is to find about a stage's items."""

    stage = forms.ModelChoiceField(label=_("Stage"), queryset=Stage.objects.none(), empty_label=None)
    what = forms.ChoiceField(
        label=_("Task"),
        choices=[
            (SCORE, _("How well picture and words fit (CLIP score)")),
            (OBJECTS, _("Objects in the picture")),
            (TEXT_VECTOR, _("The words as a vector, to find words that mean the same")),
            (BASE_SIMILARITY, _("How near the picture is to a picture of a knowledge base")),
        ],
    )
    endpoint = forms.ModelChoiceField(
        label=_("Endpoint"), queryset=Endpoint.objects.none(), required=False,
        help_text=_("An encoder for scores and vectors, a detector for objects; none for a knowledge base."),
    )  # fmt: skip
    model = forms.CharField(
        label=_("Model"), max_length=120, required=False, help_text=MODEL_HELP, widget=known_model_input()
    )
    index = forms.ModelChoiceField(
        label=_("Knowledge base"), queryset=KnowledgeIndex.objects.none(), required=False,
        help_text=_("For its pictures: an index over pictures, whose encoder compares them."),
    )  # fmt: skip
    words = forms.CharField(
        label=_("Text column"), max_length=80, initial="context.assertion", required=False,
        help_text=_("For scores and vectors: text, concept, or a column of the import, as context.assertion."),
    )  # fmt: skip
    threshold = forms.FloatField(label=_("Minimum object score"), min_value=0, max_value=1, initial=THRESHOLD)
    field_order = ("stage", "what", "endpoint", "model", "index", "words", "threshold", "at_most")

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["stage"].queryset = benchmark.stages.all()  # type: ignore[attr-defined]
        indexes = indexes_of(benchmark.team).filter(over=KnowledgeIndex.Over.IMAGES, endpoint__isnull=False)
        self.fields["index"].queryset = indexes  # type: ignore[attr-defined]
        self.fields["index"].label_from_instance = index_label  # type: ignore[attr-defined]
        if self.initial.get("what") == TEXT_VECTOR:
            self.initial.setdefault("words", _column_of_words(benchmark, self.initial.get("stage")))
        if self.initial.get("what") == BASE_SIMILARITY:
            self.initial.setdefault("index", indexes.values_list("pk", flat=True).first())
        kinds = (Endpoint.Kind.OPEN_CLIP, Endpoint.Kind.DETECTOR)
        self.fields["endpoint"].queryset = endpoints(benchmark, *kinds)  # type: ignore[attr-defined]
        suitable = endpoints(benchmark, NEEDS.get(self.initial.get("what", ""), "")).first()
        if suitable is not None:
            self.initial.setdefault("endpoint", suitable.pk)

    def clean(self) -> dict[str, Any]:
        """An index brings its own encoder; everything else names one."""
        cleaned = super().clean() or self.cleaned_data
        needed = ("index",) if cleaned.get("what") == BASE_SIMILARITY else ("endpoint", "model")
        for name in needed:
            if name not in self.errors and not cleaned.get(name):
                self.add_error(name, self.fields[name].error_messages["required"])
        if cleaned.get("what") != BASE_SIMILARITY:
            cleaned["index"] = None
        return cleaned

    def plan(self) -> FactPlan:
        data = dict(self.cleaned_data)
        return FactPlan(**{**data, "model": data["model"].strip(), "words": data["words"].strip()})


def _column_of_words(benchmark: Benchmark, stage: Any) -> str:
    """Where items of a stage have their words: the concept of those without a text."""
    items = Item.objects.filter(stage__benchmark=benchmark, stage=stage, withdrawn_at=None)
    return "text" if items.exclude(text="").exists() or not items.exclude(concept="").exists() else "concept"


def endpoints(benchmark: Benchmark, *kinds: str) -> Any:
    return Endpoint.objects.filter(team=benchmark.team_id, kind__in=kinds, retired_at=None).order_by("name")


class DetectorForm(FactLimitForm):
    """Which detector looks at the pictures of stages as they arrive. Without an endpoint none does."""

    endpoint = forms.ModelChoiceField(
        label=_("Detector"), queryset=Endpoint.objects.none(), required=False, empty_label=_("None yet"),
        help_text=_("It starts by itself for each picture that arrives. Pause or cancel it on the page Item facts."),
    )  # fmt: skip
    model = forms.CharField(
        label=_("Model"), max_length=120, required=False, help_text=DETECTOR_HELP, widget=known_model_input()
    )
    field_order = ("endpoint", "model", "at_most")

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, prefix="detector", **kwargs)
        detectors = endpoints(benchmark, Endpoint.Kind.DETECTOR)
        self.fields["endpoint"].queryset = detectors  # type: ignore[attr-defined]
        known = Run.objects.filter(endpoint__in=detectors, task=Run.Task.FACTS).order_by("-pk").first()
        self.initial.setdefault("model", known.model if known else "")
        self.initial.setdefault("endpoint", known.endpoint_id if known else None)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("endpoint") and not (cleaned.get("model") or "").strip():
            self.add_error("model", _("Name the detector's model."))
        return cleaned

    def plan(self, stage: Stage) -> FactPlan | None:
        """None where no detector was chosen."""
        data = self.cleaned_data
        if data["endpoint"] is None:
            return None
        return FactPlan(stage, data["endpoint"], data["model"].strip(), OBJECTS, at_most=data["at_most"])
