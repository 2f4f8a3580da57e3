"""Coverage and agreement count the same answers: those that people gave here and that count. Answers from a file take
no place in a campaign, so they are in the agreement and not in the coverage."""

from django.utils import timezone

from annotation.queries.coverage import CoverageFilter, coverage_page
from annotation.services.answers.submit import Submission, submit
from annotation.services.queue.next_work import get_or_claim_work
from people.services.raters import rater_of
from tests.evaluation.data import an_open_campaign
from tests.personas import World


def work(world: World, campaign: object, codes: str) -> None:
    row = campaign.cohorts.get(cohort=world.egypt)  # type: ignore[attr-defined]
    for user in (world.nour, world.tarek):
        for number, code in enumerate(codes):
            hand = get_or_claim_work(rater_of(user), row, timezone.now()).current
            assert hand is not None
            submission = Submission(
                raw={"relevance": code}, client_key=f"{user.pk}-{number}", shown_at=timezone.now(), active_seconds=2
            )
            submit(hand.pk, rater_of(user), submission, timezone.now())


def test_they_count_the_same(world: World) -> None:
    world.add_items(6)
    campaign = an_open_campaign(world, target=2, cohorts=[world.egypt])
    work(world, campaign, "123")
    matrix = coverage_page(campaign, CoverageFilter(by="item"))
    covered = sum(cell.counted for row in matrix.rows for cell in row.cells if cell)
    page = world.client(world.mara).get("/b/sea-and-river/agreement.json").json()
    assert covered == page["n_ratings"] == 6
    asked = sum(cell["n_units_asked"] for row in page["rows"] for cell in row["cells"])
    assert asked == len(matrix.rows) == 6
