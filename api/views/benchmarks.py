"""Benchmarks: listed, created and changed as on their pages."""

import json
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.authentication import allowed_benchmarks
from api.protocol.contents import check_form, form_data, problem
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, with_etag
from api.protocol.problems import BadContent
from api.schemas.benchmarks import BenchmarkChange, BenchmarkLine, NewBenchmark
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from benchmarks.access import Can, benchmark_for, visible_benchmarks
from benchmarks.forms.benchmarks import BLANK, SAVED, CreateForm
from benchmarks.forms.settings import SettingsForm
from benchmarks.models import Benchmark
from benchmarks.recipes.registry import RECIPES
from benchmarks.services import settings
from benchmarks.services.recipes.saved_recipes import keep_recipe, read_file
from people.access import team_for, visible_teams
from people.models import User
from releases.rows.registry import KINDS

LINKS = ("agreement", "tables", "campaigns", "runs", *(kind.key for kind in KINDS))
ORIGINS = ("recipe", "saved_recipe", "file", "question")


class BenchmarkList(ResourceView):
    spans = True

    @operation("benchmarks", "Your benchmarks", parameters=PAGING, reply=page_of_shape(BenchmarkLine))
    def get(self, request: Request) -> Response:
        rows, chosen = visible_benchmarks(request.user).select_related("team"), allowed_benchmarks(request)
        rows = rows if chosen is None else rows.filter(pk__in=chosen)
        return page_of(request, rows, "benchmarks", lambda page: [benchmark_json(row) for row in page])

    @operation(
        "benchmark_create",
        "Create a benchmark from a recipe, a recipe file or a question",
        scope="write",
        body=NewBenchmark,
        reply=BenchmarkLine,
        status=201,
    )
    def post(self, request: Request) -> Response:
        benchmark = create(self.content, request.user)
        location = reverse("api:benchmark", args=[benchmark.slug])
        return with_etag(request, benchmark_json(benchmark), 201, location)


def create(content: dict[str, Any], user: User) -> Benchmark:
    """Raises Http404 for the team of others, BadContent, Refused, and what the services raise."""
    team = team_for(user, content["team"])
    origins = [name for name in ORIGINS if name in content]
    if len(origins) != 1:
        names = ", ".join(ORIGINS)
        raise BadContent([problem("", "origin", _("Send exactly one of these: %(names)s.") % {"names": names})])
    recipe = {"question": BLANK, "recipe": _recipe_key(content.get("recipe", ""))}.get(origins[0], "")
    if origins[0] == "saved_recipe":
        recipe = f"{SAVED}{content['saved_recipe']}"
    if origins[0] == "file":
        row, _is_new = keep_recipe(team, read_file(json.dumps(content["file"]).encode()), user)
        recipe = f"{SAVED}{row.pk}"
    data = form_data({**content, "team": team.pk, "recipe": recipe})
    form = CreateForm(data, teams=visible_teams(user))
    check_form(form)
    return form.create(user)


def _recipe_key(name: str) -> str:
    """A published recipe by its key, or by the first word of it where one recipe alone has that."""
    keys = [recipe.key for recipe in RECIPES]
    longer = [key for key in keys if key.startswith(f"{name}-")]
    return longer[0] if name not in keys and len(longer) == 1 else name


class BenchmarkDetail(ResourceView):
    @operation("benchmark", "One benchmark", reply=BenchmarkLine)
    def get(self, request: Request, slug: str) -> Response:
        return with_etag(request, benchmark_json(benchmark_for(request.user, slug)))

    @operation(
        "benchmark_update",
        "Change what a benchmark says of itself",
        scope="write",
        body=BenchmarkChange,
        reply=BenchmarkLine,
    )
    def patch(self, request: Request, slug: str) -> Response:
        can: Can = "own" if "is_public" in self.content else "work_on"
        benchmark = settings.lock(benchmark_for(request.user, slug, can=can))
        check_match(request, benchmark_json(benchmark))
        values = {name: getattr(benchmark, name) for name in settings.SETTING_NAMES} | self.content
        settings.change(benchmark, check_form(SettingsForm(form_data(values), owns=True)), request.user)
        return with_etag(request, benchmark_json(settings.lock(benchmark)))


def benchmark_json(benchmark: Benchmark) -> dict[str, Any]:
    addresses = {name: reverse(f"api:{name}", args=[benchmark.slug]) for name in LINKS}
    names = ("slug", "name", "purpose", "recipe", "recipe_version", "citation", "licence")
    more = {name: getattr(benchmark, name) for name in ("answers_by_api", "is_public", "created_at")}
    facts = {name: getattr(benchmark, name) for name in names} | more
    return {"id": benchmark.pk, "team": benchmark.team.slug, **facts, **addresses}
