"""Ratings in the database: campaigns through the services, tables of codes straight into the rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.db.models import F

from annotation.models import Annotation, Assignment, Campaign, CampaignCohort, Participation, Rating, Tally, Unit
from annotation.services.campaigns import lifecycle
from benchmarks.models import Item, Stage
from people.models import Cohort, Rater, User
from people.services.raters import rater_of
from tests.personas import World

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
Table = Mapping[tuple[str, Item], str]  # (user's e-mail, item) -> code


def an_open_campaign(
    world: World,
    *,
    target: int = 2,
    name: str = "Round one",
    cohorts: Iterable[Cohort] = (),
    stage: Stage | None = None,
) -> Campaign:
    asked = dict.fromkeys(cohorts or (world.egypt, world.brazil), target)
    campaign = lifecycle.create(stage or world.stage, name, world.owner, asked)
    lifecycle.open_campaign(campaign, world.owner, NOON)
    return campaign


def give_ratings(
    campaign: Campaign, cohort: Cohort, user: User, codes: Mapping[Item, str], *, because: str = "", at: datetime = NOON
) -> list[Annotation]:
    """One person's ratings as a submit would leave them. `because`: kept and not counted, for this reason."""
    rater = rater_of(user)
    row = campaign.cohorts.get(cohort=cohort)
    seat, _new = Participation.objects.get_or_create(cohort=row, rater=rater, defaults={"last_seen_at": at})
    given = [_give_rating(campaign, row, seat, rater, item, code, because, at) for item, code in codes.items()]
    Tally.objects.filter(cohort=row, shard=0).update(changes=F("changes") + len(given))
    return given


def _give_rating(
    campaign: Campaign, row: CampaignCohort, seat: Participation, rater: Rater, item: Item, code: str, because: str,
    at: datetime,
) -> Annotation:  # fmt: skip
    unit, _new = Unit.objects.get_or_create(item=item, target=row.cohort.label)
    assignment = Assignment.objects.create(
        campaign=campaign, participation=seat, unit=unit, rater=rater, state="submitted", in_hand=False,
        reserved_at=at, shown_at=at, changed_at=at,
    )  # fmt: skip
    annotation = Annotation.objects.create(
        assignment=assignment, rater=rater, version=1, client_key=f"{assignment.pk}", answers={"relevance": code},
        sheet_version=campaign.sheet_version, instruction_version=campaign.instruction_versions.first(),
        cohort=row.cohort, language="en", shown_at=at, submitted_at=at + timedelta(seconds=9), active_seconds=8.5,
        counted=not because, uncounted_because=because,
        at_submit="" if because == "excluded" else because,
    )  # fmt: skip
    Rating.objects.create(
        annotation=annotation, campaign=campaign, cohort=row.cohort, unit=unit, rater=rater, field="relevance",
        code=code, value=float(code), counted=not because,
    )  # fmt: skip
    return annotation


def table(campaign: Campaign, cohort: Cohort, items: Sequence[Item], by_user: Mapping[User, str], **more: str) -> None:
    """A row of digits for each person, one for each item; a dot where there is no rating."""
    for user, digits in by_user.items():
        give_ratings(campaign, cohort, user, {i: d for i, d in zip(items, digits, strict=True) if d != "."}, **more)


def of_condition(items: Iterable[Item], condition: str) -> list[Item]:
    return [item for item in items if item.condition == condition]
