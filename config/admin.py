"""Django's admin as this site uses it: sign-ins are limited as at the other doors, and every look leaves an event."""

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.forms import AdminAuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator

from jobs.views.model_admin import record_by
from people.forms.persons import CountingForm
from people.views.sign_in_limit import limit_failures


class AdminSignInForm(CountingForm, AdminAuthenticationForm):
    pass


class EmicAdminSite(AdminSite):
    login_form = AdminSignInForm

    @method_decorator(limit_failures)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().login(request, extra_context)

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        response = super().password_change(request, extra_context)
        if request.method == "POST" and response.status_code == 302:
            record_by(request, "admin.changed", f"user:{request.user.pk}", fields=["password"])
        return response

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        response = super().autocomplete_view(request)
        record_by(request, "admin.looked", str(request.GET.get("model_name", ""))[:80], filter=["autocomplete"])
        return response
