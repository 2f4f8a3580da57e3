"""What stands against publishing a release, and what has happened to its answers since it was frozen."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation, Campaign
from benchmarks.models import Benchmark, ItemImage
from people.models import Consent
from releases.models import Release, ReleaseRow, ReleaseSelection


@dataclass(frozen=True)
class WithdrawnSince:
    """Answers in a release whose authors have withdrawn their consent since. Does not say who."""

    people: int = 0
    answers: int = 0

    @property
    def words(self) -> str:
        people = ngettext("%(n)s person", "%(n)s people", self.people) % {"n": self.people}
        answers = ngettext("%(n)s answer", "%(n)s answers", self.answers) % {"n": self.answers}
        text = _("Consent withdrawn since this release was frozen: %(people)s, %(answers)s.")
        return text % {"people": people, "answers": answers}


def withdrawn_since(release: Release) -> WithdrawnSince:
    if release.frozen_at is None:
        return WithdrawnSince()
    answers = answers_withdrawn_since(release.benchmark, release.chosen.campaigns, release.frozen_at)
    authors = dict(answers.values_list("pk", "rater"))
    if not authors:
        return WithdrawnSince()
    frozen = ReleaseRow.objects.filter(release=release, number__in=authors)
    of_answers = frozen.filter(table__endswith="/ratings") | frozen.filter(table__endswith="/versions")
    kept = set(of_answers.values_list("number", flat=True))
    return WithdrawnSince(len({authors[number] for number in kept}), len(kept))


def answers_withdrawn_since(benchmark: Benchmark, campaigns: Iterable[int], at: datetime) -> QuerySet[Annotation]:
    """All answers of people in these campaigns who have withdrawn a consent since."""
    withdrew = Consent.objects.filter(version__team=benchmark.team_id, withdrawn_at__gte=at)
    return Annotation.objects.filter(rater__user__in=withdrew.values("user"), assignment__campaign__in=campaigns)


def publication_errors(release: Release) -> list[str]:
    """What must be put right first."""
    errors = []
    if not release.benchmark.licence.strip():
        errors.append(_("The data has no licence. Add one to the settings of the benchmark."))
    since = withdrawn_since(release)
    if since.answers:
        errors.append(since.words + " " + _("Build the release again, so that it leaves them out."))
    return errors


def publication_warnings(release: Release) -> list[str]:
    """What whoever publishes must have seen."""
    chosen = release.chosen
    warnings = _unlicensed_pictures(chosen)
    campaigns = Campaign.objects.filter(pk__in=chosen.campaigns, state__in=(Campaign.State.OPEN, Campaign.State.PAUSED))
    names = list(campaigns.order_by("pk").values_list("name", flat=True))
    if names:
        quoted = ", ".join(f"“{name}”" for name in names)
        warnings.append(_("Not closed yet: %(campaigns)s. Later answers are not in it.") % {"campaigns": quoted})
    return warnings


def _unlicensed_pictures(chosen: ReleaseSelection) -> list[str]:
    pictures = ItemImage.objects.filter(item__stage__in=chosen.stages)
    unlicensed, total = pictures.filter(licence="").count(), pictures.count()
    if not unlicensed:
        return []
    text = ngettext(
        "%(n)s of %(total)s pictures has no licence.", "%(n)s of %(total)s pictures have no licence.", unlicensed
    )
    consequences = {
        "names": _("The release names them, without files."),
        "licensed": _("Their files are left out."),
        "all": _("Their files are in the release. Readers may not be allowed to use them."),
    }
    return [text % {"n": unlicensed, "total": total} + " " + consequences[chosen.pictures]]
