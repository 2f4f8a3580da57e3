"""Answers of a person by a program of theirs, where the benchmark allows it: the services of the sheet."""

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import assignment_for, open_work_for
from annotation.displays.answer_culture import layout_for_person
from annotation.displays.shown_item import build_shown
from annotation.fields.contract import Shown
from annotation.fields.messages import problem_text
from annotation.models import Assignment, Draft
from annotation.pages.sheet_view import place_of
from annotation.pages.status_text import no_work_text, time_zone_for
from annotation.queries.gate import SHUTS_OUT, check_gate
from annotation.services.answers import drafts
from annotation.services.answers import submit as answer_services
from annotation.services.answers.uploads import uploads_for_sheet
from annotation.services.queue.next_work import NoWork, get_or_claim_work
from annotation.services.sheets.sheet_versions import sheet_of
from annotation.sheets.sheet import ParsedSheet
from api.protocol.authentication import allowed_benchmarks
from api.protocol.contents import problem, step
from api.protocol.operations import operation
from api.protocol.preconditions import with_etag
from api.protocol.problems import Conflict, Refused
from api.schemas import answers as shapes
from api.views.base import ResourceView
from benchmarks.images.image_urls import image_url
from benchmarks.models import Benchmark
from benchmarks.rules.displays import TEXT_ON_SHEET, context_columns
from people.models import User
from people.services.raters import rater_of

WIDTH = 1600
INCOMPLETE = frozenset(
    {"required", "too_short", "too_few_chosen", "too_few_boxes", "box_incomplete", "box_without_label", "undecided"}
)
"""Errors that a draft may still have: something is missing. What is of the wrong kind is not kept."""


class NothingToDo(Conflict):
    code = "no-work"


class ClaimList(ResourceView):
    @operation("claim_create", "Take the next item of a campaign, or the one in hand", scope="answer",
               reply=shapes.Claim, own_transactions=True)  # fmt: skip
    def post(self, request: Request, slug: str, campaign_id: int) -> Response:
        place = open_work_for(request.user, campaign_id)
        benchmark = place.campaign.stage.benchmark
        if benchmark.slug != slug:
            raise Http404
        check_allowed(benchmark)
        self.content  # noqa: B018  (a body that is wrong is refused before anything is claimed)
        work = get_or_claim_work(rater_of(request.user), place, timezone.now())
        if work.no_work is not None or work.current is None:
            raise nothing_to_do(work.no_work or NoWork("nothing_yet"), request.user)
        ahead = assignment_json(work.prefetched) if work.prefetched else None
        return Response({"current": assignment_json(work.current), "ahead": ahead})


class AssignmentView(ResourceView):
    """A view of an assignment of the person who asks."""

    def _check_benchmark(self, request: Request, slug: str | None) -> None:
        """A token for chosen benchmarks opens assignments of these alone. Raises Http404."""
        chosen = allowed_benchmarks(request)
        if chosen is None:
            return
        rows = Assignment.objects.filter(pk=self.kwargs["assignment_id"], campaign__stage__benchmark__in=chosen)
        if not rows.exists():
            raise Http404

    def assignment(self, request: Request, assignment_id: int) -> Assignment:
        """Raises Http404 and Conflict."""
        assignment = assignment_for(request.user, assignment_id)
        check_allowed(assignment.campaign.stage.benchmark)
        return assignment


class AssignmentDetail(AssignmentView):
    @operation("assignment", "An assignment of one's own, with its sheet", scope="answer",
               reply=shapes.AssignmentSerializer)  # fmt: skip
    def get(self, request: Request, assignment_id: int) -> Response:
        assignment = self.assignment(request, assignment_id)
        allowed = check_gate(place_of(assignment).pk, assignment.rater_id, timezone.now())
        if allowed.refused in SHUTS_OUT:
            raise nothing_to_do(NoWork(allowed.refused, allowed.until), request.user)
        return with_etag(request, assignment_json(assignment))


class AnswerDraft(AssignmentView):
    @operation("answer_draft_put", "Keep what is not submitted yet; the lease is renewed", scope="answer",
               body=shapes.NewDraft, reply=shapes.DraftLine, matched=False)  # fmt: skip
    def put(self, request: Request, assignment_id: int) -> Response:
        assignment = self.assignment(request, assignment_id)
        answers, version = self.content["answers"], self.content["version"]
        refuse(check_draft(assignment, answers), assignment)
        try:
            draft = drafts.save(assignment.pk, assignment.rater, answers, version, timezone.now())
        except drafts.DraftConflict as error:
            text = _("Another window has saved version %(n)s since. Read it again.")
            raise Conflict(text % {"n": error.current.version}) from error
        except drafts.DraftTooLong as error:
            raise Refused(_("This is too long to be kept as a draft. Make it shorter.")) from error
        except (answer_services.AlreadyAnswered, answer_services.AssignmentStateError) as error:
            raise Conflict(_("This item was answered in another window.")) from error
        return Response(draft_json(draft))


class SubmissionList(AssignmentView):
    @operation("submission_create", "Submit answers; late work is kept", scope="answer", body=shapes.NewSubmission,
               reply=shapes.SubmissionDone, status=201, own_transactions=True)  # fmt: skip
    def post(self, request: Request, assignment_id: int) -> Response:
        assignment = self.assignment(request, assignment_id)
        done = submit_answers(assignment, self.content)
        return Response(done_json(done), status=201)


def check_allowed(benchmark: Benchmark) -> None:
    """Raises Conflict where the benchmark takes no answers by programs."""
    if not benchmark.answers_by_api:
        raise Conflict(_("This benchmark takes no answers by API. Answer on its pages."))


def submit_answers(assignment: Assignment, content: Mapping[str, Any]) -> answer_services.SubmitResult:
    """Submit the members of a NewSubmission. Raises Refused and Conflict."""
    submission = answer_services.Submission(
        raw=content["answers"], client_key=content["client_key"],
        language=content.get("language") or translation.get_language() or "en",
        confirmed=tuple(content.get("confirmed", ())),
    )  # fmt: skip
    try:
        return answer_services.submit(assignment, assignment.rater, submission, timezone.now())
    except answer_services.InvalidAnswers as error:
        refuse(error.parsed, assignment)
        raise
    except answer_services.AlreadyAnswered as error:
        raise Conflict(_("This item was answered already.")) from error
    except answer_services.AssignmentStateError as error:
        raise Conflict(_("The answer was not taken: %(reason)s.") % {"reason": error.reason}) from error


def nothing_to_do(why: NoWork, user: User) -> NothingToDo:
    words = no_work_text(why.reason, why.until, time_zone_for(user))
    return NothingToDo(f"{words.title} {words.advice}".strip(), reason=why.reason)


def shown_of(assignment: Assignment) -> Shown:
    return build_shown(assignment.unit, place_of(assignment).cohort, uploads_for_sheet(assignment))


def check_draft(assignment: Assignment, answers: dict[str, Any]) -> ParsedSheet:
    """What is wrong with answers that may still lack something."""
    parsed = sheet_of(assignment.campaign.sheet_version).parse(answers, shown_of(assignment))
    errors = {key: [row for row in rows if row.code not in INCOMPLETE] for key, rows in parsed.errors.items()}
    return ParsedSheet(errors={key: rows for key, rows in errors.items() if rows and key in answers})


def refuse(parsed: ParsedSheet, assignment: Assignment) -> None:
    """Raises Refused with each error and each warning that was not confirmed, at its question."""
    kinds = {field.key: field.spec.key for field in sheet_of(assignment.campaign.sheet_version).fields}
    rows = [(key, row) for problems in (parsed.errors, parsed.warnings) for key in problems for row in problems[key]]
    if rows:
        errors = []
        for key, row in rows:
            words = problem_text(row, kinds.get(key, ""))
            errors.append(problem(f"/answers{step(key)}", row.code, f"{words.title} {words.advice}"))
        raise Refused(_("The sheet does not take these answers."), errors=errors)


def done_json(done: answer_services.SubmitResult) -> dict[str, Any]:
    row, work = done.annotation, done.work
    return {
        "annotation": row.pk, "version": row.version, "counted": row.counted,
        "uncounted_because": row.uncounted_because, "repeated": done.repeated,
        "next": assignment_json(work.current) if work.current else None,
        "no_work": work.no_work.reason if work.no_work else None,
    }  # fmt: skip


def assignment_json(assignment: Assignment) -> dict[str, Any]:
    draft: Draft | None = getattr(assignment, "draft", None)
    return {
        "id": assignment.pk, "campaign": assignment.campaign_id, "state": assignment.state,
        "lease_until": assignment.lease_until, "target": assignment.unit.target,
        "item": item_json(assignment), "sheet": assignment.campaign.sheet_version.definition,
        "draft": draft_json(draft) if draft else None,
    }  # fmt: skip


def item_json(assignment: Assignment) -> dict[str, Any]:
    """What the sheet shows of the item, and nothing else."""
    shown, stage = shown_of(assignment), assignment.campaign.stage
    cohort = place_of(assignment).cohort
    layout = layout_for_person(stage, shown, cohort, translation.get_language() or "en")
    lines = [{"label": "", "value": str(line)} for line in layout.cultures]
    lines += [{"label": line.label, "value": line.value} for line in (*layout.show, *layout.fold)]
    columns = context_columns(stage.display, stage.pictures)
    lines += [{"label": key, "value": str(shown.context[key])} for key in columns if shown.context.get(key)]
    return {
        "text": shown.text if stage.display in TEXT_ON_SHEET else "",
        "lines": lines,
        "pictures": [{"role": i.role, "alt": i.alt, "url": image_url(i, WIDTH)} for i in shown.images],
    }


def draft_json(draft: Draft) -> dict[str, Any]:
    return {"answers": draft.answers, "version": draft.version, "saved_at": draft.saved_at}
