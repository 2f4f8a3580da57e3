from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Researchers land on their benchmarks, everybody else on their work."""
    if request.user.team_memberships.exists():
        return redirect("benchmarks:list")
    return redirect("annotation:work")
