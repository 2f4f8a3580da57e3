"""What the page with the description of a benchmark shows, and the gaps on the page of a release."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from benchmarks.models import Benchmark
from people.models import User
from releases.descriptions.sections import DATASHEET, STATEMENT, DescriptionSection, FilledSection, filled, gaps
from releases.forms.description import DescriptionForm
from releases.models import Release
from releases.pages.releases import base_context
from releases.services.versioning import newest_release


@dataclass(frozen=True)
class SectionBox:
    """A text box with what is computed for the same section."""

    field: forms.BoundField
    computed: tuple[str, ...]


@dataclass(frozen=True)
class BoxGroup:
    title: str
    boxes: list[SectionBox]


def description_context(user: User, benchmark: Benchmark, form: DescriptionForm) -> dict[str, Any]:
    """What `releases/description.html` takes. Computed sentences are those of the newest release that has them."""
    release = newest_release(benchmark)
    described = release if release and "described" in release.facts else None
    return base_context(user, benchmark) | {
        "form": form,
        "groups": _groups(form, described),
        "release": described,
    }


def statement_context(release: Release, *, works: bool) -> dict[str, Any]:
    """The data statement of a release, and boxes for its gaps if this person may fill them."""
    if "described" not in release.facts:
        return {"statement": [], "gaps": []}
    missing = gaps(release)
    context: dict[str, Any] = {"statement": _statement(release), "gaps": missing}
    if works and release.published_at is None and missing:
        context["gap_form"] = DescriptionForm(None, benchmark=release.benchmark, sections=missing)
    return context


def _statement(release: Release) -> list[FilledSection]:
    return filled(release, STATEMENT)


def _groups(form: DescriptionForm, release: Release | None) -> list[BoxGroup]:
    """Each section has one box, in the group where it comes first."""
    groups, known = [], set[str]()
    for title, sections in ((_("Data statement"), STATEMENT), *DATASHEET):
        own = [section for section in sections if section.key not in known]
        known |= {section.key for section in own}
        groups.append(BoxGroup(title, [_box(form, section, release) for section in own]))
    return groups


def _box(form: DescriptionForm, section: DescriptionSection, release: Release | None) -> SectionBox:
    computed = filled(release, [section])[0].computed if release else ()
    return SectionBox(form[section.key], tuple(computed))
