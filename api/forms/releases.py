"""Releases and exports that a program asks for: the forms of the pages, with their defaults for what was not sent."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from api.protocol.contents import check_form, form_data, problem, step
from api.protocol.problems import Refused
from benchmarks.models import Benchmark, Stage
from releases.forms.exports import ExportForm, ToolExportForm
from releases.forms.releases import ReleaseForm
from releases.models import ReleaseSelection
from releases.services.versioning import FIRST, proposed_version

IMAGES = {
    "none": "none", "names": "names", "licensed": "licensed", "stripped": "all",
    "licensed_originals": "licensed_originals", "originals": "originals",
}  # fmt: skip
"""By the word of the API: the choice of the page. Only originals leave metadata in a file."""
SAME = ("formats", "versions", "notes", "embed", "vectors", "group_by", "seed", "withhold")
"""Named by the API as by the page."""


def release_of(benchmark: Benchmark, content: Mapping[str, Any]) -> tuple[str, str, ReleaseSelection]:
    """Version, notes and selection. Raises Refused."""
    blank = ReleaseForm(benchmark=benchmark)
    values = {name: field.initial for name, field in blank.fields.items()}
    values |= {name: content[name] for name in SAME if name in content}
    values |= content.get("splits", {})
    values["version"] = content.get("version") or FIRST
    if "stages" in content:
        values["stages"] = [_stage(benchmark, key, f"/stages{step(n)}").pk for n, key in enumerate(content["stages"])]
    if "images" in content:
        values["pictures"] = IMAGES[content["images"]]
    form = ReleaseForm(form_data(values), benchmark=benchmark)
    data = check_form(form)
    selection = form.selection()
    return content.get("version") or proposed_version(benchmark, selection), data["notes"], selection


def export_of(benchmark: Benchmark, content: Mapping[str, Any]) -> ExportForm:
    """Raises Refused."""
    stage = _stage(benchmark, content["stage"], "/stage")
    tool = content.get("for")
    values = {"stage": stage.pk, "form": tool or content["format"], "versions": content.get("versions")}
    form = (ToolExportForm if tool else ExportForm)(
        form_data({**values, "campaign": content.get("campaign")}), benchmark=benchmark
    )
    check_form(form)
    return form


def _stage(benchmark: Benchmark, key: str, pointer: str) -> Stage:
    """Raises Refused."""
    stage = benchmark.stages.filter(key=key).first()
    if stage is None:
        text = _("The benchmark has no such stage.")
        raise Refused(text, errors=[problem(pointer, "unknown", text)])
    return stage
