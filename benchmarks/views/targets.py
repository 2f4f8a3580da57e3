"""A team's label sets: seen by its members, changed by those who work on one of its benchmarks."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access import label_set_for, may_edit_label_sets, team_for_label_sets, visible_benchmarks
from benchmarks.forms.targets import LabelSetForm, problem_text
from benchmarks.imports.label_files import SAMPLE
from benchmarks.models import CohortLabel, LabelSet
from benchmarks.pages.label_set_uses import uses_of
from benchmarks.queries.label_sets import find_offered, newest_sets, offered_sets
from benchmarks.rules.label_sets.contract import LabelSetError
from benchmarks.services.label_sets import ensure, import_set, set_cohort_label
from jobs.formats.csv_safety import csv_lines
from jobs.formats.numbers import parse_id
from people.models import Team
from people.pages.tabs import tabs_for
from people.views.request_helpers import current_user


def _context(request: HttpRequest, team: Team, **more: Any) -> dict[str, Any]:
    user = current_user(request)
    return {"team": team, "edits": may_edit_label_sets(user, team), "nav": tabs_for(user, "teams"), **more}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def targets(request: HttpRequest, slug: str) -> HttpResponse:
    """The sets of the team, and those it has not used yet. Posted: add one of the latter."""
    team = team_for_label_sets(request.user, slug, edit=request.method == "POST")
    if request.method == "POST":
        key = request.POST.get("add", "")
        if find_offered(key) is None:
            raise Http404
        return redirect("benchmarks:target_set", team.slug, ensure(team, key).pk)
    rows = list(newest_sets(team))
    known = {row.key for row in rows}
    offered = [(spec, len(spec.labels)) for spec in offered_sets() if spec.key not in known]
    return render(request, "benchmarks/targets.html", _context(request, team, sets=rows, offered=offered))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def target_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Import a set, or type one."""
    team = team_for_label_sets(request.user, slug, edit=True)
    form = LabelSetForm(request.POST or None, request.FILES or None, team=team)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            row, is_new = import_set(
                team, form.set_name, form.labels, current_user(request), key=data["label_set"], kind=data["kind"],
                source=data["source"], licence=data["licence"],
            )  # fmt: skip
        except LabelSetError as problem:
            form.add_error("name", problem_text(problem))
        else:
            stored, same = _("Version %(number)s is stored."), _("Version %(number)s has the same content already.")
            messages.info(request, (stored if is_new else same) % {"number": row.version})
            return redirect("benchmarks:target_set", team.slug, row.pk)
    context = _context(request, team, form=form)
    return render(request, "benchmarks/target_new.html", context, status=400 if form.errors else 200)


@login_required
@require_safe
def target_sample(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A file to fill in."""
    team_for_label_sets(request.user, slug)
    response = StreamingHttpResponse(csv_lines(SAMPLE[0], SAMPLE[1:]), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="labels.csv"'
    return response


@login_required
@require_safe
def target_set(request: HttpRequest, slug: str, label_set_id: int) -> HttpResponse:
    """One version: its labels, the cohorts that have one, the other versions, and what uses it."""
    team = team_for_label_sets(request.user, slug)
    label_set = label_set_for(team, label_set_id)
    chosen = dict(CohortLabel.objects.filter(label_set=label_set).values_list("cohort", "label"))
    context = _context(
        request,
        team,
        label_set=label_set,
        labels=list(label_set.labels.all()),
        versions=LabelSet.objects.filter(team=team, key=label_set.key).order_by("-version"),
        cohorts=[(cohort, chosen.get(cohort.pk)) for cohort in team.cohorts.order_by("label")],
        uses=uses_of(label_set, visible_benchmarks(request.user)),
    )
    return render(request, "benchmarks/target_set.html", context)


@login_required
@require_POST
def target_cohorts(request: HttpRequest, slug: str, label_set_id: int) -> HttpResponse:
    """Say which label each cohort has. A cohort that is not named stays as it is."""
    team = team_for_label_sets(request.user, slug, edit=True)
    label_set = label_set_for(team, label_set_id)
    labels = {label.pk: label for label in label_set.labels.all()}
    for cohort in team.cohorts.order_by("pk"):
        posted = request.POST.get(f"cohort-{cohort.pk}")
        if posted is None:
            continue
        label = labels.get(parse_id(posted))
        if posted and label is None:
            raise Http404
        set_cohort_label(cohort, label_set, label, current_user(request))
    messages.info(request, _("The labels of the cohorts are saved."))
    return redirect("benchmarks:target_set", team.slug, label_set.pk)
