"""What stands against publishing a release."""

import re

from django.db.models import Count
from django.db.models.fields.json import KeyTextTransform
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Campaign, Resolution, Review, SecondReview, SheetVersion
from annotation.sheets.sheet import Sheet
from benchmarks.models import ItemImage
from people.models import ConsentVersion
from releases.descriptions.licences import is_known, may_be_shared
from releases.descriptions.sections import gaps
from releases.models import Release, ReleaseItem, ReleaseSelection
from releases.queries.withdrawals import withdrawn_since

_PUBLICATION = re.compile(r"publi|releas|shared with others|open data", re.IGNORECASE)


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
    warnings = [*_unlicensed_pictures(chosen), *_open_campaigns(chosen), *_descriptions(release), *_consent(release)]
    if chosen.pictures in ("originals", "licensed_originals"):
        warnings.append(_("Pictures keep what cameras wrote into them, such as place and device."))
    if _has_free_text(release):
        text = _("Answers in free text are in the release. Look them through for names and addresses.")
        warnings.append(text)
    if _has_comments(chosen):
        text = _("Comments and reasons of reviewers were written in free text and are in the release. Look them through"
                 " for names and addresses.")  # fmt: skip
        warnings.append(text)
    return warnings + _newly_shipped(release)


def _open_campaigns(chosen: ReleaseSelection) -> list[str]:
    campaigns = Campaign.objects.filter(pk__in=chosen.campaigns, state__in=(Campaign.State.OPEN, Campaign.State.PAUSED))
    names = list(campaigns.order_by("pk").values_list("name", flat=True))
    if not names:
        return []
    quoted = ", ".join(f"“{name}”" for name in names)
    return [_("Not closed yet: %(campaigns)s. Later answers are not in it.") % {"campaigns": quoted}]


def _descriptions(release: Release) -> list[str]:
    """Gaps, and texts that were written since the build."""
    missing = len(gaps(release))
    warnings = []
    if missing:
        text = ngettext(
            "%(n)s part of the descriptions is not stated.", "%(n)s parts of the descriptions are not stated.", missing
        )
        warnings.append(text % {"n": missing})
    described, benchmark = release.facts.get("described"), release.benchmark
    if described and (described["card"], described["authors"]) != (benchmark.card, benchmark.authors):
        warnings.append(_("The description was changed since the build. Build again to print it."))
    return warnings


def _consent(release: Release) -> list[str]:
    """Whether people were told that answers are published, as far as words of the consent text say so."""
    newest = ConsentVersion.objects.filter(team=release.benchmark.team_id).exclude(published_at=None)
    version = newest.order_by("-number").first()
    if version is None:
        return [_("The team has no consent text, so nobody was asked whether answers may be published.")]
    english = version.texts.filter(language__startswith="en")
    if not english.exists() or any(_PUBLICATION.search(text.body) for text in english):
        return []
    return [_("The consent text does not say that answers are published.")]


def _has_free_text(release: Release) -> bool:
    versions = SheetVersion.objects.filter(stage__in=release.chosen.stages)
    sheets = (Sheet.from_json(version.definition, stored=True) for version in versions)
    return any(sheet.level(field.key) == "text" for sheet in sheets for field in sheet.fields)


def _has_comments(chosen: ReleaseSelection) -> bool:
    """Of whoever decided on answers or settled them."""
    campaigns, stages = list(chosen.campaigns), list(chosen.stages)
    first = Review.objects.filter(annotation__assignment__campaign__in=campaigns).exclude(comment="")
    second = SecondReview.objects.filter(first__annotation__assignment__campaign__in=campaigns).exclude(comment="")
    settled = Resolution.objects.filter(unit__item__stage__in=stages).exclude(reason="")
    return first.exists() or second.exists() or settled.exists()


def _newly_shipped(release: Release) -> list[str]:
    """Answers that an earlier release withheld: whoever was promised an unseen test must know."""
    earlier = release.benchmark.releases.exclude(selection__withheld="").filter(selection__withheld__isnull=False)
    withheld = ReleaseItem.objects.filter(
        release__in=earlier.exclude(published_at=None), item__stage__in=release.chosen.stages,
        split=KeyTextTransform("withheld", "release__selection"),
    )  # fmt: skip
    items = set(withheld.values_list("item", flat=True))
    if not items:
        return []
    kept = ReleaseItem.objects.filter(release=release, split=release.chosen.withheld or "-", item__in=items)
    shown = len(items) - kept.values("item").distinct().count()
    if not shown:
        return []
    text = ngettext(
        "The answers of %(n)s item were withheld in an earlier release and are in this one.",
        "The answers of %(n)s items were withheld in an earlier release and are in this one.",
        shown,
    )
    return [text % {"n": shown}]


def _unlicensed_pictures(chosen: ReleaseSelection) -> list[str]:
    """Uses of pictures in items, by their licence."""
    uses = ItemImage.objects.filter(item__stage__in=chosen.stages).order_by("licence").values_list("licence")
    counts = dict(uses.annotate(n=Count("pk")))
    unknown = sum(n for licence, n in counts.items() if not is_known(licence))
    forbidden = sum(n for licence, n in counts.items() if is_known(licence) and not may_be_shared(licence))
    texts = [
        ngettext("%(n)s of %(total)s pictures has no licence.", "%(n)s of %(total)s pictures have no licence.", unknown)
        % {"n": unknown, "total": sum(counts.values())},
        ngettext(
            "%(n)s of %(total)s pictures has a licence that forbids to share it.",
            "%(n)s of %(total)s pictures have a licence that forbids to share them.",
            forbidden,
        )
        % {"n": forbidden, "total": sum(counts.values())},
    ]
    consequence = _consequence(chosen)
    return [f"{text} {consequence}" for n, text in zip((unknown, forbidden), texts, strict=True) if n]


def _consequence(chosen: ReleaseSelection) -> str:
    """What the release does with a picture that must not be shared."""
    texts = {
        "names": _("The release names them, without files."),
        "licensed": _("Their files are left out."),
        "all": _("Their files are in the release. Readers may not be allowed to use them."),
        "none": _("The release does not name them."),
    }
    texts |= {"licensed_originals": texts["licensed"], "originals": texts["all"]}
    return texts[chosen.pictures]
