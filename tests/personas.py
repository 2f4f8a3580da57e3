"""The people of the tests, and the small world they live in. It stands on models alone, so it outlives services.

def test_something(world):
    page = world.client(world.nour).get("/work/")
"""

import functools
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.utils import timezone
from django.utils.crypto import get_random_string

from benchmarks.models import Benchmark, Image, Item, ItemImage, Role, Stage
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
from people.sessions.store import SessionStore

PASSWORD = "a long quiet password"
CONCEPTS = ("wedding", "breakfast", "market", "school")

POINTS = [
    ("1", "Not relevant", "Nothing in the picture belongs to {target}."),
    ("2", "Slightly relevant", "A detail may come from {target}."),
    ("3", "Moderately relevant", "Some things are found in {target} and elsewhere."),
    ("4", "Relevant", "Much of it belongs to {target}."),
    ("5", "Highly relevant", "It could hardly be anywhere else."),
]
SHEET: dict[str, Any] = {
    "fields": [
        {
            "key": "relevance",
            "kind": "rating",
            "version": 1,
            "label": {"en": "How relevant is this picture to {target}?", "ar": "ما مدى صلة هذه الصورة بـ{target}؟"},
            "help": {},
            "required": True,
            "config": {
                "level": "ordinal",
                "points": [
                    {"code": code, "label": {"en": label}, "definition": {"en": definition}}
                    for code, label, definition in POINTS
                ],
            },
        }
    ]
}
SKIP_REASONS = [
    {"code": "unknown", "label": {"en": "I do not know what it shows"}},
    {"code": "broken", "label": {"en": "It is broken or unreadable"}},
]


EGYPT: dict[str, Any] = {
    "names": {"ar": "مصر"},
    "country": "EG",
    "languages": ["ar"],
    "direction": "rtl",
    "time_zone": "Africa/Cairo",
}
BRAZIL: dict[str, Any] = {
    "names": {"ar": "البرازيل", "pt": "Brasil"},
    "country": "BR",
    "languages": ["pt"],
    "time_zone": "America/Sao_Paulo",
}


def make_user(name: str, **extra: Any) -> User:
    return User.objects.create_user(f"{name.lower()}@example.org", name, PASSWORD, **extra)


def sign_in(client: Client, user: User) -> None:
    """As after `force_login`, by the row of the session alone: no other row is read or written."""
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    key = get_random_string(32).lower()
    store._session_key = key
    store.create_model_instance(dict(store.items())).save(force_insert=True)
    client.cookies[settings.SESSION_COOKIE_NAME] = key


def make_cohort(team: Team, label: str, *members: User, **extra: Any) -> Cohort:
    cohort = Cohort.objects.create(team=team, label=label, **extra)
    CohortMember.objects.bulk_create(CohortMember(cohort=cohort, user=user) for user in members)
    return cohort


def make_consent_version(team: Team, number: int = 1) -> ConsentVersion:
    version = ConsentVersion.objects.create(team=team, number=number)
    ConsentText.objects.create(version=version, language="en", body=f"We keep your answers. Version {number}.")
    ConsentText.objects.create(version=version, language="ar", body=f"نحتفظ بإجاباتك. النسخة {number}.")
    version.published_at = timezone.now()  # texts first: the database keeps those of a version in force
    version.save()
    return version


def make_benchmark(team: Team, slug: str, **roles: User) -> Benchmark:
    """A benchmark with one rating stage. Roles by name: owner=..., reviewer=..."""
    key = hashlib.sha256(slug.encode()).hexdigest()
    name = slug.replace("-", " ").title()
    benchmark = Benchmark.objects.create(team=team, name=name, slug=slug, pseudonym_key=key)
    for role, user in roles.items():
        Role.objects.create(benchmark=benchmark, user=user, name=Role.Name(role))
    Stage.objects.create(
        benchmark=benchmark,
        key="relevance",
        name="Relevance rating",
        display="image",
        sheet=SHEET,
        skip_reasons=SKIP_REASONS,
        target_answers=2,
        instructions={"en": "Look first, then rate."},
    )
    return benchmark


def make_items(stage: Stage, count: int, *, images: bool = False) -> list[Item]:
    """Items with running keys; pictures of their own only when asked for, since most tests look at none."""
    first = stage.items.count()
    items = Item.objects.bulk_create(
        Item(
            stage=stage,
            key=f"item-{number:05}",
            concept=CONCEPTS[number % len(CONCEPTS)],
            origin=("Egypt", "Brazil")[number % 2],
            condition=("natural", "generated")[number // 2 % 2],
        )
        for number in range(first, first + count)
    )
    draw_images(items) if images else stand_in(items)
    return items


def stand_in(items: Sequence[Item]) -> None:
    """One row of a picture for all of them: without one a campaign would not open. Its bytes are nowhere."""
    if items:
        facts = {"format": "png", "bytes": 1, "width": 320, "height": 240}
        team = items[0].stage.benchmark.team
        image, _made = Image.objects.get_or_create(team=team, sha256="1" * 64, defaults=facts)
        ItemImage.objects.bulk_create((ItemImage(item=item, image=image) for item in items), batch_size=5000)


@functools.lru_cache(maxsize=500)
def plain_png(key: str, width: int, height: int) -> bytes:
    """A picture of one colour, which follows from the key. The tests draw the same few again and again."""
    from PIL import Image as Pillow

    hue = hashlib.sha256(key.encode()).digest()
    buffer = io.BytesIO()
    Pillow.new("RGB", (width, height), (hue[0], hue[1], hue[2])).save(buffer, "PNG")
    return buffer.getvalue()


def draw_images(items: Sequence[Item], width: int = 320, height: int = 240) -> None:
    """A plain picture of its own for each of these items of one team, stored as uploads would be."""
    if not items:
        return
    team = items[0].stage.benchmark.team
    files = {item.pk: plain_png(item.key, width, height) for item in items}
    names = {pk: hashlib.sha256(data).hexdigest() for pk, data in files.items()}
    facts = {"team": team, "format": "png", "width": width, "height": height}
    new = {sha: Image(sha256=sha, bytes=len(files[pk]), **facts) for pk, sha in names.items()}
    Image.objects.bulk_create(new.values(), ignore_conflicts=True)
    images = {image.sha256: image for image in Image.objects.filter(team=team, sha256__in=new)}
    for pk, sha in names.items():
        if not default_storage.exists(images[sha].original_name):
            default_storage.save(images[sha].original_name, ContentFile(files[pk]))
    ItemImage.objects.filter(item__in=items, role="image").delete()
    ItemImage.objects.bulk_create(
        ItemImage(item=item, image=images[names[item.pk]], alt=f"A {item.concept}") for item in items
    )


def draw_image(item: Item, width: int = 320, height: int = 240) -> ItemImage:
    draw_images([item], width, height)
    return item.images.get(role="image")


@dataclass
class World:
    """Two teams that must never see each other, and everybody a flow needs."""

    team: Team
    other_team: Team
    egypt: Cohort
    brazil: Cohort
    other_cohort: Cohort
    consent_version: ConsentVersion
    benchmark: Benchmark
    other_benchmark: Benchmark
    nour: User  # annotator, Egypt
    tarek: User  # annotator, Egypt
    bia: User  # annotator, Brazil
    caio: User  # annotator, Brazil
    reviewer: User  # reviewer of the benchmark
    manager: User  # manages the cohort Egypt, holds no other role
    mara: User  # researcher of the benchmark
    owner: User  # owner of the benchmark
    team_admin: User  # admin of Nile Lab, no role in the benchmark
    site_admin: User  # is_staff
    stranger: User  # belongs to nothing
    rival: User  # admin of Other Lab, owner of its benchmark
    rival_rater: User  # annotator of Other Lab
    items: list[Item] = field(default_factory=list)

    @property
    def researcher(self) -> User:
        return self.mara

    @property
    def stage(self) -> Stage:
        return self.benchmark.stages.get()

    @property
    def annotators(self) -> list[User]:
        return [self.nour, self.tarek, self.bia, self.caio]

    def client(self, user: User | None = None, **extra: Any) -> Client:
        """A browser, signed in as `user`; without one, a visitor's."""
        client = Client(**extra)
        if user is not None:
            sign_in(client, user)
        return client

    def add_items(self, count: int, *, images: bool = False) -> list[Item]:
        made = make_items(self.stage, count, images=images)
        self.items.extend(made)
        return made

    def add_annotators(self, cohort: Cohort, count: int, *, prefix: str = "") -> list[User]:
        """More members of a cohort, with consent to its team's current version, and their raters."""
        stem = prefix or cohort.label.lower()
        first = User.objects.filter(email__startswith=f"{stem}-").count() + 1
        people = User.objects.bulk_create(
            User(email=f"{stem}-{number}@example.org", name=f"{stem.title()} {number}", password="!")
            for number in range(first, first + count)
        )
        CohortMember.objects.bulk_create(CohortMember(cohort=cohort, user=user) for user in people)
        Rater.objects.bulk_create(Rater(kind=Rater.Kind.PERSON, user=user) for user in people)
        self.give_consent(cohort.team, *people)
        return people

    def give_consent(self, team: Team, *users: User) -> None:
        version = team.consent_versions.filter(published_at__isnull=False).order_by("-number").first()
        if version is not None:
            Consent.objects.bulk_create(Consent(user=user, version=version, language="en") for user in users)


def make_world() -> World:
    """Build the world. A few dozen inserts; no picture is drawn."""
    team = Team.objects.create(name="Nile Lab", slug="nile-lab")
    other_team = Team.objects.create(name="Other Lab", slug="other-lab")
    raters = {name: make_user(name) for name in ("Nour", "Tarek", "Bia", "Caio")}
    rival_rater = make_user("Rolf")
    staff = {name: make_user(name) for name in ("Reviewer", "Manager", "Mara", "Owner", "Admin", "Stranger", "Rival")}
    site_admin = make_user("Siteadmin", is_staff=True, is_superuser=True)
    egypt = make_cohort(team, "Egypt", raters["Nour"], raters["Tarek"], **EGYPT)
    brazil = make_cohort(team, "Brazil", raters["Bia"], raters["Caio"], **BRAZIL)
    other_cohort = make_cohort(other_team, "Norway", rival_rater, country="NO", languages=["nb"])
    CohortManager.objects.create(cohort=egypt, user=staff["Manager"])
    for name, role in (("Mara", "member"), ("Owner", "member"), ("Reviewer", "member"), ("Admin", "admin")):
        TeamMember.objects.create(team=team, user=staff[name], role=role)
    TeamMember.objects.create(team=other_team, user=staff["Rival"], role=TeamMember.Role.ADMIN)
    version = make_consent_version(team)
    world = World(
        team=team,
        other_team=other_team,
        egypt=egypt,
        brazil=brazil,
        other_cohort=other_cohort,
        consent_version=version,
        benchmark=make_benchmark(
            team, "sea-and-river", owner=staff["Owner"], researcher=staff["Mara"], reviewer=staff["Reviewer"]
        ),
        other_benchmark=make_benchmark(other_team, "fjord-songs", owner=staff["Rival"]),
        nour=raters["Nour"],
        tarek=raters["Tarek"],
        bia=raters["Bia"],
        caio=raters["Caio"],
        reviewer=staff["Reviewer"],
        manager=staff["Manager"],
        mara=staff["Mara"],
        owner=staff["Owner"],
        team_admin=staff["Admin"],
        site_admin=site_admin,
        stranger=staff["Stranger"],
        rival=staff["Rival"],
        rival_rater=rival_rater,
    )
    world.give_consent(team, *world.annotators)
    return world
