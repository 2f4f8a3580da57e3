"""Answers of people who withdrew: in no number and in no file, and how many they are stands beside both."""

import csv
import io
import json
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation, Campaign
from annotation.services.answers import consent
from people.models import User
from people.services.raters import rater_of
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.module_world import built_once
from tests.personas import World, make_user
from tests.releases.test_export import download_files

PAGES = ("agreement", "people", "export")
SENTENCE = "1 of 3 people withdrew; 5 answers left out."


@built_once
def third(world: World) -> User:
    user = make_user("Third")
    world.egypt.members.create(user=user)
    world.give_consent(world.team, user)
    return user


def a_study(world: World, people: dict[User, str]) -> Campaign:
    if not world.items:
        world.add_items(10)
    campaign = an_open_campaign(world, target=3, cohorts=[world.egypt])
    table(campaign, world.egypt, of_condition(world.items, "natural")[:5], people)
    return campaign


def numbers(world: World, query: str = "") -> Any:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/agreement.json?measure=table&{query}")
    assert reply.status_code == 200, reply.content
    return [(row["cohort"]["label"], row["cells"]) for row in reply.json()["rows"]], reply.json()


def withdraws(world: World, user: User) -> None:
    assert consent.withdraw(user, world.team, timezone.now())


@pytest.mark.parametrize("counted", ["counted", "all"])
def test_agreement_is_that_of_the_same_data_without_the_person(world: World, third: User, counted: str) -> None:
    codes = {world.nour: "11223", world.tarek: "12233", third: "54512"}
    campaign = a_study(world, codes)
    with_all = numbers(world, f"counted={counted}&campaign={campaign.pk}")[0]
    withdraws(world, third)
    after, report = numbers(world, f"counted={counted}&campaign={campaign.pk}")
    other = a_study(world, {user: code for user, code in codes.items() if user != third})
    without = numbers(world, f"counted={counted}&campaign={other.pk}")[0]
    assert after == without and after != with_all
    assert SENTENCE in report["counted"]


def test_the_number_left_out_stands_on_the_pages_of_the_benchmark(world: World, third: User) -> None:
    a_study(world, {world.nour: "11223", world.tarek: "12233", third: "54512"})
    client = world.client(world.mara)
    pages = [f"/b/{world.benchmark.slug}/{page}/" for page in PAGES]
    assert not [page for page in pages if "withdrew;" in client.get(page).content.decode()]
    withdraws(world, third)
    assert not [page for page in pages if SENTENCE not in client.get(page).content.decode()]


def test_no_page_of_researchers_says_who_withdrew(world: World, third: User) -> None:
    a_study(world, {world.nour: "11223", world.tarek: "12233", third: "54512"})
    withdraws(world, third)
    name = world.benchmark.pseudonym(rater_of(third).pk)
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/people/").content.decode()
    assert world.benchmark.pseudonym(rater_of(world.nour).pk) in page
    assert name not in page and "Third" not in page
    unit = Annotation.objects.filter(rater__user=third)[0].assignment.unit_id
    page = (
        world.client(world.mara)
        .get(reverse("evaluation:item_answers", args=[world.benchmark.slug, unit]))
        .content.decode()
    )
    assert name not in page


def test_no_file_of_an_export_has_the_answers(world: World, third: User) -> None:
    campaign = a_study(world, {world.nour: "11223", world.tarek: "12233", third: "54512"})
    replaced = Annotation.objects.filter(rater__user=third).order_by("pk")[0]
    Annotation.objects.filter(pk=replaced.pk).update(
        live=False, counted=False, uncounted_because="superseded", answers={"relevance": "5"}
    )
    before = download_files(world.client(world.mara), world, versions="1")
    name = world.benchmark.pseudonym(rater_of(third).pk)
    assert name.encode() in before["ratings.jsonl"] and name.encode() in before["versions.jsonl"]
    assert {json.loads(line)["consent"] for line in before["ratings.jsonl"].decode().splitlines()} == {"agreed"}
    withdraws(world, third)
    files = download_files(world.client(world.mara), world, versions="1")
    assert len(files["ratings.jsonl"].splitlines()) == 10 and not files["versions.jsonl"]
    assert not [key for key, content in files.items() if name.encode() in content]
    book = json.loads(files["codebook.json"])
    assert book["left_out"] == {
        "people": 1, "of": 3, "answers": 4, "meaning": "1 of 3 people withdrew; 4 answers left out.",
    }  # fmt: skip
    assert "consent_withdrawn" in book["uncounted"]
    assert campaign.pk in book["selection"]["campaigns"]


def test_an_export_names_the_consent_of_each_answer(world: World, third: User) -> None:
    """The withdrawal that was followed by a consent to count earlier answers stands with the versions."""
    a_study(world, {world.nour: "11223", third: "54512"})
    Annotation.objects.filter(rater__user=third).update(submitted_at=timezone.now())
    withdraws(world, third)
    consent.agree(third, world.consent_version, "en", count_earlier=True)
    first = Annotation.objects.filter(rater__user=third).order_by("pk")[0]
    Annotation.objects.filter(pk=first.pk).update(live=False, counted=False, uncounted_because="superseded")
    first.ratings.update(live=False, counted=False)
    files = download_files(world.client(world.mara), world, versions="1")
    [version] = [json.loads(line) for line in files["versions.jsonl"].decode().splitlines()]
    assert (version["consent"], version["consent_version"]) == ("agreed", 1)
    assert version["consent_withdrawn_at"].startswith(f"{timezone.now():%Y-}")
    assert "consent_withdrawn_at" not in json.loads(files["ratings.jsonl"].splitlines()[0])
    assert json.loads(files["codebook.json"])["left_out"]["answers"] == 0


def test_what_was_sent_after_the_withdrawal_is_left_out_with_the_rest(world: World, third: User) -> None:
    """A sheet stood open in another window. People counted that answer as done, and no page as left out."""
    campaign = a_study(world, {world.nour: "11223", world.tarek: "12233", third: "5451."})
    withdraws(world, third)
    last = of_condition(world.items, "natural")[4]
    give_ratings(campaign, world.egypt, third, {last: "3"}, because="no_consent", at=timezone.now())
    client = world.client(world.mara)
    pages = {page: client.get(f"/b/{world.benchmark.slug}/{page}/").content.decode() for page in PAGES}
    assert not [page for page, content in pages.items() if SENTENCE not in content]
    assert world.benchmark.pseudonym(rater_of(third).pk) not in pages["people"]
    files = download_files(client, world, counted="all")
    assert len(files["ratings.jsonl"].splitlines()) == 10
    assert json.loads(files["codebook.json"])["left_out"]["answers"] == 5
    heads, *lines = csv.reader(io.StringIO(client.get(f"/b/{world.benchmark.slug}/agreement.csv").content.decode()))
    assert {line[heads.index("withdrawn")] for line in lines} == {SENTENCE}


def test_an_answer_without_any_consent_is_not_one_of_those_left_out(world: World, third: User) -> None:
    campaign = a_study(world, {world.nour: "11223", world.tarek: "12233"})
    give_ratings(campaign, world.egypt, third, {world.items[0]: "3"}, because="no_consent", at=timezone.now())
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/people/").content.decode()
    assert world.benchmark.pseudonym(rater_of(third).pk) in page and "withdrew" not in page
