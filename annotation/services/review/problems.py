"""Problems that people reported about items."""

from datetime import datetime

from annotation.models import ProblemReport
from annotation.services.transactions import in_transaction
from jobs.models import record
from people.models import User


@in_transaction
def answer_problem(problem: ProblemReport, text: str, actor: User, at: datetime) -> None:
    """Say what became of it. A later answer replaces an earlier one; the events keep both."""
    problem.answer, problem.answered_at, problem.answered_by = text, at, actor
    problem.save(update_fields=["answer", "answered_at", "answered_by"])
    campaign = problem.assignment.campaign
    scope = f"benchmark:{campaign.stage.benchmark_id}"
    record(actor, "problem.answered", scope=scope, target=f"problem:{problem.pk}", text=text)
