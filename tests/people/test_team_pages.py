"""Teams, cohorts and consent texts: who may see and change what."""

import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from jobs.models import Event
from people.models import Cohort, CohortManager, CohortMember, ConsentText, ConsentVersion, Team, TeamMember, User
from people.services import consent, memberships
from tests.forms import inputs_of
from tests.personas import World

COHORT = {
    "label": "Yoruba",
    "names": "yo: Yorùbá\nar: يوروبا",
    "country": "ng",
    "languages": "yo, en",
    "direction": "ltr",
    "time_zone": "Africa/Lagos",
}
WAIT_FOR_INVITATION = re.compile("Ask a team for an invitation|a team can invite you")


def status(world: World, user: Any, page: str, /, *args: Any, **data: str) -> int:
    app = "annotation" if page in ("cohort", "member_end", "consent", "consent_withdraw") else "people"
    client, url = world.client(user), reverse(f"{app}:{page}", args=args)
    return (client.post(url, data) if data else client.get(url)).status_code


def test_the_team_page_is_for_the_team(world: World) -> None:
    assert status(world, world.mara, "team", "nile-lab") == 200
    assert status(world, world.team_admin, "team", "nile-lab") == 200
    assert status(world, world.site_admin, "team", "nile-lab") == 200
    assert Event.objects.filter(verb="admin.looked", actor=world.site_admin).exists()
    for user in (world.nour, world.manager, world.rival, world.stranger):
        assert status(world, user, "team", "nile-lab") == 404


def test_an_empty_site_leads_its_administrator_to_the_first_team(world: World) -> None:
    for address in ("/benchmarks/", reverse("people:teams")):
        page = world.client(world.site_admin).get(address).content.decode()
        assert reverse("people:team_new") in page and not WAIT_FOR_INVITATION.search(page), address
        page = world.client(world.stranger).get(address).content.decode()
        assert reverse("people:team_new") not in page and WAIT_FOR_INVITATION.search(page), address


def test_the_first_team_takes_one_field_and_leads_to_its_benchmark(world: World) -> None:
    client = world.client(world.site_admin)
    page = client.get("/benchmarks/").content.decode()
    assert "You are in no team yet." in page and "Nobody else is here yet." not in page, "others can sign in"
    names = {name for name, _value in inputs_of(page.partition('id="begin"')[2])}
    assert names - {"csrfmiddlewaretoken"} == {"then", "name"}
    User.objects.exclude(pk=world.site_admin.pk).update(is_active=False)
    assert "Nobody else is here yet." in client.get("/benchmarks/").content.decode()
    refused = client.post(reverse("people:team_new"), {"name": "مختبر", "then": "benchmark"})
    assert (
        refused.status_code == 200 and 'name="then" value="benchmark"' in refused.text and 'name="slug"' in refused.text
    )
    reply = client.post(reverse("people:team_new"), {"name": "Lantern Lab", "then": "benchmark"})
    assert reply.headers["Location"] == "/benchmarks/new/" and client.get("/benchmarks/new/").status_code == 200
    assert "Welcome" not in client.get("/benchmarks/").content.decode()


def test_only_admins_see_what_changes_the_team(world: World) -> None:
    url = reverse("people:team", args=["nile-lab"])
    assert reverse("people:team_invite", args=["nile-lab"]) in world.client(world.team_admin).get(url).content.decode()
    page = world.client(world.mara).get(url).content.decode()
    assert "<form" in page and "Invite to the team" not in page and "Remove from team" not in page


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("team_invite", {"team_role": "admin"}),
        ("cohort_new", COHORT),
        ("consent_texts", {"text_en": "x", "publish": "1"}),
    ],
)
def test_what_changes_a_team_is_refused_to_all_but_its_admins(world: World, name: str, data: dict[str, str]) -> None:
    for user in (world.mara, world.reviewer, world.manager, world.nour, world.rival, world.stranger):
        assert status(world, user, name, "nile-lab", **data) == 404
    assert not world.team.invitations.exists() and not Cohort.objects.filter(label="Yoruba").exists()
    assert consent.current_version(world.team) == world.consent_version
    assert status(world, world.team_admin, name, "nile-lab", **data) in (200, 302)


def test_an_admin_changes_roles_and_takes_people_out_but_not_the_last_admin(world: World) -> None:
    client = world.client(world.team_admin)
    role = reverse("people:member_role", args=["nile-lab", world.mara.pk])
    remove = reverse("people:member_remove", args=["nile-lab", world.mara.pk])
    own = reverse("people:member_remove", args=["nile-lab", world.team_admin.pk])
    assert "A team needs an admin" in client.post(own, follow=True).content.decode()
    assert client.post(role, {"role": "owner"}).status_code == 400
    page = reverse("people:team", args=["nile-lab"])
    assert "1 team admin." in client.get(page).content.decode(), "members are not counted"
    client.post(role, {"role": "admin"})
    assert TeamMember.objects.get(user=world.mara).role == "admin"
    assert "2 team admins." in client.get(page).content.decode()
    client.post(remove)
    assert not TeamMember.objects.filter(user=world.mara).exists()
    assert world.client(world.mara).post(remove).status_code == 404


def test_only_site_admins_make_teams(world: World) -> None:
    data = {"name": "Third Lab", "slug": "third-lab"}
    for user in (world.team_admin, world.mara, world.nour, world.stranger):
        assert status(world, user, "team_new") == 404
        assert status(world, user, "team_new", **data) == 404
    assert not Team.objects.filter(slug="third-lab").exists()
    assert status(world, world.site_admin, "team_new", **data) == 302
    assert Team.objects.get(slug="third-lab").members.get().user == world.site_admin
    for slug in ("third-lab", "new", "Nile-Lab"):
        assert status(world, world.site_admin, "team_new", name="Again", slug=slug) == 200
    assert status(world, world.site_admin, "team_new", name="Léngua & Culture", slug="") == 302
    assert Team.objects.filter(slug="lengua-culture").exists(), "made of the name where none is written"
    reply = world.client(world.site_admin).post(reverse("people:team_new"), {"name": "مختبر", "slug": ""})
    assert "Write a short name in Latin letters" in reply.content.decode()


def test_a_cohort_is_made_and_changed(world: World) -> None:
    client = world.client(world.team_admin)
    made = client.post(reverse("people:cohort_new", args=["nile-lab"]), COHORT)
    cohort = Cohort.objects.get(label="Yoruba")
    assert made.url == reverse("annotation:cohort", args=[cohort.pk])
    assert (cohort.country, cohort.languages) == ("NG", ["yo", "en"])
    assert cohort.names == {"yo": "Yorùbá", "ar": "يوروبا"}
    edit = reverse("people:cohort_edit", args=[cohort.pk])
    assert "yo: Yorùbá" in client.get(edit).content.decode()
    assert client.post(edit, COHORT | {"label": "Yoruba people", "country": ""}).status_code == 302
    cohort.refresh_from_db()
    assert (cohort.label, cohort.country) == ("Yoruba people", "")


def test_a_manager_changes_what_a_cohort_speaks_and_not_what_it_is_called(world: World) -> None:
    """Its name is in the question that people are asked: it must not turn into another in the middle."""
    edit = reverse("people:cohort_edit", args=[world.egypt.pk])
    before = (world.egypt.label, world.egypt.names)
    page = world.client(world.manager).get(edit).content.decode()
    assert "Only a team admin can change it" in page
    data = COHORT | {"label": "Norway", "names": "en: Norway\nar: Norway"}
    assert world.client(world.manager).post(edit, data).status_code == 302
    world.egypt.refresh_from_db()
    assert (world.egypt.label, world.egypt.names) == before
    assert world.egypt.languages == ["yo", "en"]
    assert "Only a team admin" not in world.client(world.team_admin).get(edit).content.decode()
    assert world.client(world.team_admin).post(edit, data).status_code == 302
    world.egypt.refresh_from_db()
    assert (world.egypt.label, world.egypt.names["ar"]) == ("Norway", "Norway")
    told = Event.objects.filter(verb="cohort.changed").latest("pk").data
    assert (told["before"], told["now"]["label"]) == ({"label": before[0], "names": before[1]}, "Norway")


@pytest.mark.parametrize(
    "wrong",
    [
        {"label": "Egypt"},
        {"country": "XQ"},
        {"country": "NGA"},
        {"names": "Yorùbá"},
        {"names": "yo:"},
        {"languages": "yo; English!"},
        {"direction": "up"},
        {"time_zone": "Africa/Nowhere"},
    ],
)
def test_a_cohort_that_makes_no_sense_is_not_kept(world: World, wrong: dict[str, str]) -> None:
    page = world.client(world.team_admin).post(reverse("people:cohort_new", args=["nile-lab"]), COHORT | wrong)
    assert page.status_code == 200 and 'class="msg err"' in page.content.decode()
    assert not Cohort.objects.filter(label="Yoruba").exists()


def test_the_manager_of_one_cohort_does_not_see_another(world: World) -> None:
    assert status(world, world.manager, "cohort", world.egypt.pk) == 200
    assert status(world, world.manager, "cohort_edit", world.egypt.pk) == 200
    for name in ("cohort", "cohort_edit"):
        assert status(world, world.manager, name, world.brazil.pk) == 404
    assert status(world, world.manager, "cohort_invite", world.brazil.pk, note="x") == 404
    for user in (world.nour, world.rival, world.stranger):
        assert status(world, user, "cohort", world.egypt.pk) == 404


def test_a_researcher_looks_at_a_cohort_and_changes_nothing(world: World) -> None:
    page = world.client(world.mara).get(reverse("annotation:cohort", args=[world.egypt.pk])).content.decode()
    assert "Nour" in page and "nour@example.org" not in page and "Remove member" not in page
    member = world.nour.cohort_memberships.get()
    assert status(world, world.mara, "member_end", member.pk, sure="1") == 404
    assert status(world, world.mara, "cohort_invite", world.egypt.pk, note="x") == 404


def test_a_membership_ends_and_the_person_gets_no_more_work(world: World) -> None:
    member = CohortMember.objects.get(user=world.nour)
    assert status(world, world.rival, "member_end", member.pk, sure="1") == 404
    assert memberships.active_cohorts(world.nour).exists()
    assert status(world, world.manager, "member_end", member.pk, sure="1") == 302
    assert not memberships.active_cohorts(world.nour).exists()
    assert CohortMember.objects.filter(pk=member.pk).exists(), "the row stays: old answers keep their cohort"


def test_team_admins_name_managers_and_managers_do_not(world: World) -> None:
    add = reverse("people:manager_add", args=[world.egypt.pk])
    assert world.client(world.manager).post(add, {"user": world.tarek.pk}).status_code == 404
    client = world.client(world.team_admin)
    for outsider in (world.stranger, world.rival, world.bia):
        client.post(add, {"user": outsider.pk})
    assert CohortManager.objects.filter(cohort=world.egypt).count() == 1
    client.post(add, {"user": world.tarek.pk})
    assert status(world, world.tarek, "cohort", world.egypt.pk) == 200
    remove = reverse("people:manager_remove", args=[world.egypt.pk, world.tarek.pk])
    assert world.client(world.manager).post(remove).status_code == 404
    client.post(remove)
    assert status(world, world.tarek, "cohort", world.egypt.pk) == 404


def test_a_new_version_is_drafted_put_in_force_and_asked_of_everybody(world: World) -> None:
    admin, url = world.client(world.team_admin), reverse("people:consent_texts", args=["nile-lab"])
    admin.post(url, {"text_en": "Second text", "text_ar": "النص الثاني"})
    assert consent.has_consented(world.nour, world.team), "a draft asks nobody"
    assert "Second text" in admin.get(url).content.decode()
    admin.post(url, {"text_en": "Second text, mended", "text_ar": "النص الثاني", "publish": "1"})
    assert not consent.has_consented(world.nour, world.team)
    nour, page = world.client(world.nour), reverse("annotation:consent", args=[world.team.pk])
    assert "Second text, mended" in nour.get(page).content.decode()
    assert "النص الثاني" in nour.get(page, {"language": "ar"}).content.decode()
    version = consent.current_version(world.team)
    stale = {"version": str(world.consent_version.pk), "language": "en"}
    assert "The text changed while you were reading" in nour.post(page, stale).content.decode()
    assert not consent.has_consented(world.nour, world.team)
    answer = nour.post(page, {"version": str(version.pk), "language": "ar", "next": "/work/history/"})
    assert answer.url == "/work/history/"
    assert consent.has_consented(world.nour, world.team)
    assert world.nour.consents.get(version=version).language == "ar"


def test_a_text_in_force_never_changes(world: World) -> None:
    admin, url = world.client(world.team_admin), reverse("people:consent_texts", args=["nile-lab"])
    before = list(world.consent_version.texts.order_by("pk").values_list("language", "body"))
    admin.post(url, {"text_en": "Another", "publish": "1"})
    assert list(world.consent_version.texts.order_by("pk").values_list("language", "body")) == before
    page = admin.get(reverse("people:consent_version", args=["nile-lab", 1])).content.decode()
    assert "We keep your answers. Version 1." in page


def test_an_empty_text_is_not_put_in_force(world: World) -> None:
    url = reverse("people:consent_texts", args=["nile-lab"])
    page = world.client(world.team_admin).post(url, {"text_en": "  ", "publish": "1"})
    assert "There is no text yet" in page.content.decode()
    assert consent.current_version(world.team) == world.consent_version


def test_the_consent_page_is_for_those_it_concerns(world: World) -> None:
    for user in (world.stranger, world.rival, world.rival_rater):
        assert status(world, user, "consent", world.team.pk) == 404
        assert status(world, user, "consent_withdraw", world.team.pk, sure="1") == 404
    assert status(world, world.rival_rater, "consent", world.other_team.pk) == 200


@pytest.mark.parametrize("code", ["pt-BR", "pt-br", "pt", "pt-PT"])
def test_who_reads_in_a_language_of_a_country_gets_its_consent_text_and_name(world: World, code: str) -> None:
    """However the admin wrote its code; somebody who reads in another language gets neither."""
    admin, names = world.client(world.team_admin), f"{code}: Brasil"
    form = {**COHORT, "label": "Brazil", "languages": code, "names": names}
    assert admin.post(reverse("people:cohort_edit", args=[world.brazil.pk]), form).status_code == 302
    texts = {"text_en": "We keep them.", f"text_{code}": "Guardamos as respostas.", "publish": "1"}
    assert admin.post(reverse("people:consent_texts", args=["nile-lab"]), texts).status_code == 302
    world.bia.language, world.caio.language = "pt-br", "ar"
    for person in (world.bia, world.caio):
        person.save()
        reads = person == world.bia
        asked = world.client(person).get(reverse("annotation:consent", args=[world.team.pk])).content.decode()
        assert ("Guardamos as respostas." in asked, "We keep them." in asked) == (reads, not reads)
        own_page = world.client(person).get(reverse("people:me")).content.decode()
        assert ('<b dir="auto">Brasil</b>' in own_page) == reads


def test_a_consent_text_in_a_language_that_django_does_not_name_can_be_read(world: World) -> None:
    version = ConsentVersion.objects.create(team=world.team, number=7)
    for language in ("en", "zh", "qya"):
        ConsentText.objects.create(version=version, language=language, body=f"The text in {language}")
    ConsentVersion.objects.filter(pk=version.pk).update(published_at=timezone.now())
    page = world.client(world.nour).get(reverse("annotation:consent", args=[world.team.pk]))
    assert page.status_code == 200
    html = page.content.decode()
    assert "简体中文" in html and "Qya" in html
