"""Campaigns: created, opened, paused and closed as on their pages, and how far their cohorts are."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import campaign_for
from annotation.forms.campaigns import CampaignForm
from annotation.models import Assignment, Campaign, CampaignCohort
from annotation.queries.answers import answers_left_out, is_of_withdrawn
from annotation.queries.coverage import CoverageFilter, coverage_page
from annotation.services.answers.submit import ANSWERED
from annotation.services.campaigns import lifecycle
from api.protocol.contents import check_form, form_data, problem, step
from api.protocol.operations import PAGING, operation, query_parameter
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, with_etag
from api.protocol.problems import InvalidParameter, Refused
from api.schemas import campaigns as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from benchmarks.access import Can, benchmark_for
from benchmarks.models import Benchmark, Stage
from jobs.formats.numbers import parse_int
from people.models import Cohort, Rater, User

TEXTS = ("name", "summary", "state", "conditions")
TIMES = ("opens_on", "closes_on", "created_at", "opened_at", "closed_at")
CHOSEN = ("name", "summary", "opens_on", "closes_on", "conditions")
COVERAGE = (
    query_parameter("by", "concept or item."),
    query_parameter("show", "missing or holes; all without it."),
    query_parameter("page", "From 1.", number=True),
)


class CampaignList(ResourceView):
    @operation("campaigns", "Campaigns", parameters=PAGING, reply=page_of_shape(shapes.CampaignSerializer))
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug)
        rows = Campaign.objects.filter(stage__benchmark=benchmark).select_related("stage", "sheet_version")
        rows = rows.prefetch_related("cohorts__cohort")
        return page_of(request, rows, "campaigns", lambda page: [campaign_json(row) for row in page], benchmark.pk)

    @operation(
        "campaign_create",
        "Create a campaign as a draft",
        scope="write",
        body=shapes.NewCampaign,
        reply=shapes.CampaignSerializer,
        status=201,
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        campaign = create(benchmark, self.content, request.user)
        location = reverse("api:campaign", args=[slug, campaign.pk])
        return with_etag(request, campaign_json(campaign), 201, location)


def create(benchmark: Benchmark, content: dict[str, Any], user: User) -> Campaign:
    """Raises Refused and CampaignRefused."""
    stage = benchmark.stages.filter(key=content["stage"]).first()
    if stage is None:
        raise _refused("/stage", _("The benchmark has no such stage."))
    form = CampaignForm(_form_values(stage, content), benchmark=benchmark, stage=stage)
    data = check_form(form)
    return lifecycle.create(
        stage, data["name"], user, form.targets(), form.wanted_conditions(), summary=data["summary"],
        opens_on=data["opens_on"], closes_on=data["closes_on"], instructions=form.texts(),
    )  # fmt: skip


def _form_values(stage: Stage, content: dict[str, Any]) -> Any:
    """As the page would post them: what is left out is as the form proposes it."""
    form = CampaignForm(benchmark=stage.benchmark, stage=stage)
    values = {"name": stage.name, "conditions": form.fields["conditions"].initial}
    values |= {
        name: content[name] for name in ("name", "summary", "opens_on", "closes_on", "conditions") if name in content
    }
    for name, wanted in content["cohorts"].items():
        cohort = next((known for known in form.cohorts if name in (known.label, str(known.pk))), None)
        if cohort is None:
            raise _refused(f"/cohorts{step(name)}", _("The team has no such cohort."))
        values[f"target_{cohort.pk}"] = wanted
    texts = content.get("instructions", stage.instructions)
    for code, text in texts.items():
        if f"text_{code}" not in form.fields:
            raise _refused(f"/instructions{step(code)}", _("Nobody who is asked reads this language."))
        values[f"text_{code}"] = text
    return form_data(values)


def _refused(pointer: str, words: str) -> Refused:
    return Refused(words, errors=[problem(pointer, "unknown", words)])


class CampaignView(ResourceView):
    """A view of one campaign."""

    def campaign(self, request: Request, slug: str, campaign_id: int, can: Can = "see") -> Campaign:
        return campaign_for(request.user, benchmark_for(request.user, slug, can=can), campaign_id)


class CampaignDetail(CampaignView):
    @operation("campaign", "One campaign", reply=shapes.CampaignSerializer)
    def get(self, request: Request, slug: str, campaign_id: int) -> Response:
        return with_etag(request, campaign_json(self.campaign(request, slug, campaign_id)))


class ProgressView(CampaignView):
    @operation("campaign_progress", "How far each cohort is", reply=shapes.CampaignProgress)
    def get(self, request: Request, slug: str, campaign_id: int) -> Response:
        campaign = self.campaign(request, slug, campaign_id)
        names = ("wanted", "reserved", "submitted", "skipped")
        rows = [
            {"cohort": row.cohort.pk, "label": row.cohort.label, **{name: getattr(row, name) for name in names}}
            for row in lifecycle.progress(campaign)
        ]
        return with_etag(request, {"state": campaign.state, "cohorts": rows})


class CoverageView(CampaignView):
    @operation(
        "campaign_coverage", "Answers by concept or item and cohort", parameters=COVERAGE, reply=shapes.CampaignCoverage
    )
    def get(self, request: Request, slug: str, campaign_id: int) -> Response:
        campaign = self.campaign(request, slug, campaign_id)
        by, show = request.query_params.get("by", "concept"), request.query_params.get("show", "")
        for name, value, known in (("by", by, ("concept", "item")), ("show", show, ("", "missing", "holes"))):
            if value not in known:
                raise InvalidParameter(name, _("There are: %(names)s.") % {"names": ", ".join(filter(None, known))})
        page = parse_int(request.query_params.get("page", "1"), default=None, minimum=1, maximum=10**6)
        if page is None:
            raise InvalidParameter("page", _("Pages are numbered from 1."))
        matrix = coverage_page(campaign, CoverageFilter(by=by, show=show, page=page))
        return Response({"rows": [_coverage_json(row, matrix) for row in matrix.rows], "total": matrix.total})


def _coverage_json(row: Any, matrix: Any) -> dict[str, Any]:
    cohorts = {column.pk: column.cohort_id for column in matrix.cohorts}
    cells = [
        {"cohort": cohorts[cell.cohort_id], "items": cell.units, "wanted": cell.asked, "submitted": cell.counted,
         "reserved": cell.held, "accepted": cell.accepted}
        for cell in row.cells if cell is not None
    ]  # fmt: skip
    return {"concept": row.name, "part": row.part, "cells": cells}


class CampaignCohortList(CampaignView):
    @operation(
        "campaign_cohort_add",
        "Ask one more cohort",
        scope="write",
        body=shapes.NewCampaignCohort,
        reply=shapes.CampaignCohortLine,
        status=201,
    )
    def post(self, request: Request, slug: str, campaign_id: int) -> Response:
        campaign = self.campaign(request, slug, campaign_id, "work_on")
        cohort = Cohort.objects.filter(team=campaign.stage.benchmark.team_id, pk=self.content["cohort"]).first()
        if cohort is None:
            raise _refused("/cohort", _("The team has no such cohort."))
        row = lifecycle.add_cohort(campaign, cohort, self.content["wanted"], request.user)
        location = reverse("api:campaign_cohort", args=[slug, campaign.pk, cohort.pk])
        return with_etag(request, cohort_json(row), 201, location)


class CampaignCohortDetail(CampaignView):
    def row(self, request: Request, slug: str, campaign_id: int, cohort_id: int, can: Can = "see") -> CampaignCohort:
        campaign = self.campaign(request, slug, campaign_id, can)
        row = campaign.cohorts.select_related("cohort", "campaign__stage__benchmark").filter(cohort=cohort_id).first()
        if row is None:
            raise Http404
        return row

    @operation("campaign_cohort", "A cohort in a campaign", reply=shapes.CampaignCohortLine)
    def get(self, request: Request, slug: str, campaign_id: int, cohort_id: int) -> Response:
        return with_etag(request, cohort_json(self.row(request, slug, campaign_id, cohort_id)))

    @operation(
        "campaign_cohort_update",
        "Ask a cohort for more or fewer answers, set its limits, or pause it",
        scope="write",
        body=shapes.CampaignCohortChange,
        reply=shapes.CampaignCohortLine,
    )
    def patch(self, request: Request, slug: str, campaign_id: int, cohort_id: int) -> Response:
        row = self.row(request, slug, campaign_id, cohort_id, "work_on")
        check_match(request, cohort_json(row))
        change, user = self.content, request.user
        if "wanted" in change:  # first, since it may be refused: then nothing is changed
            lifecycle.change_target(row, change["wanted"], user)
        if "paused" in change:
            lifecycle.pause_cohort(row, user, paused=change["paused"])
        if {"most_per_person", "most_per_day"} & set(change):
            limits = {name: change.get(name, getattr(row, name)) for name in ("most_per_person", "most_per_day")}
            lifecycle.set_limits(row, **limits, actor=user)
        return with_etag(request, cohort_json(self.row(request, slug, campaign_id, cohort_id)))


class AssignmentList(CampaignView):
    @operation("campaign_assignments", "Assignments of a campaign", scope="export", parameters=PAGING,
               reply=page_of_shape(shapes.AssignmentLine))  # fmt: skip
    def get(self, request: Request, slug: str, campaign_id: int) -> Response:
        campaign = self.campaign(request, slug, campaign_id, "work_on")
        rows = _readable_assignments(campaign)
        rows = rows.select_related("unit__item", "rater", "participation__cohort__cohort")
        name = campaign.stage.benchmark.pseudonym
        return page_of(
            request, rows, "assignments", lambda page: [assignment_json(row, name) for row in page], campaign.pk
        )


def _readable_assignments(campaign: Campaign) -> QuerySet[Assignment]:
    """Without those of people who withdrew their consent, as in the rows of answers: neither what they answered, nor
    what else they were given. A name that has assignments and no answers would tell who withdrew."""
    benchmark = campaign.stage.benchmark
    left_out = answers_left_out(benchmark).filter(assignment__campaign=campaign)
    rows = Assignment.objects.filter(campaign=campaign)
    rows = rows.exclude(pk__in=list(left_out.values_list("assignment", flat=True)))
    return rows.exclude(is_of_withdrawn(benchmark.team_id) & ~Q(state__in=ANSWERED))


def assignment_json(row: Assignment, pseudonym: Callable[[int], str]) -> dict[str, Any]:
    seat, rater = row.participation, row.rater
    return {
        "id": row.pk, "state": row.state, "item": row.unit.item.key, "target": row.unit.target,
        "cohort": seat.cohort.cohort.label if seat else "",
        "rater": rater_name(rater, pseudonym), "repeat": row.repeat, "skip_reason": row.skip_reason,
        **{name: getattr(row, name) for name in ("reserved_at", "shown_at", "changed_at", "lease_until")},
    }  # fmt: skip


def rater_name(rater: Rater, pseudonym: Callable[[int], str]) -> str:
    """A model's name, or a person's pseudonym in the benchmark."""
    return rater.name if rater.kind == Rater.Kind.MODEL and rater.name else pseudonym(rater.pk)


Act = Callable[[Campaign, User, datetime], object]
ACTIONS: tuple[tuple[str, str, Act], ...] = (
    ("open", "Open a draft: people see it", lifecycle.open_campaign),
    ("pause", "Assign no new work", lambda campaign, user, at: lifecycle.pause(campaign, user)),
    ("resume", "Assign work again", lifecycle.resume),
    ("close", "End a campaign; its answers are kept", lifecycle.close),
)


def action_view(name: str, summary: str, act: Act) -> Any:
    class CampaignAction(CampaignView):
        @operation(f"campaign_{name}", summary, scope="write", reply=shapes.CampaignSerializer)
        def post(self, request: Request, slug: str, campaign_id: int) -> Response:
            campaign = self.campaign(request, slug, campaign_id, "work_on")
            act(campaign, request.user, timezone.now())
            return with_etag(request, campaign_json(self.campaign(request, slug, campaign_id)))

    return CampaignAction.as_view()


def campaign_json(campaign: Campaign) -> dict[str, Any]:
    cohorts = sorted(campaign.cohorts.all(), key=lambda row: row.pk)
    return {
        "id": campaign.pk,
        "stage": campaign.stage.key,
        **{name: getattr(campaign, name) for name in (*TEXTS, *TIMES)},
        "sheet_version": str(campaign.sheet_version),
        "cohorts": [cohort_json(row) for row in cohorts],
    }


def cohort_json(row: CampaignCohort) -> dict[str, Any]:
    return {
        "cohort": row.cohort_id,
        "label": row.cohort.label,
        "wanted": row.target_answers,
        **{name: getattr(row, name) for name in ("most_per_person", "most_per_day", "paused")},
    }
