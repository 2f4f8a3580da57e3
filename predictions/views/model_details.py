"""What is known of a team's models: asked once per model, for all benchmarks of the team."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks.access import benchmark_for, benchmarks_to_work_on
from people.access import is_team_admin, team_for
from people.models import ModelDetails, Team, User
from people.pages.tabs import tabs_for
from people.services import raters
from people.views.request_helpers import current_user
from predictions.forms.model_info import ModelDetailsForm
from predictions.queries.model_details import KnownModel, known_model, known_models


@login_required
@require_safe
def of_benchmark(request: HttpRequest, slug: str) -> HttpResponse:
    """To the page of the benchmark's team, for those who work on the benchmark."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    return redirect("predictions:model_details", benchmark.team.slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def of_team(request: HttpRequest, slug: str) -> HttpResponse:
    """Seen by members; changed by admins of the team and by those who work on a benchmark of it. `model`: which one the
    form is of."""
    user = current_user(request)
    team = _team(user, slug)
    may_change = _may_change(user, team)
    if request.method != "POST":
        return _page(request, team, may_change=may_change)
    if not may_change:
        raise Http404
    form = ModelDetailsForm(request.POST)
    if not form.is_valid():
        return _page(request, team, may_change=True, form=form)
    name = form.cleaned_data["model"]
    raters.save_details(team, name, form.details(), user)
    messages.info(request, _("The details of “%(name)s” were saved.") % {"name": name})
    return redirect("predictions:model_details", team.slug)


def _team(user: User, slug: str) -> Team:
    """For members, and for those who work on a benchmark of the team. Raises Http404."""
    worked_on = benchmarks_to_work_on(user).filter(team__slug=slug).select_related("team").first()
    return worked_on.team if worked_on else team_for(user, slug)


def _may_change(user: User, team: Team) -> bool:
    return is_team_admin(user, team) or benchmarks_to_work_on(user).filter(team=team).exists()


def _page(request: HttpRequest, team: Team, *, may_change: bool, form: ModelDetailsForm | None = None) -> HttpResponse:
    name = request.GET.get("model", "").strip()[:200]
    context = {
        "team": team,
        "nav": tabs_for(current_user(request), "teams"),
        "who_place": team.name,
        "known": known_models(team),
        "may_change": may_change,
        "chosen": name,
        "form": form or ModelDetailsForm(initial=_initial(known_model(team, name)) if name else {}),
    }
    return render(request, "predictions/model_details.html", context, status=400 if form else 200)


def _initial(model: KnownModel) -> dict[str, Any]:
    texts = {key: model.about.get(key, "") for key in ("released", "parameters", "family", "training_data")}
    sides = {True: ModelDetails.Access.OPEN, False: ModelDetails.Access.CLOSED}
    is_open = model.about.get("open")
    return texts | {"model": model.name, "access": sides.get(is_open, "") if isinstance(is_open, bool) else ""}
