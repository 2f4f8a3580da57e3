"""What rows, groups and columns of tables are called on pages: texts, where files have labels with codes."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.selections.catalogue import Catalogue
from people.models import Rater
from predictions.pages.variant_names import VariantNames


def label_names(
    catalogue: Catalogue, data: Mapping[str, Any], names: VariantNames, texts: Mapping[str, Any]
) -> dict[str, str]:
    """By label of the table: cohorts by their names, and models with what their prompt variant is called. `texts`: of
    the table's own codes, which stand for a whole label or for its end. One query where a label names a variant."""
    labels = {str(label) for row in data["rows"] for label in (row["label"], row["group"])} | set(data["columns"])
    renamed = dict(_with_texts(labels, texts)) | _model_names(catalogue, labels, data, names)
    return renamed | {cohort.label: cohort.name for cohort in catalogue.cohorts.values()}


def _with_texts(labels: set[str], texts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for label in labels:
        head, comma, code = label.rpartition(", ")
        if code in texts:
            yield label, f"{head}{comma}{texts[code]}"


def _model_names(
    catalogue: Catalogue, labels: set[str], data: Mapping[str, Any], names: VariantNames
) -> dict[str, str]:
    """Of labels as tables write them: "model, variant", and those that begin with "model (variant"."""
    possible = [label for label in labels if "(" in label or ", " in label]
    if not possible:
        return {}
    models = Rater.objects.filter(kind=Rater.Kind.MODEL, team=catalogue.benchmark.team_id).exclude(setting="")
    stages = [selection["stage"] for selection in data["selections"]]
    renamed: dict[str, str] = {}
    for name, setting in models.order_by("name", "setting").values_list("name", "setting"):
        text = names.name_of(names.name_of(setting, *stages))
        if text == setting:
            continue
        for label in possible:
            for code in (setting, setting.replace("_", " ")):
                head = f"{name} ({code}"
                if label.startswith((f"{head})", f"{head}, ")):
                    renamed[label] = f"{name} ({text}{label.removeprefix(head)}"
                elif label == f"{name}, {code}":
                    renamed[label] = f"{name} ({text})"
    return renamed
