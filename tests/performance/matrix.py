"""What the coverage matrix costs: `python tests/performance/matrix.py [--items 1000] [--cohorts 10] [--per-cell 10]`.

Times the page as the server makes it, its one aggregated query, and a bare SELECT of the same rows; prints medians and
the ratios between them, so that a slow or busy machine says the same. Then the cells of a stage that wants 3 accepted
items of each of 20 concepts in each of 50 countries.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])  # our own folder holds a queue that is not Python's

from tests.load import server  # noqa: E402

BARE = """SELECT i.concept, i.key, s.cohort_id, s.wanted, s.submitted, s.reserved, s.retired, s.urgent
  FROM annotation_slot s JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id
  JOIN annotation_unit u ON u.id = s.unit_id JOIN benchmarks_item i ON i.id = u.item_id WHERE cc.campaign_id = %s"""
RUNS = 15


def median_ms(deed: Callable[[], Any]) -> float:
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        deed()
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times)


def make(items: int, cohorts: int) -> Any:
    """A campaign over items of 40 concepts, about two thirds answered; and somebody who may look."""
    from django.db import connection

    from benchmarks.models import Role
    from people.models import TeamMember
    from tests.annotation.queue import factories

    stage = factories.a_stage(items)
    asked = {factories.a_cohort(stage.benchmark.team): 3 for _ in range(cohorts)}
    campaign = factories.lifecycle.create(stage, "Coverage", None, asked, seed=1)
    with connection.cursor() as sql:
        sql.execute("UPDATE benchmarks_item SET concept = 'concept ' || id % 40, origin = 'origin ' || id % 5")
    factories.lifecycle.open_campaign(campaign, None, factories.timezone.now())
    with connection.cursor() as sql:
        sql.execute("UPDATE annotation_slot SET submitted = (id * 7919) % 4")
        sql.execute("VACUUM ANALYZE annotation_slot")
    looker = factories.a_person().user
    TeamMember.objects.create(team=stage.benchmark.team, user=looker)
    Role.objects.create(benchmark=stage.benchmark, user=looker, name=Role.Name.RESEARCHER)
    return campaign, looker


def make_cells(per_cell: int) -> Any:
    """A stage of 50 countries x 20 concepts, decided by a rule, with so many items in each; two thirds answered."""
    from django.db import connection

    from annotation.models import Outcome, RuleVersion, Slot
    from benchmarks.rules.label_sets.globalrg import SETS
    from tests.annotation.queue import factories

    stage = factories.a_stage(1000 * per_cell)
    labels = [label.text for label in SETS[0].labels]
    names = [f"concept {n}" for n in range(20)]
    stage.own_items_only, stage.acceptance = True, "by_rule"
    clause = {"key": "fits", "expression": "relevance >= 3", "words": {"en": "It fits"}}
    stage.acceptance_rule = {"clauses": [clause], "over": "majority"}
    stage.coverage = {"rows": f"set:{SETS[0].key}", "columns": "concepts", "names": names, "per_cell": 3}
    stage.save()
    with connection.cursor() as sql:
        sql.execute(
            "UPDATE benchmarks_item SET concept = 'concept ' || id %% 20, origin = (%s::text[])[1 + id / 20 %% 50]"
            " WHERE stage_id = %s",
            [labels, stage.pk],
        )
    asked = {factories.a_cohort(stage.benchmark.team, label): 1 for label in labels}
    campaign = factories.lifecycle.create(stage, "Cells", None, asked, seed=1)
    factories.lifecycle.open_campaign(campaign, None, factories.timezone.now())
    slots = Slot.objects.filter(cohort__campaign=campaign)
    slots.filter(pk__in=[pk for pk in slots.values_list("pk", flat=True) if pk % 3]).update(submitted=1)
    rule = RuleVersion.objects.get(stage=stage)
    now = factories.timezone.now()
    units = Slot.objects.filter(cohort__campaign=campaign, submitted=1).values_list("unit", flat=True)
    Outcome.objects.bulk_create(
        Outcome(campaign=campaign, unit_id=unit, rule_version=rule, answers=1, at=now,
                state="accepted" if unit % 4 else "rejected", failed=[] if unit % 4 else ["fits"])
        for unit in units
    )  # fmt: skip
    with connection.cursor() as sql:
        sql.execute("VACUUM ANALYZE annotation_slot")
        sql.execute("VACUUM ANALYZE annotation_outcome")
    return stage


def look_at_cells(client: Any, looker: Any, per_cell: int) -> None:
    from annotation.queries.coverage_cells import cell_counts, coverage_of
    from benchmarks.models import Role
    from people.models import TeamMember

    stage = make_cells(per_cell)
    TeamMember.objects.create(team=stage.benchmark.team, user=looker)
    Role.objects.create(benchmark=stage.benchmark, user=looker, name=Role.Name.RESEARCHER)
    address, spec = f"/b/{stage.benchmark.slug}/coverage/stages/{stage.pk}/", coverage_of(stage)
    assert spec is not None
    reply = client.get(address)
    assert reply.status_code == 200 and "of 1000 cells" in reply.content.decode()
    asked, page = median_ms(lambda: cell_counts(stage, spec)), median_ms(lambda: client.get(address))
    size = len(reply.content) / 1024
    print(f"50 x 20 cells, {1000 * per_cell:,} items: {page:.1f} ms a page of {size:.0f} KB, query {asked:.1f} ms")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=1000)
    options.add_argument("--cohorts", type=int, default=10)
    options.add_argument("--per-cell", type=int, default=10, help="items in each of 50 x 20 cells")
    chosen = options.parse_args()
    with server.database():
        from django.db import connection
        from django.test import Client

        from annotation.queries.coverage import CoverageFilter, coverage_page
        from jobs.queries.statements import fetch

        campaign, looker = make(chosen.items, chosen.cohorts)
        client = Client(HTTP_HOST="localhost")
        client.force_login(looker, backend="django.contrib.auth.backends.ModelBackend")
        address = f"/b/{campaign.stage.benchmark.slug}/coverage/?campaign={campaign.pk}"
        bare = median_ms(lambda: fetch(BARE, [campaign.pk]))
        print(f"{chosen.items:,} items x {chosen.cohorts} cohorts, medians of {RUNS}")
        print(f"{'bare SELECT of the rows':<34}{bare:8.1f} ms")
        for name, query, choice in (
            ("items, first page", "&by=item", CoverageFilter(by="item")),
            ("items, only holes", "&by=item&show=holes", CoverageFilter(by="item", show="holes")),
            ("concepts", "&by=concept", CoverageFilter(by="concept")),
        ):
            reply = client.get(address + query)
            assert reply.status_code == 200, reply.status_code
            asked = median_ms(lambda choice=choice: coverage_page(campaign, choice))  # type: ignore[misc]
            page = median_ms(lambda query=query: client.get(address + query))  # type: ignore[misc]
            size = len(reply.content) / 1024
            print(f"{name:<34}{page:8.1f} ms a page of {size:.0f} KB ({page / bare:.1f} of bare), "
                  f"query {asked:.1f} ms ({asked / bare:.1f} of bare)")  # fmt: skip
        look_at_cells(client, looker, chosen.per_cell)
        connection.close()


if __name__ == "__main__":
    main()
