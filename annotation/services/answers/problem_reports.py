"""A person says that something is wrong with an item."""

from datetime import datetime

from annotation.models import Assignment, ProblemReport
from annotation.services.answers.submit import AssignmentStateError, own_assignment
from annotation.services.transactions import in_transaction
from jobs.models import record
from people.models import Rater

MOST_REPORTS = 5


@in_transaction
def report_problem(which: Assignment | int, rater: Rater, text: str, at: datetime) -> ProblemReport:
    """Something is wrong with the item. The assignment stays as it is; the same words once more are one report."""
    assignment, text = own_assignment(which, rater), text.strip()
    if not text:
        raise AssignmentStateError("no_text")
    Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk)  # who presses twice is heard once
    mine = ProblemReport.objects.filter(assignment_id=assignment.pk, rater=rater)
    if same := mine.filter(text=text).first():
        return same
    if mine.count() >= MOST_REPORTS:
        raise AssignmentStateError("enough_reports")
    report = ProblemReport.objects.create(assignment=assignment, rater=assignment.rater, text=text)
    scope = f"benchmark:{assignment.campaign.stage.benchmark_id}"
    record(
        assignment.rater.user, "problem.reported", scope=scope, target=f"assignment:{assignment.pk}", report=report.pk
    )
    return report
