"""Forms for the files of another tool: choose them, then say what they mean and where they go."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign
from benchmarks.forms.imports import check_upload_size
from benchmarks.models import Benchmark, Stage
from people.forms.base import StyledFormMixin
from people.models import Cohort
from releases.foreign.contract import LEAVE_OUT, MAIN_ROLES, REFUSE, UPRIGHT, ForeignMapping
from releases.foreign.registry import READERS
from releases.foreign.scan import Scan, ScannedColumn, ScannedQuestion, proposed_mapping
from releases.services.foreign.foreign_uploads import field_keys

MOST_FILES, MOST_RATERS = 50, 5000
KEEP, NEW = "", "new"
ROLE_LABELS: Mapping[str, Any] = {
    "key": _("Key: the item's name"), "picture": _("Picture"), "text": _("Text that is shown"),
    "country": _("Country"), "origin": _("Origin: any culture"), "concept": _("Concept"),
    "condition": _("Condition"), "licence": _("Licence"), "source": _("Source"),
}  # fmt: skip
WITHOUT_RATER = ("coco", "cvat", "doccano", "hugging_face", "table")
WITH_MEMBER = ("coco", "hugging_face", "table")


class SeveralFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class SeveralFilesField(forms.FileField):
    widget = SeveralFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        files = data if isinstance(data, list | tuple) else [data] if data else []
        checked = [super(SeveralFilesField, self).clean(file, initial) for file in files or [None]]
        if len(checked) > MOST_FILES:
            raise forms.ValidationError(_("These are more than %(n)s files. Pack them as a zip.") % {"n": MOST_FILES})
        return [check_upload_size(file, settings.IMPORT_MAX_BYTES) for file in checked]


class ForeignFilesForm(StyledFormMixin, forms.Form):
    """The files of a tool, and what helps to read them."""

    exports = SeveralFilesField(
        label=_("Files of the tool"),
        help_text=_("The export, as JSON, CSV, XML, Parquet or zip, and its configuration file if there is one."),
    )
    pictures = forms.FileField(
        label=_("Pictures, as a zip"), required=False,
        help_text=_("Matched by path, then by file name. Not needed for texts, or if the items are here already."),
    )  # fmt: skip
    raters = forms.FileField(
        label=_("Names of raters"), required=False,
        help_text=_("A CSV with the columns user, rater and, for models, model. Without it the tool's names are kept."),
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pictures"].widget.attrs["accept"] = ".zip,application/zip"
        self.fields["raters"].widget.attrs["accept"] = ".csv,text/csv"

    def clean_pictures(self) -> UploadedFile[Any] | None:
        pictures = self.cleaned_data["pictures"]
        return check_upload_size(pictures, settings.IMPORT_MAX_BYTES) if pictures else None

    def clean_raters(self) -> list[tuple[str, str, bool]]:
        """User, rater, and whether a model."""
        file = self.cleaned_data["raters"]
        if not file:
            return []
        try:
            text = file.read(1024 * 1024).decode("utf-8-sig")
            rows = list(csv.DictReader(io.StringIO(text, newline="")))
        except (UnicodeDecodeError, csv.Error) as error:
            raise forms.ValidationError(_("This is no CSV in UTF-8.")) from error
        if not rows or not {"user", "rater"} <= set(rows[0]):
            raise forms.ValidationError(_("The first line must name the columns user and rater."))
        if len(rows) > MOST_RATERS:
            raise forms.ValidationError(_("These are more than %(n)s raters.") % {"n": MOST_RATERS})
        return [((row["user"] or "").strip()[:200], (row["rater"] or "").strip()[:200], bool(row.get("model")))
                for row in rows if row["user"] and row["rater"]]  # fmt: skip


@dataclass(frozen=True)
class ColumnControl:
    column: ScannedColumn
    control: forms.BoundField


@dataclass(frozen=True)
class QuestionControl:
    question: ScannedQuestion
    options: list[str]
    control: forms.BoundField


class NumberedStageField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """Stages of one name, such as those made from two files of a tool, are told apart by their place."""

    def label_from_instance(self, stage: Any) -> str:
        names = [other.name for other in self.queryset or ()]
        if names.count(stage.name) < 2:
            return str(stage.name)
        return _("%(name)s (stage %(n)s)") % {"name": stage.name, "n": stage.position + 1}


class ForeignMappingForm(StyledFormMixin, forms.Form):
    """What the columns and questions are, whose answers they are, and where they go."""

    tool = forms.ChoiceField(label=_("Tool"), choices=[(reader.key, reader.name) for reader in READERS])
    stage = NumberedStageField(Stage.objects.none(), label=_("Stage for the items"), required=False)
    campaign = forms.ChoiceField(label=_("Campaign for the answers"), required=False)
    cohort = forms.ModelChoiceField(
        Cohort.objects.none(), label=_("Cohort whose answers these are"), required=False,
        help_text=_("A new campaign needs one, and so does a stage that asks about a culture."),
    )  # fmt: skip
    rater = forms.CharField(
        label=_("Who answered, where the file does not say it"), max_length=120, required=False
    )  # fmt: skip
    rater_member = forms.CharField(
        label=_("Member or column that names who answered"), max_length=120, required=False
    )  # fmt: skip
    rotated = forms.ChoiceField(
        label=_("Rotated boxes"), required=False, initial=REFUSE,
        choices=[(REFUSE, _("Leave them out and list them")), (UPRIGHT, _("Upright box around each"))],
    )  # fmt: skip
    encoding = forms.ChoiceField(
        label=_("How its letters are stored"), required=False,
        help_text=_("Each choice shows a line of the file as it reads it. UTF-8: rows with other bytes are rejected."),
    )  # fmt: skip
    empty_is_answer = forms.BooleanField(label=_("An empty list of labels is an answer"), required=False)

    def __init__(
        self, *args: Any, benchmark: Benchmark, stage: Stage | None, scan: Scan, mapping: ForeignMapping,
        columns: Mapping[str, str] | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        """`columns`: what a person chose that they are, by their names, before the sheet was made."""
        super().__init__(*args, **kwargs)
        self.scan, self.chosen_stage, self.base = scan, stage, mapping
        stages = benchmark.stages.filter(derivation={}).order_by("position")
        self.fields["stage"].queryset, self.fields["stage"].initial = stages, stage  # type: ignore[attr-defined]
        cohorts = Cohort.objects.filter(team=benchmark.team_id).order_by("label")
        self.fields["cohort"].queryset = cohorts  # type: ignore[attr-defined]
        self.fields["cohort"].initial = cohorts.first() if cohorts.count() == 1 else None
        self.campaigns = _campaigns_of(stage)
        existing = [(str(campaign.pk), campaign.name) for campaign in self.campaigns]
        new = [(NEW, _("A new campaign for imports"))] if stage else []
        self.fields["campaign"].choices = [*new, *existing, ("", _("Import no answers"))]  # type: ignore[attr-defined]
        self.fields["campaign"].initial = _usual_campaign(self.campaigns, stage)
        encodings = [(name, f"{name}: {line}") for name, line in scan.encodings.items()]
        self.fields["encoding"].choices = [("", _("Not chosen")), *encodings]  # type: ignore[attr-defined]
        self._drop_unused(scan)
        for name in ("tool", "rater", "rater_member", "rotated", "encoding", "empty_is_answer"):
            if name in self.fields:
                self.fields[name].initial = getattr(mapping, name) or self.fields[name].initial
        self._add_columns(mapping, columns or {})
        self._add_questions(mapping)

    def _drop_unused(self, scan: Scan) -> None:
        key = scan.reader.key
        unused = {
            "rater": key not in WITHOUT_RATER and "" not in scan.raters, "rater_member": key not in WITH_MEMBER,
            "rotated": not scan.rotated, "encoding": not scan.encodings, "empty_is_answer": key != "doccano",
        }  # fmt: skip
        for name, is_unused in unused.items():
            if is_unused:
                del self.fields[name]

    def _add_columns(self, mapping: ForeignMapping, chosen: Mapping[str, str]) -> None:
        main = {getattr(mapping, role): role for role in MAIN_ROLES if getattr(mapping, role)}
        choices = [(KEEP, _("Keep with the item")), *ROLE_LABELS.items(), (LEAVE_OUT, _("Leave out"))]
        for place, column in enumerate(self.scan.columns.values()):
            role = main.get(column.name) or mapping.roles.get(column.name, "")
            role = LEAVE_OUT if column.name in mapping.dropped else role
            role = chosen.get(column.name, role)
            self.fields[f"column_{place}"] = _select(column.name, choices, role)

    def _add_questions(self, mapping: ForeignMapping) -> None:
        choices = [(LEAVE_OUT, _("Leave out")), *((key, key) for key in field_keys(self.chosen_stage))]
        for place, key in enumerate(self.scan.questions):
            self.fields[f"question_{place}"] = _select(key, choices, (mapping.answers or {}).get(key, LEAVE_OUT))

    @property
    def asks_encoding(self) -> bool:
        """Whether nothing can be read before a person says how the letters are stored."""
        return bool(self.scan.encodings) and not self.base.encoding

    def columns(self) -> list[ColumnControl]:
        return [ColumnControl(column, self[f"column_{place}"])
                for place, column in enumerate(self.scan.columns.values())]  # fmt: skip

    def questions(self) -> list[QuestionControl]:
        return [
            QuestionControl(
                question, [label or code for code, label in question.field.options], self[f"question_{place}"]
            )
            for place, question in enumerate(self.scan.questions.values())
        ]

    def settings_fields(self) -> list[forms.BoundField]:
        names = ("encoding", "rater", "rater_member", "rotated", "empty_is_answer")
        return [self[name] for name in names if name in self.fields]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        roles = [data.get(f"column_{place}") or KEEP for place in range(len(self.scan.columns))]
        for place, role in enumerate(roles):
            if role not in (KEEP, LEAVE_OUT) and role in roles[:place]:
                self.add_error(f"column_{place}", _("Another column is this already. Choose one of them."))
        targets = [data.get(f"question_{place}") for place in range(len(self.scan.questions))]
        for place, target in enumerate(targets):
            if target and target != LEAVE_OUT and target in targets[:place]:
                self.add_error(f"question_{place}", _("Another question goes there already. Choose another."))
        if self.data.get("do") == "import":
            self._check_answers(data)
        return data

    def _check_answers(self, data: Mapping[str, Any]) -> None:
        """Only an import needs to know whose the answers are."""
        stage, cohort = data.get("stage"), data.get("cohort")
        if data.get("campaign") == NEW and cohort is None:
            self.add_error("cohort", _("A campaign needs a cohort. Choose one."))
        if data.get("campaign") and stage and stage.has_target and cohort is None:
            self.add_error("cohort", _("This stage asks about a culture. Choose the cohort whose answers these are."))
        named = data.get("rater") or data.get("rater_member")
        if data.get("campaign") and set(self.scan.raters) == {""} and not named:
            self.add_error("rater", _("The file does not say who answered. Fill in a name."))

    def mapping(self) -> ForeignMapping:
        """Of the valid form; raters as they were mapped."""
        data, base = self.cleaned_data, self.base
        chosen = ((key, data.get(f"question_{place}")) for place, key in enumerate(self.scan.questions))
        answers = {key: str(target) for key, target in chosen if target and target != LEAVE_OUT}
        mapping = ForeignMapping(
            tool=data["tool"], answers=answers, rater=data.get("rater", ""),
            rater_member=data.get("rater_member", ""), raters=base.raters, models=base.models,
            empty_is_answer=bool(data.get("empty_is_answer")), rotated=data.get("rotated") or REFUSE,
            encoding=data.get("encoding", ""),
        )  # fmt: skip
        return mapping.with_columns(self.chosen_columns())

    def chosen_columns(self) -> dict[str, str]:
        """Of the valid form: what each column is."""
        names = enumerate(self.scan.columns)
        return {name: self.cleaned_data.get(f"column_{place}") or KEEP for place, name in names}


def posted_for_stage(
    posted: QueryDict, scan: Scan, before: Stage | None, stage: Stage | None, base: ForeignMapping
) -> QueryDict:  # fmt: skip
    """What was posted from the preview of the stage `before`, for the one that was chosen there: where questions go is
    proposed again, but for what a person changed by hand and the new stage has too."""
    nothing = replace(base, answers=None)
    old, new = (proposed_mapping(scan, nothing, field_keys(one)).answers or {} for one in (before, stage))
    known, names = set(field_keys(stage)), {key: f"question_{place}" for place, key in enumerate(scan.questions)}
    by_hand = {key: target for key, name in names.items()
               if (target := posted.get(name, LEAVE_OUT)) != old.get(key, LEAVE_OUT)
               and (target in known or target == LEAVE_OUT)}  # fmt: skip
    proposed = {key: target for key, target in new.items() if target not in by_hand.values()}
    changed = posted.copy()
    for key, name in names.items():
        changed[name] = by_hand.get(key) or proposed.get(key, LEAVE_OUT)
    if changed.get("campaign"):
        changed["campaign"] = _usual_campaign(_campaigns_of(stage), stage)
    return changed


def _campaigns_of(stage: Stage | None) -> list[Campaign]:
    return list(Campaign.objects.filter(stage=stage).exclude(opened_at=None).order_by("-pk")) if stage else []


def _usual_campaign(campaigns: Sequence[Campaign], stage: Stage | None) -> str:
    """The newest, else a new one."""
    return str(campaigns[0].pk) if campaigns else NEW if stage else ""


def _select(label: str, choices: Sequence[tuple[str, Any]], initial: str) -> forms.ChoiceField:
    widget = forms.Select(attrs={"class": "in"})
    return forms.ChoiceField(label=label, choices=choices, required=False, initial=initial, widget=widget)
