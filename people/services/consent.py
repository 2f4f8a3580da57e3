"""What people of a team agree to before they work. A team without a published text asks for nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q

from jobs.models import record
from people.locales.closest_language import closest_language
from people.models import Consent, ConsentText, ConsentVersion, Team, User


class ConsentRefused(Exception):
    """The version cannot be changed, published or agreed to. `reason` is a code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def current_version(team: Team) -> ConsentVersion | None:
    """The version in force: the published one with the highest number."""
    return ConsentVersion.objects.filter(team=team, published_at__isnull=False).order_by("-number").first()


def has_consented(user: User, team: Team) -> bool:
    """Whether the person agreed to the current version and did not withdraw. True where nothing is published."""
    version = current_version(team)
    if version is None:
        return True
    return Consent.objects.filter(user=user, version=version, withdrawn_at__isnull=True).exists()


def has_any_consent(user: User, team: Team) -> bool:
    """Whether a consent to any text of the team is in force: there is something to withdraw."""
    return Consent.objects.filter(user=user, version__team=team, withdrawn_at__isnull=True).exists()


@dataclass(frozen=True)
class ConsentState:
    """Of one person towards one team. `at`: when they agreed, or when they withdrew.

    not_needed: no text is in force. never_asked: they agreed to none. agreed_earlier: to an older text than the one in
    force. withdrawn: they withdrew, and did not agree again.
    """

    key: str
    at: datetime | None = None


def consent_states(team: Team, users: Iterable[int]) -> dict[int, ConsentState]:
    """By the user's id."""
    users = list(users)
    version = current_version(team)
    if version is None:
        return dict.fromkeys(users, ConsentState("not_needed"))
    states = dict.fromkeys(users, ConsentState("never_asked"))
    # A consent in force speaks before one that was withdrawn, the newest text before older ones.
    ranked: dict[int, tuple[int, datetime]] = {}
    for row in Consent.objects.filter(version__team=team, user__in=users).order_by("pk"):
        if row.withdrawn_at is not None:
            rank, key, at = 0, "withdrawn", row.withdrawn_at
        elif row.version_id == version.pk:
            rank, key, at = 2, "agreed", row.given_at
        else:
            rank, key, at = 1, "agreed_earlier", row.given_at
        if row.user_id not in ranked or (rank, at) > ranked[row.user_id]:
            ranked[row.user_id], states[row.user_id] = (rank, at), ConsentState(key, at)
    return states


def withdrawn_teams(user: User) -> list[tuple[Team, datetime]]:
    """The teams to which this person withdrew every consent, with the moment of the last withdrawal."""
    live = Consent.objects.filter(user=user, version__team=OuterRef("pk"), withdrawn_at__isnull=True)
    mine = Q(consent_versions__consents__user=user)
    teams = Team.objects.filter(mine, ~Exists(live)).annotate(
        at=Max("consent_versions__consents__withdrawn_at", filter=mine)
    )
    return [(team, team.at) for team in teams.order_by("name")]


def text_for(version: ConsentVersion, language: str) -> ConsentText:
    """The text in the person's language, else in English, else in any."""
    texts = {text.language: text for text in version.texts.order_by("language")}
    return texts.get(closest_language(texts, language)) or texts.get("en") or next(iter(texts.values()))


@transaction.atomic
def draft(team: Team, texts: Mapping[str, str], actor: User) -> ConsentVersion:
    """Write the team's draft: a new version, or the unpublished one again. Empty texts are left out."""
    Team.objects.select_for_update().get(pk=team.pk)
    version = ConsentVersion.objects.filter(team=team, published_at__isnull=True).order_by("-number").first()
    if version is None:
        last = ConsentVersion.objects.filter(team=team).aggregate(last=Max("number"))["last"] or 0
        version = ConsentVersion.objects.create(team=team, number=last + 1)
    version.texts.exclude(language__in=[language for language, body in texts.items() if body.strip()]).delete()
    for language, body in texts.items():
        if body.strip():
            ConsentText.objects.update_or_create(version=version, language=language, defaults={"body": body.strip()})
    record(actor, "consent.drafted", scope=f"team:{team.pk}", target=f"consent_version:{version.pk}")
    return version


@transaction.atomic
def publish(version: ConsentVersion, actor: User, at: datetime) -> None:
    """Put a draft in force. From then on it never changes, and everybody is asked again."""
    Team.objects.select_for_update().get(pk=version.team_id)  # no draft is written meanwhile
    if not ConsentVersion.objects.filter(pk=version.pk, published_at__isnull=True).exists():
        raise ConsentRefused("published")
    if not version.texts.exists():
        raise ConsentRefused("empty")
    ConsentVersion.objects.filter(pk=version.pk).update(published_at=at)
    record(actor, "consent.published", scope=f"team:{version.team_id}", target=f"consent_version:{version.pk}")


@transaction.atomic
def publish_text(team: Team, texts: Mapping[str, str], actor: User, at: datetime) -> ConsentVersion:
    """Draft and publish as one: what comes into force is what this person wrote, whoever else drafts just now."""
    version = draft(team, texts, actor)
    publish(version, actor, at)
    return version


@transaction.atomic
def agree(user: User, version: ConsentVersion, language: str, *, counts_earlier: bool = False) -> Consent:
    """Agreeing twice is agreeing once. `counts_earlier`: answers that a withdrawal left out count again. Its effect on
    them is the business of annotation.services.answers.consent."""
    if version.published_at is None:
        raise ConsentRefused("not_published")
    consent, created = Consent.objects.get_or_create(
        user=user,
        version=version,
        withdrawn_at=None,
        defaults={"language": language, "counts_earlier": counts_earlier},
    )
    if created:
        scope, target = f"team:{version.team_id}", f"consent_version:{version.pk}"
        record(user, "consent.given", scope=scope, target=target, counts_earlier=counts_earlier)
    return consent


@transaction.atomic
def withdraw(user: User, team: Team, at: datetime) -> int:
    """Withdraw every consent in force to this team's texts. Returns how many there were. What follows for the person's
    answers is the business of annotation.services.answers.consent."""
    taken = Consent.objects.filter(user=user, version__team=team, withdrawn_at__isnull=True).update(withdrawn_at=at)
    if taken:
        record(user, "consent.withdrawn", scope=f"team:{team.pk}", target=f"user:{user.pk}")
    return taken
