"""The pages Pairs and Pair: what is built for each question and source, and how each pair came about."""

import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks.models import Benchmark
from papers.valueground.builder.models import Build
from tests.chains.link_client import text_of
from tests.module_world import built_once
from tests.papers.valueground.pair_samples import ISSUE, add_build, add_pairs, confirm, write_accepted
from tests.papers.valueground.survey_samples import EIGHT, new_benchmark, page_of, upload
from tests.personas import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(world: World) -> Client:
    return world.client(world.owner)


@built_once
def benchmark(world: World) -> Benchmark:
    benchmark = new_benchmark(world)
    upload(world.client(world.owner), benchmark, EIGHT)
    return benchmark


def pairs(client: Client, benchmark: Benchmark, query: str = "") -> str:
    return client.get(f"{page_of(benchmark, 'pairs')}?{query}").content.decode()


def test_without_pairs_the_page_says_what_to_do_first(world: World, client: Client, benchmark: Benchmark) -> None:
    other = new_benchmark(world, "other")
    assert "Import a survey first" in pairs(client, other) and page_of(other, "import") in pairs(client, other)
    assert "no question is confirmed" in pairs(client, benchmark) and page_of(benchmark) in pairs(client, benchmark)
    confirm(benchmark, "Q10")
    assert "1 question is confirmed." in text_of(pairs(client, benchmark))


def test_the_matrix_shows_pictures_state_rounds_cost_and_age(
    world: World, client: Client, benchmark: Benchmark
) -> None:
    builds = add_pairs(benchmark, world.owner)
    page = pairs(client, benchmark)
    text = text_of(page)
    assert "4 pairs, 2 questions Build pairs Editing 1 Accepted 1 Best effort 1 Refused by a model 1" in text
    assert "Accepted Plan 1, round 2 · $ 0.0800 ·" in text
    assert page.count('alt="Can be trusted"') == 2 and page.count("No picture yet") == 4
    assert all(f"?pair={build.pk}" in page for build in builds.values())
    assert "$ 0.1600 of $ 2.00" in text, "what was spent, and the budget"
    assert "$ 0.2133" in text, "and the mean of the three that ended for the one at work"


def test_filters_narrow_the_pairs(world: World, client: Client, benchmark: Benchmark) -> None:
    add_pairs(benchmark, world.owner)

    def listed(query: str) -> list[str]:
        return re.findall(r'<b dir="ltr">(Q\d+)</b>', pairs(client, benchmark, query))

    assert listed("") == ["Q10", "Q2"]
    assert listed("state=accepted") == ["Q10"] and listed("state=working") == ["Q2"]
    assert listed("q=living") == [] and listed("q=q2") == ["Q2"]
    assert "wren" not in text_of(pairs(client, benchmark, "source=heron").split("<caption")[-1])
    assert "No pair fits these filters." in pairs(client, benchmark, "state=failed&source=%00&page=x")


def test_more_pairs_take_no_more_queries(world: World, client: Client, benchmark: Benchmark) -> None:
    builds = add_pairs(benchmark, world.owner)
    plan = builds["accepted"].plan
    with CaptureQueriesContext(connection) as few:
        pairs(client, benchmark)
    for question in confirm(benchmark, "Q3", "Q4", "Q5", "Q6"):
        write_accepted(add_build(plan, question, "heron", "accepted"))
    with CaptureQueriesContext(connection) as many:
        pairs(client, benchmark)
    assert len(many) <= len(few)


def test_the_log_tells_each_round(world: World, client: Client, benchmark: Benchmark) -> None:
    build = add_pairs(benchmark, world.owner)["accepted"]
    page = pairs(client, benchmark, f"pair={build.pk}")
    text = text_of(page)
    assert "Plan 1, round 1" in text and "Plan 1, round 2" in text
    assert "Two neighbours at an open door" in text and "hands over a key" in text
    assert f"B Only difference: {ISSUE}" in text
    assert "The critic said: Accept" in text and "Accepted, but an issue was named: new instructions." in text
    assert "Instruction B Keep the key, with a calm face" in text
    assert "A and B 8.0%" in text and "seed 1" in text
    assert 'alt="Most people can be trusted."' in page, "a picture is described by its statement"


def test_any_two_pictures_are_compared_also_of_two_revisions(
    world: World, client: Client, benchmark: Benchmark
) -> None:
    first = add_pairs(benchmark, world.owner)["accepted"]
    second = add_build(
        first.plan, first.question, "heron", "criticising", revision=2, replaces=first, comment="Less angry, please."
    )
    page = pairs(client, benchmark, f"pair={second.pk}")
    assert "Less angry, please." in page and f"?pair={first.pk}" in page
    names = re.findall(
        r"<option value=\"(\d+)\"[^>]*>([^<]*)</option>", page.split('id="left"')[1].split("</select>")[0]
    )
    assert [name for _pk, name in names] == [
        "Revision 1, plan 1, round 1: base picture", "Revision 1, plan 1, round 1: A", "Revision 1, plan 1, round 1: B",
        "Revision 1, plan 1, round 2: B",
    ]  # fmt: skip
    (left, _base), (right, _a) = names[0], names[1]
    page = pairs(client, benchmark, f"pair={second.pk}&left={left}&right={right}")
    captions = re.findall(r"<figcaption>.*?</figcaption>", page)
    assert [text_of(caption).endswith(end) for caption, end in zip(captions, ("base picture", "A"), strict=True)]
    page = pairs(client, benchmark)
    assert page.count("Revision 2") == 1, "the matrix shows the newest revision"
    plan = text_of(next(row for row in page.split("<tr")[1:] if 'data-l="Rounds"' in row))
    others = first.plan.builds.filter(replaces=None).count()
    assert f"further plans: {first.plan.replans} {others} 1 revision" in plan, "a revision is no further pair"
    assert pairs(client, benchmark, f"pair={second.pk}&left=x&right=999999999999999999").count("<figure>") == 2


def test_what_went_wrong_is_told(world: World, client: Client, benchmark: Benchmark) -> None:
    builds = add_pairs(benchmark, world.owner)
    page = text_of(pairs(client, benchmark, f"pair={builds['refused'].pk}"))
    assert "The image service refused three pictures." in page and "Not this picture." in page
    assert "No picture was drawn." in page and "No step was taken yet." in page
    page = text_of(pairs(client, benchmark, f"pair={builds['best_effort'].pk}"))
    assert "The edit rounds are used up. The newest pair is kept." in page
    Build.objects.filter(pk=builds["accepted"].pk).update(unaccounted=Decimal("0.04"))
    page = text_of(pairs(client, benchmark, f"pair={builds['accepted'].pk}"))
    assert "$ 0.1200 so far" in page and "$ 0.0400 of it for requests without a reply" in page


def test_only_those_who_work_on_the_benchmark_see_pairs(world: World, client: Client, benchmark: Benchmark) -> None:
    build = add_pairs(benchmark, world.owner)["accepted"]
    other = new_benchmark(world, "other")
    for query in ("", f"pair={build.pk}"):
        assert client.get(f"{page_of(benchmark, 'pairs')}?{query}").status_code == 200
        for user in (world.bia, world.stranger, world.rival, world.manager):
            reply = world.client(user).get(f"{page_of(benchmark, 'pairs')}?{query}")
            assert reply.status_code == 404, (user, query)
    assert client.get(f"{page_of(other, 'pairs')}?pair={build.pk}").status_code == 404, "a pair of another benchmark"
    for junk in ("", "0", "x", "-1", "²", "9" * 40):
        assert client.get(f"{page_of(benchmark, 'pairs')}?pair={junk}").status_code == 404
    assert client.post(page_of(benchmark, "pairs")).status_code == 404


def test_the_board_and_the_opening_name_the_page_that_makes_pairs(
    world: World, client: Client, benchmark: Benchmark
) -> None:
    board = client.get(f"/b/{benchmark.slug}/").content.decode()
    heading = next(part for part in board.split("<th")[1:] if "Pair review" in part)
    assert f'href="{page_of(benchmark, "pairs")}"' in heading and "No items yet" in heading
    opening = text_of(client.get(f"/b/{benchmark.slug}/chain/open/").content.decode())
    assert "they come from the page “Pairs”" in opening
