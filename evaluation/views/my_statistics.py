from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from evaluation.queries.my_statistics import my_statistics
from people.pages.tabs import tabs_for


@login_required
@require_safe
@never_cache
def page(request: HttpRequest) -> HttpResponse:
    """Each person's own. There is no address for anybody else's."""
    assert request.user.is_authenticated
    rows = my_statistics(request.user)
    grouped = any(row.pictures_per_hour is not None for row in rows)
    context = {"rows": rows, "grouped": grouped, "nav": tabs_for(request.user, "history")}
    return render(request, "evaluation/my_statistics.html", context)
