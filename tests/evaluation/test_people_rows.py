"""What opens below a row of the list of people: the same as their page shows, and nothing for who may not see that."""

import re
from datetime import timedelta

from django.utils import timezone

from annotation.models import Annotation, Campaign
from annotation.services.answers.exclusions import exclude
from evaluation.models import Snapshot
from people.models import CohortManager
from people.services.raters import rater_of
from tests.chains.link_client import text_of
from tests.evaluation.data import NOON, an_open_campaign, give_ratings
from tests.evaluation.test_measures import CHOICE, with_sheet
from tests.evaluation.test_people_page import NOMINAL, differing, from_a_file
from tests.evaluation.test_stored_reports import make_large, people_page
from tests.module_world import built_once
from tests.personas import World


@built_once
def campaign(world: World) -> Campaign:
    """Tarek lies 0 0 1 0 0 above Nour in the first half of the answers, and 1 1 1 2 1 in the second."""
    world.add_items(10)
    campaign = an_open_campaign(world)
    for user, digits in {world.nour: "1232112321", world.tarek: "1242123532"}.items():
        for minute, (item, code) in enumerate(zip(world.items, digits, strict=True)):
            give_ratings(campaign, world.egypt, user, {item: code}, at=NOON + timedelta(minutes=minute))
    return campaign


def address(world: World, query: str = "", rater: int | None = None) -> str:
    return f"/b/{world.benchmark.slug}/people/{rater or rater_of(world.tarek).pk}/summary/{query}"


def part(world: World, query: str = "") -> str:
    reply = world.client(world.mara).get(address(world, query))
    assert reply.status_code == 200
    return reply.content.decode()


def test_row_opens_what_the_page_of_the_person_shows(world: World, campaign: Campaign) -> None:
    page = people_page(world, f"?cohort={world.egypt.pk}")
    opens = [link.replace("&amp;", "&") for link in re.findall(r'data-opens="([^"]*)"', page)]
    assert address(world, f"?cohort={world.egypt.pk}") in opens and len(opens) == 2
    html = (
        world.client(world.mara).get(opens[opens.index(address(world, f"?cohort={world.egypt.pk}"))]).content.decode()
    )
    assert "<html" not in html and f'id="differs-{rater_of(world.tarek).pk}"' in html
    text = text_of(html)
    shown = r"(\d) this person (\d) the other"
    assert re.findall(shown, text) == re.findall(shown, differing(world, world.tarek, world.mara)[0])
    assert re.findall(shown, text)[0] == ("5", "3"), "the largest difference is first"
    assert "first half +0.20 (n = 5), second half +1.20 (n = 5)" in text
    assert f'href="/b/{world.benchmark.slug}/people/{rater_of(world.tarek).pk}/#exclude"' in html


def test_answers_without_times_of_their_own_show_no_change_over_time(world: World, campaign: Campaign) -> None:
    """Rows of a file without times all have that of the import."""
    assert people_page(world, f"?cohort={world.egypt.pk}").count("+1.00") and "first half" in part(world)
    Annotation.objects.filter(rater=rater_of(world.tarek)).update(submitted_at=NOON)
    page = people_page(world, f"?cohort={world.egypt.pk}")
    assert "+1.00" not in page and "No order in time." in page and "first half" not in part(world)


def test_only_who_works_on_the_benchmark_opens_a_row(world: World, campaign: Campaign) -> None:
    for user in (world.reviewer, world.manager, world.nour, world.stranger, world.rival):
        assert world.client(user).get(address(world)).status_code == 404, user
    assert world.client().get(address(world)).status_code == 302
    assert world.client(world.mara).post(address(world)).status_code == 405
    assert "data-opens" not in world.client(world.reviewer).get(f"/b/{world.benchmark.slug}/people/").content.decode()
    assert world.client(world.mara).get(address(world, rater=rater_of(world.rival_rater).pk)).status_code == 404
    for query in (f"?cohort={world.brazil.pk}", f"?cohort={world.other_cohort.pk}", "?cohort=x", "?cohort="):
        assert world.client(world.mara).get(address(world, query)).status_code == 404, query
    assert "Nobody else" in part(world, f"?cohort={world.egypt.pk}&stage=none"), "what is not asked is not compared"


def test_message_is_offered_to_who_may_send_one(world: World, campaign: Campaign) -> None:
    messages = f'href="/cohorts/{world.egypt.pk}/messages"'
    assert messages not in part(world)
    CohortManager.objects.create(cohort=world.egypt, user=world.mara)
    assert messages in part(world)


def test_row_of_an_excluded_person_says_why(world: World, campaign: Campaign) -> None:
    exclude(world.benchmark, rater_of(world.tarek), "Too <fast>", world.owner, timezone.now())
    html = part(world)
    assert "Too &lt;fast&gt;" in html and "#exclude" not in html


def test_row_opens_from_the_store_without_another_computation(world: World, campaign: Campaign) -> None:
    make_large(campaign)
    people_page(world, f"?cohort={world.egypt.pk}")
    [stored] = Snapshot.objects.values_list("computed_at", flat=True)
    assert "first half +0.20" in part(world, f"?cohort={world.egypt.pk}")
    assert [stored] == list(Snapshot.objects.values_list("computed_at", flat=True))


def test_codes_without_an_order_are_compared_by_shares(world: World) -> None:
    asked = with_sheet(world, {**CHOICE, "key": "relevance", "config": NOMINAL})
    items = list(asked.stage.items.order_by("pk"))[:2]
    for user, digits in {world.nour: "15", world.tarek: "11"}.items():
        give_ratings(asked, world.egypt, user, dict(zip(items, digits, strict=True)))
    text = text_of(part(world))
    assert "1 this person 5 the other" in text and "half" not in text, "two answers have no halves"


def test_rater_of_a_file_without_a_cohort_opens_too(world: World, campaign: Campaign) -> None:
    from_a_file(world, campaign, cohort="")
    opens = re.findall(r'data-opens="([^"]*)"', people_page(world, "?cohort=all"))
    assert len(opens) == 3
    for link in opens:
        assert world.client(world.mara).get(link.replace("&amp;", "&")).status_code == 200
