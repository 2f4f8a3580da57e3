"""The only way from a benchmark's address to a benchmark, for a person. Strangers get 404, everywhere."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, Literal

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone

from benchmarks.models import Benchmark, LabelSet, Role, SavedRecipe, Stage
from jobs.models import Event, record
from jobs.queries.read_together import read_for_each
from jobs.queries.statements import fetch
from people.access import is_team_admin, team_for, teams_with_admin, visible_teams
from people.models import Team, TeamMember, User

Can = Literal["see", "review", "work_on", "own", "roles"]
SEEN = "admin.looked"
_KNOWN: ContextVar[dict[tuple[int, int], frozenset[Can]] | None] = ContextVar("permissions of one page", default=None)


def benchmark_for(user: User | AnonymousUser, slug: str, *, can: Can = "see") -> Benchmark:
    """see: any role, team admins, site admins (which leaves an event); review: any role, of a person; work_on: owner,
    researcher; own: owner; roles: owner and team admins, so that a benchmark whose owner left is not lost."""
    if isinstance(user, AnonymousUser):
        raise Http404
    member = TeamMember.objects.filter(team=OuterRef("team"), user=user).values("role")
    role = Role.objects.filter(benchmark=OuterRef("pk"), user=user).values("name")
    rows = Benchmark.objects.filter(slug=slug).select_related("team")
    row: Any = get_object_or_404(rows.annotate(in_team=Subquery(member), in_benchmark=Subquery(role)))
    benchmark: Benchmark = row
    if row.in_team and can in _cans_of(row.in_team, row.in_benchmark, user):
        return benchmark
    if can == "see" and user.is_staff:
        _leave_trace(user, benchmark)
        return benchmark
    raise Http404


def public_benchmark_for(slug: str) -> Benchmark:
    """A benchmark that its owner made public, for everybody. Raises Http404."""
    return get_object_or_404(Benchmark, slug=slug, is_public=True)


def stage_for(user: User | AnonymousUser, slug: str, stage_id: int, *, can: Can = "work_on") -> Stage:
    """A stage of a benchmark that this person may open. Raises Http404."""
    benchmark = benchmark_for(user, slug, can=can)
    stage = get_object_or_404(benchmark.stages, pk=stage_id)
    stage.benchmark = benchmark
    return stage


def visible_benchmarks(user: User | AnonymousUser) -> QuerySet[Benchmark]:
    """What a person's list shows. Site admins see theirs only: opening another's by address leaves an event."""
    if isinstance(user, AnonymousUser):
        return Benchmark.objects.none()
    return _permitted_benchmarks(user, "see")


def visible_choices(user: User) -> list[tuple[int, str]]:
    """Number and name of each of these, for a form."""
    return list(visible_benchmarks(user).order_by("name").values_list("pk", "name"))


def benchmarks_to_work_on(user: User) -> QuerySet[Benchmark]:
    """Those whose stages this person may read whole and write."""
    return _permitted_benchmarks(user, "work_on")


def is_permitted(user: User | AnonymousUser, benchmark: Benchmark, can: Can) -> bool:
    """For showing a button or not; the view behind it asks `benchmark_for` again."""
    if not isinstance(user, User):
        return False
    known, whose = _KNOWN.get(), (user.pk, benchmark.pk)
    if known is not None and whose in known:
        return can in known[whose]
    permissions: frozenset[Can] = read_for_each(benchmark, _permissions, user) or frozenset()
    if known is not None:
        known[whose] = permissions
    return can in permissions


STANDING = """
SELECT b.id, m.role, r.name
FROM benchmarks_benchmark b JOIN people_teammember m ON m.team_id = b.team_id AND m.user_id = %(user)s
  LEFT JOIN benchmarks_role r ON r.benchmark_id = b.id AND r.user_id = %(user)s
WHERE b.id = ANY(%(benchmarks)s)
"""


def _permissions(benchmarks: Sequence[Benchmark], user: User) -> Mapping[int, frozenset[Can]]:
    """All that a person may do in each of them, as `_permitted_benchmarks` has it. One query, which a page asks several
    times: written out, for to build it took longer than to answer it."""
    rows = fetch(STANDING, {"user": user.pk, "benchmarks": [benchmark.pk for benchmark in benchmarks]})
    return {pk: frozenset(_cans_of(member, role, user)) for pk, member, role in rows}


def _cans_of(member: str, role: str | None, user: User) -> Iterator[Can]:
    """`member`: the person's role in the team; `role`: in the benchmark."""
    is_admin = member == TeamMember.Role.ADMIN
    if role or is_admin:
        yield "see"
    if role and not user.is_service:
        yield "review"
    if role in (Role.Name.OWNER, Role.Name.RESEARCHER):
        yield "work_on"
    if role == Role.Name.OWNER:
        yield "own"
    if role == Role.Name.OWNER or is_admin:
        yield "roles"


@contextmanager
def permissions_asked_once() -> Iterator[None]:
    """While a page is made that changes nothing, `is_permitted` asks the database once for each benchmark."""
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def may_create_cohorts(user: User | AnonymousUser, benchmark: Benchmark) -> bool:
    """Whether this person may create the cohorts that the benchmark's recipe names: admins of the team and of the site,
    and, where the team allows it, owners and researchers of the benchmark."""
    if not isinstance(user, User) or not user.is_active:
        return False
    if user.is_staff or read_for_each(benchmark.team, teams_with_admin, user):
        return True
    return benchmark.team.researchers_make_cohorts and is_permitted(user, benchmark, "work_on")


def _permitted_benchmarks(user: User, can: Can) -> QuerySet[Benchmark]:
    """A role counts only while its person is a member of the team."""
    member = TeamMember.objects.filter(team=OuterRef("team"), user=user)
    roles = Role.objects.filter(benchmark=OuterRef("pk"), user=user)
    if can == "review" and user.is_service:
        return Benchmark.objects.none()  # decisions are those of people
    if can in ("own", "roles"):
        roles = roles.filter(name=Role.Name.OWNER)
    elif can == "work_on":
        roles = roles.filter(name__in=(Role.Name.OWNER, Role.Name.RESEARCHER))
    allowed = Q(Exists(member)) & Q(Exists(roles))
    if can in ("see", "roles"):
        allowed |= Q(Exists(member.filter(role=TeamMember.Role.ADMIN)))
    return Benchmark.objects.filter(allowed)


def label_set_for(team: Team, label_set_id: int) -> LabelSet:
    """A label set of a team that the person has been let into; 404 for those of others."""
    return get_object_or_404(LabelSet.objects.select_related("team"), team=team, pk=label_set_id)


def may_edit_label_sets(user: User | AnonymousUser, team: Team) -> bool:
    """Admins of the team, and members who work on one of its benchmarks."""
    if not isinstance(user, User):
        return False
    return is_team_admin(user, team) or _permitted_benchmarks(user, "work_on").filter(team=team).exists()


def team_for_label_sets(user: User | AnonymousUser, slug: str, *, edit: bool = False) -> Team:
    """A team for its members; with `edit`, for those who may change its label sets."""
    team = team_for(user, slug)
    if edit and not may_edit_label_sets(user, team):
        raise Http404
    return team


def team_for_recipes(user: User | AnonymousUser, slug: str, *, edit: bool = False) -> Team:
    """A team for its members, who may all create benchmarks there; with `edit`, not for site admins of other teams."""
    team = team_for(user, slug)
    if edit and not (isinstance(user, User) and visible_teams(user).filter(pk=team.pk).exists()):
        raise Http404
    return team


def saved_recipe_for(team: Team, saved_recipe_id: int) -> SavedRecipe:
    """A recipe of a team that the person has been let into; 404 for those of others."""
    return get_object_or_404(SavedRecipe.objects.select_related("team", "created_by"), team=team, pk=saved_recipe_id)


def may_remove_recipe(user: User | AnonymousUser, row: SavedRecipe) -> bool:
    """Who saved this version, while a member, and the team's admins."""
    if not isinstance(user, User) or not visible_teams(user).filter(pk=row.team_id).exists():
        return False
    return row.created_by_id == user.pk or is_team_admin(user, row.team)


def _leave_trace(user: User, benchmark: Benchmark) -> None:
    """Once in ten minutes: a page that polls would otherwise write an event every few seconds."""
    recently = timezone.now() - timedelta(minutes=10)
    if not Event.objects.filter(scope=benchmark.scope, verb=SEEN, actor=user, at__gte=recently).exists():
        record(user, SEEN, scope=benchmark.scope, target=str(benchmark.pk))
