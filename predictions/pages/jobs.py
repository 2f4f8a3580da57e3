"""Who may see the work on a knowledge base, and what stands above it."""

from django.http import Http404
from django.urls import reverse

from jobs.access import JobScope
from people.access import team_for
from people.models import User
from people.pages.tabs import tabs_for
from predictions.models import KnowledgeBase


def knowledge_place(user: User, ident: str) -> JobScope | None:
    rows = KnowledgeBase.objects.select_related("team")
    base = rows.filter(pk=int(ident)).first() if ident.isdigit() else None
    if base is None:
        return None
    try:
        team = team_for(user, base.team.slug)
    except Http404:
        return None
    address = reverse("predictions:knowledge_base", args=[team.slug, base.pk])
    return JobScope(name=str(base), url=address, nav=list(tabs_for(user, "teams")), may_change=True)  # type: ignore[arg-type]
