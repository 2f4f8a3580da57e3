"""Knowledge bases: a new one, its files, its indexes; and linking a stage's images to one."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from benchmarks.forms.imports import check_upload_size
from benchmarks.models import Benchmark, Stage
from people.forms.base import StyledFormMixin
from people.forms.teams import validate_single_line
from people.models import Team
from predictions.backends import torch_setup
from predictions.models import Endpoint, KnowledgeBase, KnowledgeIndex, Run
from predictions.queries.knowledge import indexes_of
from predictions.services.knowledge import name_matching
from predictions.services.knowledge.faiss_index import KINDS
from predictions.services.knowledge.linking import METHODS, NAMED, indexed_texts
from predictions.services.knowledge.ranking import NEAREST

NO_NAMES = _(
    "No model has named entities here yet. Run “The entity in a picture, named” over a campaign whose sheet asks for a "
    "text with the key “entity”."
)
KIND_NAMES = {
    "flat": _("exact: every vector is looked at"),
    "hnsw": _("a graph (HNSW)"),
    "ivfpq": _("inverted lists with product quantisation (IVF-PQ)"),
}


class BaseForm(StyledFormMixin, forms.Form):
    """A knowledge base of its own, empty at first."""

    name = forms.CharField(label=_("Name"), max_length=120)
    version = forms.CharField(
        label=_("Version"), max_length=40, initial="1", help_text=_("Every link says of which version it is.")
    )
    licence = forms.CharField(label=_("Licence"), max_length=120, required=False)

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team

    def clean_name(self) -> str:
        name = validate_single_line(str(self.cleaned_data["name"]))
        if not slugify(name):
            raise forms.ValidationError(_("Use some Latin letters or digits, so that the name can be a key."))
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        told = {"key": slugify(cleaned.get("name", ""))[:60], "version": cleaned.get("version", "")}
        if not self.errors and KnowledgeBase.objects.filter(team=self.team, **told).exists():
            self.add_error("version", _("There is this version already. Open it, or give another version."))
        return cleaned

    def base_values(self) -> dict[str, str]:
        data = {name: str(self.cleaned_data[name]).strip() for name in ("name", "version", "licence")}
        return {**data, "key": slugify(data["name"])[:60]}


class EntriesForm(StyledFormMixin, forms.Form):
    """Entries, and their pictures."""

    entries = forms.FileField(
        label=_("Entries"),
        help_text=_("JSON Lines or a table, one row for each entry."),
        widget=forms.ClearableFileInput(attrs={"accept": ".jsonl,.ndjson,.csv,.tsv", "class": "in"}),
    )
    pictures = forms.FileField(
        label=_("Pictures, as a zip"),
        required=False,
        help_text=_("Leave it out where only vectors of the pictures are at hand, or pictures come later."),
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip", "class": "in"}),
    )

    def clean_entries(self) -> "UploadedFile[Any]":
        return check_upload_size(self.cleaned_data["entries"], settings.IMPORT_MAX_BYTES)

    def clean_pictures(self) -> "UploadedFile[Any] | None":
        given = self.cleaned_data["pictures"]
        return check_upload_size(given, settings.IMPORT_MAX_BYTES) if given else None


class IndexForm(StyledFormMixin, forms.Form):
    """By which encoder, over what."""

    endpoint = forms.ModelChoiceField(label=_("Encoder"), queryset=Endpoint.objects.none(), empty_label=None)
    model = forms.CharField(
        label=_("Its model"), max_length=200, help_text=_("As open_clip calls it, such as local-dir:NAME."),
        widget=forms.TextInput(attrs={"dir": "ltr", "spellcheck": "false", "list": "models", "autocomplete": "off"}),
    )  # fmt: skip
    over = forms.ChoiceField(label=_("Source"), choices=KnowledgeIndex.Over.choices)
    kind = forms.ChoiceField(
        label=_("Kind of index"), required=False,
        choices=[("", _("by size: exact up to 50,000, a graph up to 2 million")), *((k, KIND_NAMES[k]) for k in KINDS)],
    )  # fmt: skip
    vectors = forms.FileField(
        label=_("Import existing vectors"),
        required=False,
        help_text=_("An .npy file, one row for each name. The encoder must be the one that made them."),
        widget=forms.ClearableFileInput(attrs={"accept": ".npy", "class": "in"}),
    )
    names = forms.FileField(
        label=_("Names of the rows"),
        required=False,
        help_text=_("A text file, one line for each row: a picture's file, or an entry's id."),
        widget=forms.ClearableFileInput(attrs={"accept": ".txt", "class": "in"}),
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        encoders = Endpoint.objects.filter(team=team, kind=Endpoint.Kind.OPEN_CLIP, retired_at=None).order_by("name")
        self.fields["endpoint"].queryset = encoders  # type: ignore[attr-defined]
        self.known = torch_setup.local_models()

    def clean_model(self) -> str:
        """A folder that is not here is said now, not by the job."""
        name = validate_single_line(str(self.cleaned_data["model"]))
        try:
            torch_setup.folder_of(name)
        except torch_setup.ModelUnavailable as problem:
            here = _("Here are: %(models)s.") % {"models": ", ".join(self.known)} if self.known else ""
            raise forms.ValidationError(f"{problem.words} {here}".strip()) from problem
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if bool(cleaned.get("vectors")) != bool(cleaned.get("names")):
            name = "names" if cleaned.get("vectors") else "vectors"
            self.add_error(name, _("Vectors and the names of their rows come together."))
        for name in ("vectors", "names"):
            if cleaned.get(name):
                check_upload_size(cleaned[name], settings.IMPORT_MAX_BYTES)
        return cleaned

    def index_values(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("endpoint", "model", "over", "kind")}


class LinkingForm(StyledFormMixin, forms.Form):
    """Which images, by which index, ranked how."""

    stage = forms.ModelChoiceField(label=_("Stage"), queryset=Stage.objects.none(), empty_label=None)
    index = forms.ModelChoiceField(
        label=_("Knowledge base and index"), queryset=KnowledgeIndex.objects.none(), empty_label=None
    )
    method = forms.ChoiceField(label=_("Linking method"), choices=list(METHODS.items()), initial="lemma_vt")
    answers = forms.ModelChoiceField(
        label=_("Names given by a model"), queryset=Run.objects.none(), required=False,
        help_text=_("For “Named by a model”: the run that named what the images of the stage show."),
    )  # fmt: skip
    nearest = forms.IntegerField(
        label=_("How many nearest"), min_value=1, max_value=200, initial=NEAREST,
        help_text=_("The paper takes 20."),
    )  # fmt: skip
    refuse_known = forms.BooleanField(
        label=_("Do not link a picture that is itself in the knowledge base"), required=False, initial=True
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["stage"].queryset = benchmark.stages.all()  # type: ignore[attr-defined]
        self.fields["index"].queryset = indexes_of(benchmark.team)  # type: ignore[attr-defined]
        self.fields["index"].label_from_instance = index_label  # type: ignore[attr-defined]
        self._offer_ways({knowledge_index.over for knowledge_index in indexes_of(benchmark.team)})
        runs = [run.pk for run in name_matching.runs_of(benchmark)]
        self.fields["answers"].queryset = _answers(runs)  # type: ignore[attr-defined]
        self.fields["answers"].label_from_instance = _of_answers  # type: ignore[attr-defined]

    def _offer_ways(self, built: set[str]) -> None:
        """Those for which there is an index; each says over what, and what is left out says why."""
        over = {key: KnowledgeIndex.Over(indexed_texts(key)) for key in METHODS}
        self.fields["method"].choices = [  # type: ignore[attr-defined]
            (
                key,
                words
                if key == NAMED
                else _("%(way)s: an index over %(what)s") % {"way": words, "what": over[key].label},
            )
            for key, words in METHODS.items()
            if key == NAMED or over[key] in built
        ]
        lacking = [str(words) for key, words in METHODS.items() if key != NAMED and over[key] not in built]
        if lacking:
            text = _("Not listed, for want of an index: %(ways)s.") % {"ways": "; ".join(lacking)}
            self.fields["method"].help_text = text

    def clean(self) -> dict[str, Any]:
        """Names are for the one way of linking that goes by them; the others go by an index that fits."""
        cleaned = super().clean() or self.cleaned_data
        index, method = cleaned.get("index"), cleaned.get("method")
        if index and method and method != NAMED and index.over != indexed_texts(method):
            words = _("This way of linking searches an index over %(what)s. Choose one.")
            self.add_error("index", words % {"what": KnowledgeIndex.Over(indexed_texts(method)).label})
        if cleaned.get("method") != NAMED:
            cleaned["answers"] = None
        elif not self.fields["answers"].queryset.exists():  # type: ignore[attr-defined]
            self.add_error("answers", NO_NAMES)
        elif not cleaned.get("answers") and "answers" not in self.errors:
            self.add_error("answers", _("Say which run gave the names."))
        return cleaned


class LinkFileForm(StyledFormMixin, forms.Form):
    """Links that were found elsewhere: of which items, to which base, how."""

    stage = forms.ModelChoiceField(label=_("Stage"), queryset=Stage.objects.none(), empty_label=None)
    base = forms.ModelChoiceField(label=_("Knowledge base"), queryset=KnowledgeBase.objects.none(), empty_label=None)
    method = forms.ChoiceField(label=_("Linking method"), choices=list(METHODS.items()), initial="lemma_vt")
    model = forms.CharField(
        label=_("Model"), max_length=200, help_text=_("The encoder, with its checkpoint; or who gave the names.")
    )
    answers = forms.ModelChoiceField(
        label=_("Names given by a model"), queryset=Run.objects.none(), required=False,
        help_text=_("For “Named by a model”: the run that named what the images of the stage show."),
    )  # fmt: skip
    file = forms.FileField(label=_("File of links"), help_text=_("JSON Lines or CSV."))

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["stage"].queryset = benchmark.stages.all()  # type: ignore[attr-defined]
        bases = KnowledgeBase.objects.filter(team=benchmark.team).order_by("-pk")
        self.fields["base"].queryset = bases  # type: ignore[attr-defined]
        runs = [run.pk for run in name_matching.runs_of(benchmark)]
        self.fields["answers"].queryset = _answers(runs)  # type: ignore[attr-defined]
        self.fields["answers"].label_from_instance = _of_answers  # type: ignore[attr-defined]

    def clean_model(self) -> str:
        return validate_single_line(str(self.cleaned_data["model"]))

    def clean_file(self) -> "UploadedFile[Any]":
        return check_upload_size(self.cleaned_data["file"], settings.IMPORT_MAX_BYTES)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("method") != NAMED:
            cleaned["answers"] = None
        elif not cleaned.get("answers") and "answers" not in self.errors:
            self.add_error("answers", _("Say which run gave the names."))
        return cleaned


def _answers(runs: list[int]) -> QuerySet[Run]:
    return Run.objects.filter(pk__in=runs).select_related("rater", "endpoint", "campaign__stage").order_by("-pk")


def _of_answers(run: Run) -> str:
    assert run.campaign is not None
    return f"{run.rater.name} {run.rater.setting}, {run.campaign.stage.name}, {run.created_at:%Y-%m-%d}"


def index_label(index: KnowledgeIndex) -> str:
    return f"{index.base}: {index.get_over_display()}, {index.model}"
