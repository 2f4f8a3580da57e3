"""What the pages of an import of a release show, and the file that they pass on."""

from django.core import signing
from django.utils.translation import gettext_lazy as _

from people.models import User
from releases.services.imports import ReleasePreview

SALT, KEPT = "release-import", 24 * 3600
SHOWN = {
    "stages": _("Stages"),
    "items": _("Items"),
    "images": _("Pictures"),
    "campaigns": _("Campaigns"),
    "cohorts": _("Cohorts"),
    "raters": _("Raters"),
    "annotations": _("Answers"),
    "reviews": _("Reviews"),
    "runs": _("Runs of models"),
    "calls": _("Calls"),
    "collections": _("Collections"),
    "vectors": _("Vectors"),
    "tables": _("Tables of its own"),
}


def token_of(user: User, stored: str) -> str:
    """Names a stored file in an address, for this person and for a day."""
    return signing.dumps([user.pk, stored], salt=SALT)


def stored_of(user: User, token: str) -> str:
    """Raises BadSignature, also for the file of another person."""
    owner, stored = signing.loads(token, salt=SALT, max_age=KEPT)
    if owner != user.pk:
        raise signing.BadSignature
    return str(stored)


def counts_of(contents: ReleasePreview) -> list[tuple[str, str]]:
    """What a reader wants to know of it; kinds without rows are left out."""
    return [(str(label), f"{contents.counts[kind]:,}") for kind, label in SHOWN.items() if contents.counts.get(kind)]
