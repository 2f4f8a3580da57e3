"""The only way from a benchmark's address to a benchmark, for a person. Strangers get 404, everywhere."""

from datetime import timedelta
from typing import Literal

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404
from django.utils import timezone

from benchmarks.models import Benchmark, Role
from jobs.models import Event, record
from people.models import TeamMember, User

Can = Literal["see", "review", "work_on", "own", "roles"]
SEEN = "admin.looked"


def benchmark_for(user: User | AnonymousUser, slug: str, *, can: Can = "see") -> Benchmark:
    """see: any role, team admins, site admins (which leaves an event); review: any role; work_on: owner, researcher;
    own: owner; roles: owner and team admins, so that a benchmark whose owner left is not lost."""
    if isinstance(user, AnonymousUser):
        raise Http404
    allowed_benchmark = _allowed(user, can).filter(slug=slug).select_related("team").first()
    if allowed_benchmark:
        return allowed_benchmark
    if can == "see" and user.is_staff:
        benchmark = Benchmark.objects.filter(slug=slug).select_related("team").first()
        if benchmark:
            _leave_trace(user, benchmark)
            return benchmark
    raise Http404


def visible_benchmarks(user: User | AnonymousUser) -> QuerySet[Benchmark]:
    """What a person's list shows. Site admins see theirs only: opening another's by address leaves an event."""
    if isinstance(user, AnonymousUser):
        return Benchmark.objects.none()
    return _allowed(user, "see")


def worked_on(user: User) -> QuerySet[Benchmark]:
    """Those whose stages this person may read whole and write."""
    return _allowed(user, "work_on")


def may(user: User | AnonymousUser, benchmark: Benchmark, can: Can) -> bool:
    """For showing a button or not; the view behind it asks `benchmark_for` again."""
    return isinstance(user, User) and _allowed(user, can).filter(pk=benchmark.pk).exists()


def _allowed(user: User, can: Can) -> QuerySet[Benchmark]:
    """A role counts only while its person is a member of the team."""
    member = TeamMember.objects.filter(team=OuterRef("team"), user=user)
    roles = Role.objects.filter(benchmark=OuterRef("pk"), user=user)
    if can in ("own", "roles"):
        roles = roles.filter(name=Role.Name.OWNER)
    elif can == "work_on":
        roles = roles.filter(name__in=(Role.Name.OWNER, Role.Name.RESEARCHER))
    allowed = Q(Exists(member)) & Q(Exists(roles))
    if can in ("see", "roles"):
        allowed |= Q(Exists(member.filter(role=TeamMember.Role.ADMIN)))
    return Benchmark.objects.filter(allowed)


def _leave_trace(user: User, benchmark: Benchmark) -> None:
    """Once in ten minutes: a page that polls would otherwise write an event every few seconds."""
    recently = timezone.now() - timedelta(minutes=10)
    if not Event.objects.filter(scope=benchmark.scope, verb=SEEN, actor=user, at__gte=recently).exists():
        record(user, SEEN, scope=benchmark.scope, target=str(benchmark.pk))
