"""Who may see the jobs of a team, and what stands above them."""

from typing import Any

from django.urls import reverse

from jobs.access import JobScope
from jobs.models import Job
from jobs.pages.progress import progress_context
from people.access import is_team_admin, visible_teams
from people.models import User
from people.pages.tabs import tabs_for


def job_scope(user: User, ident: str) -> JobScope | None:
    """For members of the team; its admins may stop and resume."""
    team = visible_teams(user).filter(pk=int(ident)).first() if ident.isdigit() else None
    if team is None:
        return None
    return JobScope(
        name=team.name,
        url=reverse("people:team", args=[team.slug]),
        nav=[dict(tab) for tab in tabs_for(user, "teams")],
        may_change=is_team_admin(user, team),
    )


def team_job_progress(user: User) -> dict[str, Any]:
    """The newest job of the person's teams that is not done, as `jobs/progress.html` takes it; empty without one."""
    scopes = [f"team:{pk}" for pk in visible_teams(user).values_list("pk", flat=True)]
    job = Job.objects.filter(scope__in=scopes).exclude(state=Job.State.DONE).order_by("-pk").first()
    place = job_scope(user, job.scope.removeprefix("team:")) if job is not None else None
    return progress_context(job, place) if job is not None and place is not None else {}
