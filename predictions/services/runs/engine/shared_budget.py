"""The budget of a plan set: one sum for all its runs, each of which has its own executor.

Before requests go out, an executor notes in `Run.committed` what its run has spent and what these requests may cost at
most. It does so while it holds the set's row, and only up to what the other runs have not committed: so the sum of all
never passes the budget, however many workers ask at once. When the results are there, less is noted again.
"""

from decimal import Decimal

from django.db import transaction

from jobs.queries.statements import execute, fetch

LOCK_SET = "SELECT budget FROM predictions_planset WHERE id = %(set)s FOR NO KEY UPDATE"
OTHERS = """SELECT coalesce(sum(committed), 0) FROM predictions_run WHERE plan_set_id = %(set)s AND id <> %(run)s"""
NOTE = "UPDATE predictions_run SET committed = %(dollars)s WHERE id = %(run)s AND committed <> %(dollars)s"
# What a worker that is alive has committed and not spent comes back when its replies are there.
RETURNS = """
SELECT 1 FROM predictions_run r JOIN jobs_job j ON j.id = r.job_id
WHERE r.plan_set_id = %(set)s AND r.id <> %(run)s AND r.state = 'running' AND j.state = 'running'
  AND j.lease_until > clock_timestamp()
  AND r.committed > r.unaccounted + coalesce((SELECT sum(cost) FROM predictions_call WHERE run_id = r.id), 0)
LIMIT 1
"""
PLACES = Decimal("0.00000001")


def commit(run: int, plan_set: int, current: Decimal, wanted: Decimal) -> Decimal | None:
    """Note what the run holds (spent, and in flight) and as much of `wanted` as there is room for. Return how much the
    run may spend now, in US dollars; None where the set has no budget."""
    with transaction.atomic():
        [(budget,)] = fetch(LOCK_SET, {"set": plan_set})
        if budget is None:
            return None
        [(others,)] = fetch(OTHERS, {"set": plan_set, "run": run})
        limit = max(current, min(current + wanted, Decimal(budget) - Decimal(others)))
        _note(run, limit)
    return limit


def settle(run: int, spent: Decimal) -> None:
    """Note what the run has spent, when nothing of it is in flight."""
    _note(run, spent)


def may_return(run: int, plan_set: int) -> bool:
    """Whether another run of the set has committed dollars that it may not need."""
    return bool(fetch(RETURNS, {"set": plan_set, "run": run}))


def _note(run: int, dollars: Decimal) -> None:
    execute(NOTE, {"run": run, "dollars": dollars.quantize(PLACES)})
