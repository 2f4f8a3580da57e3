"""The demo: one team, three cohorts, drawn pictures, simulated raters (named so), and open work for the visitor.

Everything goes through the same services as real work, in one transaction: an interrupted start leaves nothing behind.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from django.conf import settings
from django.db import transaction
from django.utils import timezone

import annotation.services.allocation as allocation
import annotation.services.answers as answers
import annotation.services.campaigns as campaigns
from annotation.models import Campaign, CampaignCohort, Participation
from annotation.services.leases import release
from benchmarks.models import Benchmark, Image, Item, ItemImage, Role
from benchmarks.services.benchmarks import create_from_recipe
from benchmarks.services.images import store_image
from config import demo_models as models
from config import demo_practice as practice
from config import demo_workflows as workflows
from demo import pictures
from people.models import (
    Cohort,
    CohortManager,
    CohortMember,
    Consent,
    ConsentText,
    ConsentVersion,
    Rater,
    Team,
    TeamMember,
    User,
)
from people.services.raters import rater_of

Say = Callable[[str], None]
SEED = 20261120
TARGET = 8
CONDITIONS: dict[str, str] = {
    "natural": "Relevance, natural photos",
    "generated": "Relevance, generated pictures",
}
# label, other names, ISO country, languages, direction, time zone
COHORTS = [
    ("Egypt", {"ar": "مصر"}, "EG", ["ar"], "rtl", "Africa/Cairo"),
    ("Brazil", {"ar": "البرازيل"}, "BR", ["pt-br"], "ltr", "America/Recife"),
    ("China", {"ar": "الصين"}, "CN", ["zh"], "ltr", "Asia/Shanghai"),
]
# name, cohort (None: on the team), what the visitor sees with this account, language
ACCOUNTS = [
    ("admin", "Ada", None, "admin: everything, and the status page", "en"),
    ("mara", "Mara", None, "researcher: campaigns, agreement, export", "en"),
    ("salma", "Salma", "Egypt", "manager of the cohort Egypt", "ar"),
    ("nour", "Nour", "Egypt", "annotator in Egypt, in Arabic", "ar"),
    ("bia", "Bia", "Brazil", "annotator in Brazil", "en"),
    ("wei", "Wei", "China", "annotator in China", "en"),
]
CONSENT = {
    "en": "Your answers are used for research on how pictures relate to cultures. They are published under a "
    "pseudonym, never with your name or address. You may stop at any time. "
    "If you withdraw your consent, your answers are no longer used in figures or new files.",
    "ar": "تُستخدم إجاباتك في بحث عن صلة الصور بالثقافات. تُنشر باسم مستعار، ولا تُنشر أبدًا مع اسمك أو عنوانك. "
    "يمكنك التوقف في أي وقت. وإذا سحبت موافقتك فلن تُستخدم إجاباتك بعد ذلك في الأرقام ولا في الملفات الجديدة.",
}


@dataclass
class Demo:
    team: Team
    cohorts: dict[str, Cohort]
    users: dict[str, User]


def exists() -> bool:
    return Team.objects.filter(slug="demo").exists()


def load(say: Say, *, now: datetime | None = None) -> str:
    """Make the demo and return the text that lists its accounts. The password is random, one for each data folder."""
    now = now or timezone.now()
    password = f"{secrets.choice(('brass', 'enamel', 'needle', 'ruler', 'tick'))}-{secrets.randbelow(900000) + 100000}"
    with transaction.atomic():
        demo = make_people(password)
        benchmark = create_from_recipe(
            demo.team, "caire-universal", name="CAIRE universal, demo", slug="caire-demo", actor=demo.users["mara"]
        )
        Role.objects.get_or_create(
            benchmark=benchmark, user=demo.users["admin"], defaults={"name": Role.Name.RESEARCHER}
        )
        images = make_items(benchmark, demo.team)
        raters = make_simulated(demo, now)
        for condition, name in CONDITIONS.items():
            campaign = open_campaign(benchmark, demo, condition, name, now)
            share = 0.8 if condition == "natural" else 0.45
            simulate(campaign, raters, share, now, say)
        stuff = workflows.Stuff(demo.team, demo.users["mara"], demo.cohorts, raters, images, now)
        workflows.load(stuff)
        models.load(stuff)
        if address := os.environ.get("EMIC_PRACTICE"):
            practice.load(stuff, address)
        go_home(now)
    lines = [f"  {user}@demo.emic   {what}" for user, _, _, what, _ in ACCOUNTS]
    return "\n".join([f"Demo accounts, all with the password  {password}", *lines]) + "\n"


def make_people(password: str) -> Demo:
    team = Team.objects.create(name="Emic demo", slug="demo")
    cohorts = {}
    for label, names, country, languages, direction, zone in COHORTS:
        cohorts[label] = Cohort.objects.create(
            team=team,
            label=label,
            names=names,
            country=country,
            languages=languages,
            direction=direction,
            time_zone=zone,
        )
    version = ConsentVersion.objects.create(team=team, number=1)
    for language, body in CONSENT.items():
        ConsentText.objects.create(version=version, language=language, body=body)
    ConsentVersion.objects.filter(pk=version.pk).update(published_at=timezone.now())  # from now on it never changes
    users = {}
    for key, name, place, _, language in ACCOUNTS:
        user = User.objects.create_user(f"{key}@demo.emic", name, password, language=language)
        users[key] = user
        if place is None:
            TeamMember.objects.create(team=team, user=user, role=TeamMember.Role.ADMIN if key == "admin" else "member")
        elif key == "salma":
            CohortManager.objects.create(cohort=cohorts[place], user=user)
        else:
            CohortMember.objects.create(cohort=cohorts[place], user=user)
            Consent.objects.create(user=user, version=version, language=language if language in CONSENT else "en")
    User.objects.filter(pk=users["admin"].pk).update(is_staff=True, is_superuser=True)
    return Demo(team, cohorts, users)


def make_items(benchmark: Benchmark, team: Team) -> dict[tuple[str, str, str], Image]:
    stage, images = benchmark.stages.get(key="relevance"), {}
    for scene in pictures.of_kind("scene"):
        image, _ = store_image(team, scene.path.read_bytes(), name=scene.file)
        images[scene.concept, scene.country, scene.condition] = image
        item = Item.objects.create(
            stage=stage, key=scene.key, concept=scene.concept, origin=scene.country, condition=scene.condition
        )
        ItemImage.objects.create(item=item, image=image, alt=scene.alt, source=scene.source, licence=scene.licence)
    return images


def make_simulated(demo: Demo, now: datetime) -> dict[str, list[Rater]]:
    version = demo.team.consent_versions.get()
    raters: dict[str, list[Rater]] = {}
    for label, cohort in demo.cohorts.items():
        for number in range(1, 7):
            user = User.objects.create_user(
                f"simulated-{label.lower()}-{number}@demo.emic", f"Simulated rater {number}, {label}", simulated=True
            )
            CohortMember.objects.create(cohort=cohort, user=user)
            Consent.objects.create(user=user, version=version, language="en")
            raters.setdefault(label, []).append(rater_of(user))
    return raters


def open_campaign(benchmark: Benchmark, demo: Demo, condition: str, name: str, now: datetime) -> Campaign:
    actor = demo.users["mara"]
    campaign = campaigns.create(
        benchmark.stages.get(key="relevance"),
        name,
        actor,
        cohorts=dict.fromkeys(demo.cohorts.values(), TARGET),
        conditions=[condition],
        summary="Say how much a picture has to do with your own country, 1 to 5.",
        seed=SEED,
    )
    campaigns.open_campaign(campaign, actor, now)
    return campaign


def simulate(campaign: Campaign, raters: dict[str, list[Rater]], share: float, now: datetime, say: Say) -> None:
    """Simulated raters answer `share` of what they could, at plausible times during the last days."""
    for place in campaign.cohorts.select_related("cohort"):
        rng = Random(f"{SEED}/{campaign.name}/{place.cohort.label}")
        people = raters[place.cohort.label]
        for rater in people:
            bias, start = rng.gauss(0, 0.45), now - timedelta(hours=rng.uniform(20, 70))
            for at, opinion in answer_times(place, start, share, rng):
                if not answer(rater, place, opinion + bias, rng, at):
                    break
        say(f"Simulated {len(people)} raters for {place.cohort.label}: {campaign.name}")


def go_home(now: datetime) -> None:
    """Simulated raters hold no places that a visitor waits for."""
    for participation in Participation.objects.filter(rater__user__simulated=True).order_by("pk"):
        allocation.lock_seat(participation.pk)
        release(participation.pk, now)


def answer_times(place: CampaignCohort, start: datetime, share: float, rng: Random) -> Iterator[tuple[datetime, float]]:
    at = start
    for _ in range(int(place.slots.count() * share)):
        at += timedelta(seconds=rng.uniform(6, 30))
        yield at, rng.gauss(0, 0.55)


def answer(rater: Rater, place: CampaignCohort, noise: float, rng: Random, at: datetime) -> bool:
    """One simulated answer: high for pictures of one's own country, with taste, noise and a few skips."""
    hand = allocation.open_work(rater, place, at).hand
    if hand is None:
        return False
    if rng.random() < 0.02:
        answers.skip(hand.pk, rater, "unknown", "", at)
        return True
    item = hand.unit.item
    own = item.origin == place.cohort.label
    taste = Random(f"{item.concept}/{item.origin}/{place.cohort.label}").gauss(0, 0.7)
    code = min(5, max(1, round((4.2 if own else 1.7) + taste + noise)))
    seconds = rng.uniform(4, 15)
    submission = answers.Submission(
        raw={"relevance": str(code)},
        client_key=secrets.token_hex(16),
        shown_at=at - timedelta(seconds=seconds),
        active_seconds=round(seconds, 1),
    )
    answers.submit(hand.pk, rater, submission, at)
    return True


def write_accounts(text: str) -> None:
    path = settings.DATA_DIR / "demo-accounts.txt"
    path.write_text(text)
    path.chmod(0o600)
