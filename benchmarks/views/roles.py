from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks.access import benchmark_for, is_permitted
from benchmarks.forms.roles import AddRoleForm
from benchmarks.models import Role
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries import overview
from benchmarks.services.roles import LastOwner, NotATeamMember, remove_role, set_role
from people.services.teams import PersonNeeded
from people.views.request_helpers import current_user


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def roles(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="roles")
    form = AddRoleForm(request.POST or None, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        set_role(benchmark, data["user"], Role.Name(data["name"]), current_user(request))
        return redirect("benchmarks:roles", slug)
    context = {
        "benchmark": benchmark,
        "roles": overview.roles(benchmark),
        "names": Role.Name.choices,
        "form": form,
        "anyone_left": form.fields["user"].queryset.exists(),  # type: ignore[attr-defined]
        "nav": tabs_for(request.user, benchmark, "roles"),
        "who_place": benchmark.name,
    }
    return render(request, "benchmarks/roles.html", context)


@login_required
@require_POST
def role(request: HttpRequest, slug: str, role_id: int) -> HttpResponse:
    """Change a role, or take it away."""
    benchmark = benchmark_for(request.user, slug, can="roles")
    role = benchmark.roles.select_related("user").filter(pk=role_id).first()
    wanted = request.POST.get("name", "")
    if role is None:
        raise Http404
    try:
        if wanted == "none":
            remove_role(benchmark, role.user, current_user(request))
        elif wanted in Role.Name.values:
            set_role(benchmark, role.user, Role.Name(wanted), current_user(request))
    except LastOwner:
        messages.error(request, _("A benchmark always has an owner. Change another member's role to owner first."))
    except PersonNeeded:
        messages.error(request, _("A service account cannot review. Choose another role."))
    except NotATeamMember:
        messages.error(request, _("This person is no longer in the team. The role can only be removed."))
    return (
        redirect("benchmarks:roles", slug)
        if is_permitted(request.user, benchmark, "roles")
        else redirect("benchmarks:list")
    )
