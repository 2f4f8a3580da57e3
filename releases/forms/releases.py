from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign
from benchmarks.models import Benchmark, Stage
from releases.contents.pictures import picture_bytes
from releases.models import ReleaseSelection
from releases.models.selections import FORMATS, SPLITS

EMBEDDED_BYTES = 2 * 10**9
"""Pictures that are fewer bytes are put into Parquet unless somebody wants archives."""


class StageChoices(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, stage: Any) -> str:
        return str(stage.name)


class ReleaseForm(forms.Form):
    """Version, stages and formats of a new release. The stages are the benchmark's own."""

    version = forms.CharField(
        label=_("Version"),
        max_length=20,
        help_text=_(
            "Three numbers, proposed by what changed since the last published release. The first is raised where"
            " columns, codes or the content of items changed, the second where items or answers did. A lower one is"
            " refused."
        ),
    )
    stages = StageChoices(
        Stage.objects.none(),
        label=_("Stages"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_("With all their items, and all answers of campaigns that were opened."),
        error_messages={"required": _("Choose at least one stage.")},
    )
    formats = forms.MultipleChoiceField(
        label=_("Formats"),
        widget=forms.CheckboxSelectMultiple,
        choices=[
            ("csv", _("CSV, for spreadsheets and statistics")),
            ("jsonl", _("JSON Lines, for programs")),
            ("parquet", _("Parquet, with types")),
        ],
        initial=list(FORMATS),
        error_messages={"required": _("Choose at least one format.")},
    )
    pictures = forms.ChoiceField(
        label=_("Pictures"),
        widget=forms.RadioSelect,
        choices=[
            ("licensed", _("Files of pictures that have a licence")),
            ("all", _("Files of all pictures")),
            ("licensed_originals", _("Files as they came, of pictures that have a licence")),
            ("originals", _("Files as they came, of all pictures")),
            ("names", _("Names and checksums only")),
            ("none", _("Nothing")),
        ],
        initial="licensed",
        help_text=_(
            "Files lose what cameras and programs wrote into them, such as place and device. Pixels stay. Files as they"
            " came keep all of it."
        ),
    )
    embed = forms.BooleanField(
        label=_("Put the files into the Parquet files of items"),
        required=False,
        help_text=_(
            "The column “image”, as Hugging Face reads it, where there are files of pictures and Parquet. Without this"
            " they are in images.zip."
        ),
    )
    versions = forms.BooleanField(
        label=_("Include replaced and withdrawn answers"),
        required=False,
        help_text=_("In a file of their own, “versions”. None of them counts."),
    )
    train = forms.IntegerField(label=_("Training, percent"), required=False, min_value=0, max_value=100)
    validation = forms.IntegerField(label=_("Validation, percent"), required=False, min_value=0, max_value=100)
    test = forms.IntegerField(label=_("Test, percent"), required=False, min_value=0, max_value=100)
    group_by = forms.ChoiceField(
        label=_("Stays together in a split"),
        required=False,
        choices=[
            ("item", _("Each item, with what was made of it")),
            ("concept", _("Items of one concept")),
            ("origin", _("Items of one culture")),
            ("source", _("Items made of the same first item")),
        ],
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        help_text=_("The same seed and shares put an item into the same split in every version."),
    )
    withhold = forms.BooleanField(
        label=_("Withhold the answers of the test split"),
        required=False,
        help_text=_(
            "Its items are released; its answers stay here, with a checksum in the manifest. Only owners can download"
            " them. Documents of the paper and agreement are then left out, since they are made of all answers."
        ),
    )
    vectors = forms.BooleanField(
        label=_("Include vectors"),
        required=False,
        help_text=_("Of embedding runs. Tables that are made of them need them after an import; the file is large."),
    )
    notes = forms.CharField(
        label=_("What changed (optional)"),
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Printed in the release."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stages = benchmark.stages.filter(items__isnull=False).distinct()
        self.fields["stages"].queryset = stages  # type: ignore[attr-defined]
        self.fields["stages"].initial = [stage.pk for stage in stages]
        self.fields["embed"].initial = picture_bytes(stages) < EMBEDDED_BYTES
        for name in ("version", "notes", *SPLITS, "seed", "group_by"):
            self.fields[name].widget.attrs |= {"class": "in", "dir": "auto"}

    @property
    def has_splits(self) -> bool:
        """Whether the part of the form with splits is open at first."""
        return any(self[name].value() or self[name].errors for name in (*SPLITS, "withhold"))

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        shares = [data.get(name) or 0 for name in SPLITS]
        if sum(shares) not in (0, 100):
            text = _("The shares add up to %(sum)s percent. They must add up to 100, or all be empty.")
            self.add_error("train", text % {"sum": sum(shares)})
        if data.get("withhold") and (not data.get("test") or data["test"] == 100):
            self.add_error("withhold", _("Give the test split a share, and another split the rest."))
        if "parquet" not in data.get("formats", ()) or data.get("pictures") in ("names", "none"):
            data["embed"] = False
        return data

    def selection(self) -> ReleaseSelection:
        stages = [stage.pk for stage in self.cleaned_data["stages"]]
        opened = Campaign.objects.filter(stage__in=stages).exclude(opened_at=None).order_by("pk")
        formats = [form for form in FORMATS if form in self.cleaned_data["formats"]]
        campaigns = tuple(opened.values_list("pk", flat=True))
        data = self.cleaned_data
        splits = tuple((name, data[name]) for name in SPLITS if data.get(name))
        return ReleaseSelection(
            tuple(stages), campaigns, tuple(formats), data["versions"], data["pictures"],
            splits=splits if len(splits) > 1 else (), withheld="test" if data["withhold"] else "",
            group_by=data["group_by"] or "item", seed=data["seed"] or 0, embed=data["embed"], vectors=data["vectors"],
        )  # fmt: skip
