"""The pages of benchmarks, through the front door; and who finds which."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from benchmarks.models import Benchmark, Item, ItemImage, Role, Stage
from benchmarks.services.roles import set_role
from jobs.models import Event, Job
from jobs.services import runner
from people.models import TeamMember
from tests.archives import faulty_archive

pytestmark = pytest.mark.django_db


def page(client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200, (url, answer.status_code)
    return answer.content.decode()


def test_from_nothing_to_items_in_a_browser(world):
    client = world.client(world.mara)
    assert "Create benchmark" in page(client, "/benchmarks/")
    assert "CAIRE, universal set" in page(client, "/benchmarks/new/")
    response = client.post(
        "/benchmarks/new/", {"recipe": "caire-universal", "name": "Ten Countries", "team": world.team.pk}
    )
    assert response.headers["Location"] == "/b/ten-countries/"
    overview = page(client, "/b/ten-countries/")
    assert "Import items" in overview and "Table 12" in overview and "not in the team yet" in overview
    assert "No items yet" in page(client, "/b/ten-countries/items/")
    assert "Concepts with labels" in page(client, "/b/ten-countries/import/"), "the chain begins with prompts"
    assert "natural, generated" in page(client, "/b/ten-countries/import/?stage=relevance")
    address = "/b/ten-countries/import/manifest.csv?stage=relevance"
    sample = client.get(address).getvalue().decode("utf-8-sig").splitlines()
    assert len(sample) == 401 and sample[1].startswith("natural/br/breakfast.jpg,natural/br/breakfast,breakfast,Brazil")

    upload = SimpleUploadedFile("pictures.zip", faulty_archive(), "text/plain")
    sent = client.post("/b/ten-countries/import/", {"stage": _stage_of("ten-countries"), "archive": upload})
    job = Job.objects.get()
    assert sent.headers["Location"] == f"/jobs/{job.pk}/"
    runner.run(job.pk)
    done = page(client, f"/jobs/{job.pk}/")
    assert "View items" in done and "bomb.png" in done and "Import of pictures.zip" in done
    assert "6 rows rejected" in page(client, "/b/ten-countries/import/")
    assert "4 items" in page(client, "/b/ten-countries/items/?stage=relevance")
    assert "Open the whole chain" in page(client, "/b/ten-countries/")
    chosen = page(client, "/b/ten-countries/items/?stage=relevance&concept=music&condition=generated")
    assert "1 item with what you chose" in chosen
    assert "No items match these filters" in page(
        client, "/b/ten-countries/items/?stage=relevance&concept=music&origin=Egypt"
    )
    item = Item.objects.get(key="one")
    detail = page(client, f"/b/ten-countries/items/{item.pk}/")
    assert "https://example.org/a" in detail and "CC BY 4.0" in detail and "SHA-256" in detail


def _stage_of(slug: str) -> int:
    return Benchmark.objects.get(slug=slug).stages.get(key="relevance").pk


def test_a_blank_one_needs_a_free_address_and_may_begin_with_a_question(world):
    client = world.client(world.mara)
    data = {"recipe": "blank", "name": "شاي", "team": world.team.pk}
    client.post("/benchmarks/new/", data | {"slug": "no-question"})
    assert not Benchmark.objects.get(slug="no-question").stages.exists()
    data["question"] = "Is this tea from {target}?"
    other = world.other_benchmark.slug
    taken = client.post("/benchmarks/new/", data | {"slug": other}).content.decode()
    assert f"“{other}-2” is free" in taken and "This address is taken" not in taken
    Benchmark.objects.filter(pk=world.benchmark.pk).update(slug=f"{other}-2")
    assert f"“{other}-3” is free" in client.post("/benchmarks/new/", data | {"slug": other}).content.decode()
    made = client.post("/benchmarks/new/", data)
    assert made.headers["Location"] == "/b/benchmark/"
    assert "Is this tea from this culture?" in page(client, "/b/benchmark/")
    elsewhere = client.post("/benchmarks/new/", data | {"team": world.other_team.pk, "name": "X"})
    assert elsewhere.status_code == 200 and not Benchmark.objects.filter(name="X").exists()


def test_items_of_words_show_their_words_and_no_empty_picture(world):
    Stage.objects.filter(pk=world.stage.pk).update(pictures="none", display="words")
    item = world.add_items(1)[0]
    item.images.all().delete()
    Item.objects.filter(pk=item.pk).update(text="A cup of tea")
    html = page(world.client(world.mara), f"/b/{world.benchmark.slug}/items/")
    assert "A cup of tea" in html and "No picture" not in html


def test_items_come_in_pages_by_key(world):
    world.add_items(130)
    client = world.client(world.reviewer)
    url, item_ids = f"/b/{world.benchmark.slug}/items/", []
    while url:
        answer = client.get(url)
        item_ids += [item.pk for item in answer.context["list"].items]
        further = answer.context["list"].later
        url = f"/b/{world.benchmark.slug}/items/?{further}" if further else ""
    assert item_ids == sorted(set(item_ids)) and len(item_ids) == 130
    assert client.get(f"/b/{world.benchmark.slug}/items/?after=x&stage__benchmark=1").status_code == 200
    assert client.get(f"/b/{world.benchmark.slug}/items/?stage=nothing").status_code == 404
    for name in ("stage", "concept", "origin", "condition", "after"):
        answer = client.get(f"/b/{world.benchmark.slug}/items/?{name}=%00")
        assert (answer.status_code, answer.context["list"].total) == (200, 130), name


def test_an_item_of_another_benchmark_is_not_found_here(world):
    theirs = Item.objects.create(stage=world.other_benchmark.stages.get(), key="secret")
    assert world.client(world.owner).get(f"/b/{world.benchmark.slug}/items/{theirs.pk}/").status_code == 404
    assert world.client(world.rival).get(f"/b/{world.other_benchmark.slug}/items/{theirs.pk}/").status_code == 200


def test_a_source_that_is_no_web_address_is_no_link(world):
    (item,) = world.add_items(1, images=True)
    item.images.update(source="javascript:alert(1)")
    detail = page(world.client(world.mara), f"/b/{world.benchmark.slug}/items/{item.pk}/")
    assert "javascript:alert(1)" in detail and 'href="javascript' not in detail


WHO = {
    # person: see, work on, roles
    "owner": (200, 200, 200),
    "mara": (200, 200, 404),
    "reviewer": (200, 404, 404),
    "team_admin": (200, 404, 200),
    "site_admin": (200, 404, 404),
    "stranger": (404, 404, 404),
    "rival": (404, 404, 404),
    "nour": (404, 404, 404),
    "manager": (404, 404, 404),
}


@pytest.mark.parametrize("name", WHO)
def test_who_finds_which_page(world, name):
    (item,) = world.add_items(1)
    client = world.client(getattr(world, name))
    base = f"/b/{world.benchmark.slug}/"
    see, work_on, roles = WHO[name]
    for url in ("", "items/", f"items/{item.pk}/"):
        assert client.get(base + url).status_code == see, url
    for url in ("import/", "import/manifest.csv"):
        assert client.get(base + url).status_code == work_on, url
    assert client.get(f"{base}roles/").status_code == roles
    assert (world.benchmark.name in client.get("/benchmarks/").content.decode()) == (
        see == 200 and name != "site_admin"
    )
    role = world.benchmark.roles.get(user=world.reviewer)
    posted = client.post(f"{base}roles/{role.pk}/", {"name": "researcher"})
    assert posted.status_code == (302 if roles == 200 else 404)
    role.refresh_from_db()
    assert role.name == ("researcher" if roles == 200 else "reviewer")
    if work_on == 404:
        archive = SimpleUploadedFile("a.zip", b"x")
        assert client.post(f"{base}import/", {"archive": archive}).status_code == 404
        assert not Job.objects.exists()


def test_a_visitor_is_asked_to_sign_in(world):
    for url in ("", "items/", "import/", "roles/"):
        answer = world.client().get(f"/b/{world.benchmark.slug}/{url}")
        assert answer.status_code == 302 and "/sign-in" in answer.headers["Location"]


def test_a_role_ends_with_team_membership(world):
    TeamMember.objects.filter(user=world.mara).delete()
    assert world.client(world.mara).get(f"/b/{world.benchmark.slug}/").status_code == 404
    assert "left the team" in page(world.client(world.owner), f"/b/{world.benchmark.slug}/roles/")


def test_a_site_admin_leaves_a_trace_but_not_one_for_every_refresh(world):
    client = world.client(world.site_admin)
    for _again in range(3):
        page(client, f"/b/{world.benchmark.slug}/")
    assert Event.objects.filter(verb="admin.looked", scope=world.benchmark.scope, actor=world.site_admin).count() == 1


def test_roles_are_given_changed_and_taken(world):
    client, url = world.client(world.owner), f"/b/{world.benchmark.slug}/roles/"
    assert "Admin" in page(client, url)
    client.post(url, {"user": world.team_admin.pk, "name": "reviewer"})
    assert world.benchmark.roles.get(user=world.team_admin).name == Role.Name.REVIEWER
    client.post(url, {"user": world.rival.pk, "name": "owner"})
    assert not world.benchmark.roles.filter(user=world.rival).exists()
    own = world.benchmark.roles.get(user=world.owner)
    answer = client.post(f"{url}{own.pk}/", {"name": "none"}, follow=True)
    assert answer.redirect_chain == [(url, 302)] and "always has an owner" in answer.content.decode()
    assert client.post(f"{url}{own.pk}/", {"name": "emperor"}).status_code == 302
    assert set(world.benchmark.roles.values_list("name", flat=True)) == {"owner", "researcher", "reviewer"}
    other = world.other_benchmark.roles.get()
    assert client.post(f"{url}{other.pk}/", {"name": "none"}).status_code == 404
    mara = world.benchmark.roles.get(user=world.mara)
    client.post(f"{url}{mara.pk}/", {"name": "none"})
    assert not world.benchmark.roles.filter(user=world.mara).exists()


def test_who_gives_up_the_own_role_is_led_where_there_is_still_something_to_see(world):
    url = f"/b/{world.benchmark.slug}/roles/"
    set_role(world.benchmark, world.mara, Role.Name.OWNER, world.owner)
    own = world.benchmark.roles.get(user=world.owner)
    answer = world.client(world.owner).post(f"{url}{own.pk}/", {"name": "none"}, follow=True)
    assert answer.redirect_chain == [("/benchmarks/", 302)] and answer.status_code == 200


def test_where_nobody_has_a_role_the_page_says_so(world):
    url = f"/b/{world.benchmark.slug}/roles/"
    admin = world.client(world.team_admin)
    assert "No roles yet" not in page(admin, url)
    world.benchmark.roles.all().delete()
    assert "No roles yet" in page(admin, url)


def test_pictures_that_lead_somewhere_say_where_and_cards_differ(world):
    first, second = world.add_items(2, images=True)
    Item.objects.filter(pk__in=[first.pk, second.pk]).update(concept="dance", origin="Egypt", condition="natural")
    ItemImage.objects.update(alt="")
    client, base = world.client(world.mara), f"/b/{world.benchmark.slug}/"
    overview = page(client, base)
    for item in (first, second):
        assert f'<a href="{base}items/{item.pk}/" aria-label="dance, Egypt, natural">' in overview
    items = page(client, f"{base}items/")
    assert all(f'<span class="key"><bdi dir="ltr">{item.key}</bdi></span>' in items for item in (first, second))


def test_the_jobs_of_a_benchmark_are_seen_by_its_people(world):
    job = Job.objects.create(kind="import_items", title="Import", scope=world.benchmark.scope)
    expected = {"owner": 200, "mara": 200, "reviewer": 200, "site_admin": 200, "rival": 404, "nour": 404}
    for name, status in expected.items():
        assert world.client(getattr(world, name)).get(f"/jobs/{job.pk}/").status_code == status, name
    assert world.client(world.reviewer).post(f"/jobs/{job.pk}/cancel/").status_code == 404
    assert world.client(world.mara).post(f"/jobs/{job.pk}/cancel/").status_code == 302


def test_overview_in_arabic_names_the_culture_once(world):
    client = world.client(world.mara)
    client.post("/benchmarks/new/", {"recipe": "caire-universal", "name": "Ten Countries", "team": world.team.pk})
    type(world.mara).objects.filter(pk=world.mara.pk).update(language="ar")
    overview = page(client, "/b/ten-countries/")
    assert "ما مدى صلة هذه الصورة بثقافة هذا المجتمع؟" in overview and "ثقافة هذه الثقافة" not in overview
