"""The people of a benchmark: how much each did, and whether it counts."""

import json
import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.models import Annotation, Campaign, Exclusion, Rating, Slot, Tally
from annotation.services.answers.submit import Submission, submit
from annotation.services.files import answer_files
from annotation.services.files.withdrawals import withdraw
from annotation.services.queue.next_work import get_or_claim_work
from evaluation.reports import differing_items
from jobs.models import Job
from jobs.services import runner
from people.models import Rater, User
from people.services.raters import rater_of
from tests.chains.link_client import text_of
from tests.evaluation.data import NOON, an_open_campaign, give_ratings
from tests.evaluation.test_measures import CHOICE, with_sheet
from tests.module_world import built_once
from tests.personas import World

NOMINAL = {"many": False, "options": [{"code": code, "label": {"en": code}} for code in "12345"]}


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(4)
    return an_open_campaign(world)


def rate_all(campaign: Campaign, user: User) -> int:
    rater, done = rater_of(user), 0
    row = campaign.cohorts.get(cohort__members__user=user)
    while (work := get_or_claim_work(rater, row, timezone.now())).current:
        submit(work.current.pk, rater, Submission({"relevance": "4"}, f"{user.pk}-{done}"), timezone.now())
        done += 1
    return done


def people(world: World, query: str = "") -> str:
    return f"/b/{world.benchmark.slug}/people/{query}"


def test_each_person_stands_there_with_what_they_did(world: World, campaign: Campaign) -> None:
    give_ratings(campaign, world.egypt, world.nour, dict.fromkeys(world.items[:3], "3"))
    give_ratings(campaign, world.egypt, world.tarek, {world.items[0]: "3"}, because="surplus")
    page = world.client(world.mara).get(people(world)).content.decode()
    name = world.benchmark.pseudonym(rater_of(world.nour).pk)
    row = page.split(name, 1)[1].split("</tr>", 1)[0]
    assert world.nour.name in row
    assert ">3</bdi></td>" in row
    assert ">8.5</bdi></td>" in row
    other = page.split(world.benchmark.pseudonym(rater_of(world.tarek).pk), 1)[1].split("</tr>", 1)[0]
    assert ">1</bdi></td>" in other
    assert ">0</bdi></td>" in other
    assert world.bia.name not in page


def test_reviewers_see_names_of_this_benchmark_only(world: World, campaign: Campaign) -> None:
    give_ratings(campaign, world.egypt, world.nour, {world.items[0]: "3"})
    rater = rater_of(world.nour)
    page = world.client(world.reviewer).get(people(world)).content.decode()
    assert world.benchmark.pseudonym(rater.pk) in page
    assert world.nour.name not in page
    assert world.client(world.reviewer).get(people(world, f"{rater.pk}/")).status_code == 404
    assert world.client(world.mara).get(people(world, f"{rater.pk}/")).status_code == 200


def test_a_cohort_is_picked_and_a_foreign_one_is_not_found(world: World, campaign: Campaign) -> None:
    give_ratings(campaign, world.egypt, world.nour, {world.items[0]: "3"})
    give_ratings(campaign, world.brazil, world.bia, {world.items[0]: "3"})
    client = world.client(world.mara)
    page = client.get(people(world, f"?cohort={world.egypt.pk}")).content.decode()
    assert world.nour.name in page
    assert world.bia.name not in page
    for wrong in (world.other_cohort.pk, "x"):
        assert client.get(people(world, f"?cohort={wrong}")).status_code == 404


def test_in_a_cohort_each_person_stands_against_the_rest(world: World, campaign: Campaign) -> None:
    codes = {world.nour: "1234", world.tarek: "2134"}  # ranks differ by 1, 1, 0, 0: rho = 1 - 6 x 2 / (4 x 15) = 0.8
    for user, digits in codes.items():
        give_ratings(campaign, world.egypt, user, dict(zip(world.items, digits, strict=True)))
    [third] = world.add_annotators(world.egypt, 1)
    give_ratings(campaign, world.egypt, third, {world.items[0]: "5"}, because="surplus")
    client = world.client(world.mara)
    page = client.get(people(world, f"?cohort={world.egypt.pk}")).content.decode()
    assert page.count("0.80</bdi></b>") == 2
    assert "n = 4<" in page
    assert page.count("no answers that count") == 1
    assert "Agreement with others" not in client.get(people(world, "?cohort=all")).content.decode()


def test_page_opens_on_the_first_cohort_in_which_somebody_takes_part(world: World, campaign: Campaign) -> None:
    client = world.client(world.mara)

    def names(query: str = "") -> set[str]:
        page = client.get(people(world, query)).content.decode()
        return {user.name for user in (world.nour, world.bia) if user.name in page}

    assert names() == set(), "nobody has come yet"
    give_ratings(campaign, world.egypt, world.nour, {world.items[0]: "3"})
    assert names() == {world.nour.name}, "Brazil, which is first by name, has nobody"
    give_ratings(campaign, world.brazil, world.bia, {world.items[0]: "3"})
    assert names() == {world.bia.name}
    assert names("?cohort=all") == {world.nour.name, world.bia.name}
    assert "People of Brazil" in client.get(people(world)).content.decode()


def differing(world: World, user: User, reader: User) -> tuple[str, str]:
    """The part of a person's page with the largest differences, as text and as HTML."""
    shown = world.client(reader).get(people(world, f"{rater_of(user).pk}/")).content.decode()
    part = shown.partition('id="differs"')[2].partition("</section>")[0]
    return text_of(part), part


def test_page_of_a_person_shows_where_they_differ_most(world: World, campaign: Campaign) -> None:
    [third] = world.add_annotators(world.egypt, 1)
    codes = {world.nour: "1255", world.tarek: "1233", third: "1231"}  # nour and the mean of the others: 0 0 2 3
    for user, digits in codes.items():
        give_ratings(campaign, world.egypt, user, dict(zip(world.items, digits, strict=True)))
    give_ratings(campaign, world.brazil, world.bia, dict.fromkeys(world.items, "5"))
    text, html = differing(world, world.nour, world.mara)
    assert "2 of the 4 latest items that others of the cohort answered too." in text
    assert re.findall(r"(\d) this person (\d) middle of (\d) others", text) == [("5", "1", "2"), ("5", "3", "2")]
    links = re.findall(r'href="(/b/[^"]*/disagreement/\d+/)"', html)
    assert len(links) == 2 and {world.client(world.mara).get(link).status_code for link in links} == {200}
    assert differing(world, world.bia, world.mara) == ("", ""), "nobody else of the cohort has answered"
    assert differing(world, world.nour, world.reviewer) == ("", ""), "reviewers have no such page"


def test_only_the_latest_answers_of_a_person_are_compared(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differing_items, "LATEST", 2)
    for minute, (item, digits) in enumerate(zip(world.items, ("51", "31", "21"), strict=False)):
        for user, code in zip((world.nour, world.tarek), digits, strict=True):
            give_ratings(campaign, world.egypt, user, {item: code}, at=NOON + timedelta(minutes=minute))
    text, _html = differing(world, world.nour, world.mara)
    assert re.findall(r"(\d) this person (\d) the other", text) == [("3", "1"), ("2", "1")]


def test_answers_that_do_not_count_or_agree_are_no_difference(world: World, campaign: Campaign) -> None:
    give_ratings(campaign, world.egypt, world.nour, {world.items[0]: "3", world.items[1]: "3"})
    give_ratings(campaign, world.egypt, world.tarek, {world.items[0]: "3"})
    give_ratings(campaign, world.egypt, world.tarek, {world.items[1]: "5"}, because="surplus")
    text, _html = differing(world, world.nour, world.mara)
    assert "No answer differs from those of the others." in text and "0 of the 1 latest item" in text


def test_page_of_a_person_counts_other_codes_where_they_have_no_order(world: World, campaign: Campaign) -> None:
    asked = with_sheet(world, {**CHOICE, "key": "relevance", "config": NOMINAL})
    [third] = world.add_annotators(world.egypt, 1)
    items = list(asked.stage.items.order_by("pk"))[:2]
    for user, digits in {world.nour: "15", world.tarek: "11", third: "22"}.items():
        give_ratings(asked, world.egypt, user, dict(zip(items, digits, strict=True)))
    text, _html = differing(world, world.nour, world.mara)
    assert re.findall(r"(\d) this person (\d) middle of (\d) others", text) == [("5", "1", "2"), ("1", "1", "2")]


def test_a_person_who_changes_on_the_way_is_shown_with_both_halves(world: World, campaign: Campaign) -> None:
    world.add_items(6)
    first, later = "1232112321", "1242123532"  # deviations of tarek 0 0 1 0 0, then 1 1 1 2 1
    for user, digits in {world.nour: first, world.tarek: later}.items():
        for minute, (item, code) in enumerate(zip(world.items, digits, strict=True)):
            give_ratings(campaign, world.egypt, user, {item: code}, at=NOON + timedelta(minutes=minute))
    client = world.client(world.mara)
    page = client.get(people(world, f"?cohort={world.egypt.pk}")).content.decode()
    assert "+1.00</bdi>" in page and "−1.00</bdi>" in page
    assert page.count("n = 5 + 5") == 2
    # Welch: t = 1 / sqrt(0.2 / 5 + 0.2 / 5) = 3.5 with 8 degrees of freedom, p 0.008 for both of the two people.
    assert page.count(">Changed</span>") == 2 and "2 people were tested" in page
    Rating.objects.filter(pk=Rating.objects.order_by("pk")[0].pk).update(live=False)
    short = client.get(people(world, f"?cohort={world.egypt.pk}")).content.decode()
    assert "Each half of the answers needs five items" in short


def test_a_person_who_does_not_change_is_tested_and_not_marked(world: World, campaign: Campaign) -> None:
    world.add_items(6)
    for user, digits in {world.nour: "1232112321", world.tarek: "2232112322"}.items():  # 1 0 0 0 0, then 0 0 0 0 1
        for minute, (item, code) in enumerate(zip(world.items, digits, strict=True)):
            give_ratings(campaign, world.egypt, user, {item: code}, at=NOON + timedelta(minutes=minute))
    page = world.client(world.mara).get(people(world, f"?cohort={world.egypt.pk}")).content.decode()
    assert "Changed</span>" not in page and "2 people were tested" in page


def test_people_stand_in_the_order_of_their_names_here(world: World, campaign: Campaign) -> None:
    """Never a ranking: who agrees least does not stand last."""
    users = [world.nour, world.tarek, *world.add_annotators(world.egypt, 4)]
    for user, digits in zip(users, ("1234", "1234", "4321", "1243", "2134", "1111"), strict=True):
        give_ratings(campaign, world.egypt, user, dict(zip(world.items, digits, strict=True)))
    page = world.client(world.mara).get(people(world, f"?cohort={world.egypt.pk}")).content.decode()
    names = [world.benchmark.pseudonym(rater_of(user).pk) for user in users]
    found = sorted(names, key=lambda name: page.index(f"<bdi>{name}</bdi>"))
    assert found == sorted(names)


def test_unordered_codes_are_compared_by_share_of_equal_answers(world: World) -> None:
    asked = with_sheet(world, {**CHOICE, "key": "relevance", "config": NOMINAL})
    for user, digits in {world.nour: "1123", world.tarek: "1223"}.items():
        give_ratings(asked, world.egypt, user, dict(zip(world.items, digits, strict=False)))
    Rating.objects.update(value=None)
    page = world.client(world.mara).get(people(world, f"?cohort={world.egypt.pk}")).content.decode()
    assert page.count("0.75</bdi></b>") == 2
    assert "Agreement with others (share)" in page and "Spearman" not in page


def test_excluding_says_what_it_did_and_lifting_gives_it_back(world: World, campaign: Campaign) -> None:
    assert rate_all(campaign, world.nour) == 4
    rater = rater_of(world.nour)
    client = world.client(world.mara)
    address = people(world, f"{rater.pk}/")
    page = client.post(address, {"do": "exclude", "reason": "Asked to be left out"}, follow=True).content.decode()
    assert "4 answers no longer count; 4 answers reopened." in page
    assert "Asked to be left out" in page
    assert set(Annotation.objects.filter(rater=rater).values_list("counted", "uncounted_because")) == {
        (False, "excluded")
    }
    assert "Excluded" in client.get(people(world)).content.decode()
    assert "4 answers count again." in client.post(address, {"do": "lift"}, follow=True).content.decode()
    assert Annotation.objects.filter(rater=rater, counted=True).count() == 4
    exclusion = Exclusion.objects.get()
    assert (exclusion.by, exclusion.lifted_by) == (world.mara, world.mara)


def test_only_the_words_exclude_and_lift_decide(world: World, campaign: Campaign) -> None:
    rate_all(campaign, world.nour)
    address = people(world, f"{rater_of(world.nour).pk}/")
    client = world.client(world.mara)
    assert client.post(address, {"do": "zzz", "reason": "x"}).status_code == 404
    assert not Exclusion.objects.exists()
    assert client.post(address, {"do": "exclude", "reason": "x"}).status_code == 302
    assert Exclusion.objects.count() == 1


def test_an_exclusion_stays_on_the_page_after_it_was_lifted(world: World, campaign: Campaign) -> None:
    rate_all(campaign, world.nour)
    address = people(world, f"{rater_of(world.nour).pk}/")
    client, owner = world.client(world.mara), world.client(world.owner)
    assert "Exclusions so far" not in client.get(address).content.decode()
    first = client.post(address, {"do": "exclude", "reason": "Too fast"}, follow=True).content.decode()
    assert "Active." in first
    owner.post(address, {"do": "lift"})
    owner.post(address, {"do": "exclude", "reason": "Still too fast"})
    past = client.get(address).content.decode().split("Exclusions so far", 1)[1]
    assert past.index("Still too fast") < past.index("Too fast")
    assert f"Excluded by {world.mara.name}" in past
    assert f"Included again by {world.owner.name}" in past
    assert past.count("Active.") == past.count("Included again by") == 1


def test_lifting_is_asked_once_more(world: World, campaign: Campaign) -> None:
    rate_all(campaign, world.nour)
    address = people(world, f"{rater_of(world.nour).pk}/")
    client = world.client(world.mara)
    client.post(address, {"do": "exclude", "reason": "Too fast"})
    page = client.get(address).content.decode()
    assert 'href="?lift=1#lifting"' in page
    assert 'value="lift"' not in page
    asked = client.get(address + "?lift=1").content.decode()
    assert "Include this person again?" in asked
    assert 'value="lift"' in asked
    assert Exclusion.objects.filter(lifted_at=None).count() == 1


def test_who_left_is_not_called_active(world: World, campaign: Campaign) -> None:
    now = timezone.now()
    for user in (world.nour, world.tarek):
        give_ratings(campaign, world.egypt, user, {world.items[0]: "3"}, at=now)
    world.tarek.cohort_memberships.update(left_at=now)
    page = world.client(world.mara).get(people(world)).content.decode()
    gone, stays = (
        page.split(world.benchmark.pseudonym(rater_of(user).pk), 1)[1].split("</tr>", 1)[0]
        for user in (world.tarek, world.nour)
    )
    assert ("Left" in gone, "Active" in gone) == (True, False)
    assert ("Left" in stays, "Active" in stays) == (False, True)
    cohort = world.client(world.mara).get(people(world, f"?cohort={world.egypt.pk}")).content.decode()
    assert "<dd>1 <small>of 2 who took part" in cohort


def test_last_activity_is_shown_as_a_time_ago(world: World, campaign: Campaign) -> None:
    give_ratings(
        campaign, world.egypt, world.nour, {world.items[0]: "3"}, at=timezone.now() - timedelta(days=2, hours=8)
    )
    page = world.client(world.mara).get(people(world)).content.decode()
    assert "Last seen" in page
    assert "Last seen" not in world.client(world.reviewer).get(people(world)).content.decode()  # a moment tells who
    assert "2 days ago</time>" in page


def test_a_waiting_answer_steps_in_so_fewer_places_open(world: World, campaign: Campaign) -> None:
    rate_all(campaign, world.nour)
    slot = Slot.objects.filter(cohort__cohort=world.egypt).first()
    assert slot
    [third] = give_ratings(campaign, world.egypt, world.tarek, {slot.unit.item: "2"}, because="surplus")
    third.assignment.slot = slot
    third.assignment.save()
    rater = rater_of(world.nour)
    page = world.client(world.mara).post(people(world, f"{rater.pk}/"), {"do": "exclude", "reason": "x"}, follow=True)
    assert "4 answers no longer count; 3 answers reopened." in page.content.decode()
    third.refresh_from_db()
    assert third.counted


def test_a_reason_is_needed(world: World, campaign: Campaign) -> None:
    rate_all(campaign, world.nour)
    reply = world.client(world.mara).post(
        people(world, f"{rater_of(world.nour).pk}/"), {"do": "exclude", "reason": " "}
    )
    assert reply.status_code == 400
    assert not Exclusion.objects.exists()


def test_only_those_who_work_on_it_exclude(world: World, campaign: Campaign) -> None:
    rate_all(campaign, world.nour)
    address = people(world, f"{rater_of(world.nour).pk}/")
    for user in (world.reviewer, world.manager, world.nour, world.stranger, world.rival):
        assert world.client(user).post(address, {"do": "exclude", "reason": "x"}).status_code == 404, user
    for user in (world.manager, world.nour, world.stranger, world.rival):
        assert world.client(user).get(people(world)).status_code == 404, user
    assert world.client().get(people(world)).status_code == 302
    assert not Exclusion.objects.exists()


def test_somebody_of_another_benchmark_is_not_found_here(world: World, campaign: Campaign) -> None:
    foreign = rater_of(world.rival_rater)
    assert world.client(world.mara).get(people(world, f"{foreign.pk}/")).status_code == 404
    assert (
        world.client(world.mara).post(people(world, f"{foreign.pk}/"), {"do": "exclude", "reason": "x"}).status_code
        == 404
    )


def from_a_file(world: World, campaign: Campaign, **row: str) -> Job:
    fields = {"item": world.items[0].key, "rater": "Ana of the field trip", "target": "Egypt", "cohort": "Egypt", **row}
    upload = SimpleUploadedFile("a.jsonl", json.dumps(fields | {"answers": {"relevance": "2"}}).encode())
    job = answer_files.start(campaign, world.owner, upload)
    runner.run(job.pk)
    return job


def test_imported_rater_is_viewed_and_excluded(world: World, campaign: Campaign) -> None:
    give_ratings(campaign, world.egypt, world.nour, {world.items[0]: "3"})
    job = from_a_file(world, campaign)
    rater = Rater.objects.get(name="Ana of the field trip")
    name, mara = world.benchmark.pseudonym(rater.pk), world.client(world.mara)
    for query in ("", f"?cohort={world.egypt.pk}"):
        page = mara.get(people(world, query)).content.decode()
        row = page.split(name, 1)[1].split("</tr>", 1)[0]
        assert "Ana of the field trip" in row and "From a file" in row and ">1</bdi></td>" in row and "ago" not in row
    assert name not in mara.get(people(world, f"?cohort={world.brazil.pk}")).content.decode()
    seen = world.client(world.reviewer).get(people(world)).content.decode()
    assert name in seen and "Ana of the field trip" not in seen
    changes = Tally.objects.filter(cohort__campaign=campaign, cohort__cohort=world.egypt).values_list("changes")
    before = sum(one for (one,) in changes)
    address = people(world, f"{rater.pk}/")
    page = mara.post(address, {"do": "exclude", "reason": "By chance"}, follow=True).content.decode()
    assert "1 answer no longer counts" in page and "Ana of the field trip" in page
    assert not Annotation.objects.get(rater=rater).counted
    assert Annotation.objects.get(rater=rater_of(world.nour)).counted
    assert sum(one for (one,) in changes.all()) > before  # pages of numbers see it
    withdraw(job, world.owner, timezone.now())
    assert mara.get(address).status_code == 200  # or nobody could lift it
    mara.post(address, {"do": "lift"})
    assert not Exclusion.objects.filter(lifted_at=None).exists()
    assert mara.get(address).status_code == 404  # nothing of them stands here now


def test_imported_rater_can_have_no_cohort(world: World, campaign: Campaign) -> None:
    from_a_file(world, campaign, cohort="")
    rater = Rater.objects.get(name="Ana of the field trip")
    mara = world.client(world.mara)
    row = mara.get(people(world)).content.decode().split(world.benchmark.pseudonym(rater.pk), 1)[1]
    assert ">none</bdi></td>" in row.split("</tr>", 1)[0] and ">1</bdi></td>" in row.split("</tr>", 1)[0]
    assert mara.get(people(world, f"{rater.pk}/")).status_code == 200
