"""A person's own figures: theirs alone, and nobody else's anywhere."""

from annotation.models import Annotation, Campaign
from people.services.raters import rater_of
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.module_world import built_once
from tests.personas import World


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(4)
    campaign = an_open_campaign(world)
    give_ratings(campaign, world.egypt, world.nour, dict.fromkeys(world.items[:3], "3"))
    give_ratings(campaign, world.egypt, world.tarek, dict.fromkeys(world.items, "5"))
    return campaign


def test_a_person_sees_how_much_and_how_fast(world: World, campaign: Campaign) -> None:
    given = Annotation.objects.filter(rater__user=world.nour).order_by("pk")
    Annotation.objects.filter(pk=given[0].pk).update(active_seconds=90)
    Annotation.objects.filter(pk=given[2].pk).update(live=False, counted=False, uncounted_because="taken_back")
    assignment = Annotation.objects.get(live=False).assignment
    assignment.state, assignment.skip_reason = "skipped", "unknown"
    assignment.save()
    page = world.client(world.nour).get("/me/statistics/").content.decode()
    assert "Round one" in page
    assert ">2</td>" in page, "answers"
    assert ">49.3</td>" in page, "the median of 90 and 8.5"  # (90 + 8.5) / 2 = 49.25
    assert '>1 <small><bdi dir="ltr">33 %</bdi>' in page


def test_a_name_of_a_recipe_is_in_the_language_of_the_page_and_one_of_a_researcher_stays(
    world: World, campaign: Campaign
) -> None:
    client = world.client(world.nour)
    world.nour.language = "ar"
    world.nour.save()
    assert "Round one" in client.get("/me/statistics/").content.decode()
    Campaign.objects.filter(pk=campaign.pk).update(name="Captions")
    page = client.get("/me/statistics/").content.decode()
    assert "أوصاف الصور" in page and "Captions" not in page


def test_it_says_nothing_about_others(world: World, campaign: Campaign) -> None:
    page = world.client(world.nour).get("/me/statistics/").content.decode()
    assert ">3</td>" in page and ">4</td>" not in page
    assert world.tarek.name not in page and world.benchmark.pseudonym(rater_of(world.tarek).pk) not in page
    for word in ("lpha", "greement", "Spearman", "ounted:"):
        assert word not in page


def test_there_is_no_way_to_anothers(world: World, campaign: Campaign) -> None:
    client = world.client(world.nour)
    for user in (world.nour, world.tarek):
        assert client.get(f"/b/{world.benchmark.slug}/people/{rater_of(user).pk}/").status_code == 404
    assert client.get(f"/b/{world.benchmark.slug}/people/").status_code == 404
    assert client.get(f"/me/statistics/?user={world.tarek.pk}").content.decode().count(">3</td>") == 1
    assert client.post("/me/statistics/").status_code == 405
    assert world.client().get("/me/statistics/").status_code == 302


def test_who_has_not_begun_is_told_where_work_is(world: World, campaign: Campaign) -> None:
    page = world.client(world.bia).get("/me/statistics/").content.decode()
    assert "No answers yet." in page and 'href="/work/"' in page
    assert "/me/statistics/" in world.client(world.nour).get("/work/history/").content.decode()
