"""Who may see and change webhooks: of a benchmark those who work on it, of a whole team its admins."""

from django.db.models import Q, QuerySet
from django.http import Http404

from api.models import Webhook
from benchmarks.access import benchmark_for, benchmarks_to_work_on
from benchmarks.models import Benchmark
from people.access import is_team_admin, team_for
from people.models import Team, TeamMember, User


def webhooks_of(user: User) -> QuerySet[Webhook]:
    """All that this person may change."""
    if not user.is_active:
        return Webhook.objects.none()
    admin = TeamMember.objects.filter(user=user, role=TeamMember.Role.ADMIN).values("team")
    mine = Q(team__in=admin) | Q(benchmark__in=benchmarks_to_work_on(user))
    return Webhook.objects.filter(mine).select_related("team", "benchmark", "made_by")


def webhook_for(user: User, webhook_id: int) -> Webhook:
    """Raises Http404."""
    webhook = webhooks_of(user).filter(pk=webhook_id).first()
    if webhook is None:
        raise Http404
    return webhook


def place_for_webhook(user: User, team_slug: str, benchmark_slug: str) -> tuple[Team, Benchmark | None]:
    """Where this person may create a webhook: a benchmark that they work on, or a team that they are an admin of."""
    if benchmark_slug:
        admin = TeamMember.objects.filter(user=user, role=TeamMember.Role.ADMIN).values("team")
        of_admin = Benchmark.objects.filter(slug=benchmark_slug, team__in=admin).select_related("team").first()
        benchmark = of_admin or benchmark_for(user, benchmark_slug, can="work_on")
        if benchmark.team.slug != team_slug:
            raise Http404
        return benchmark.team, benchmark
    return team_for_webhooks(user, team_slug), None


def team_for_webhooks(user: User, slug: str) -> Team:
    """Raises Http404."""
    team = team_for(user, slug)
    if not is_team_admin(user, team):
        raise Http404
    return team


def benchmarks_for_webhooks(user: User, team: Team) -> list[Benchmark]:
    """Those that this person may create a webhook for."""
    every = is_team_admin(user, team)
    rows = Benchmark.objects.all() if every else benchmarks_to_work_on(user)
    return list(rows.filter(team=team).order_by("name"))
