"""Base classes of Django's admin pages: every look and every change leaves an event with who, from where and what;
nothing is deleted."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string

from jobs.models import record


def record_by(request: HttpRequest, verb: str, target: str, **data: Any) -> None:
    """Write an event of whoever asks, with the address they ask from."""
    address = import_string(settings.AXES_CLIENT_IP_CALLABLE)(request) or None
    record(request.user, verb, target=target, client_address=address, **data)


class RecordingModelAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """The base of every registered ModelAdmin. Events hold names of fields and filters, no values."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        record_by(request, "admin.added", self._target(obj.pk))
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        record_by(request, "admin.changed", self._target(obj.pk), fields=changed_fields(message))
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for obj in queryset:
            record_by(request, "admin.deleted", self._target(obj.pk))
        return super().log_deletions(request, queryset)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        self._record_look(request, response, "", filter=sorted(request.GET))
        return response

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        if request.method == "POST" and adds_inline_rows(request):
            raise PermissionDenied
        response = super().changeform_view(request, object_id, form_url, extra_context)
        if object_id is not None:
            self._record_look(request, response, object_id)
        return response

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        response = super().history_view(request, object_id, extra_context)
        self._record_look(request, response, object_id, filter=["history"])
        return response

    def _record_look(self, request: HttpRequest, response: HttpResponse, object_id: str, **data: Any) -> None:
        """A page with data was shown; what was refused, or redirects, shows none."""
        if response.status_code == 200:
            record_by(request, "admin.looked", self._target(object_id), **data)

    def _target(self, pk: Any) -> str:
        name = str(self.opts.model_name)
        return f"{name}:{pk}"[:80] if pk else name


def changed_fields(message: Any) -> list[str]:
    """The names of the fields in Django's change message."""
    parts = [part["changed"] for part in message if "changed" in part] if isinstance(message, list) else []
    return [str(field) for part in parts for field in part.get("fields", [])]


def adds_inline_rows(request: HttpRequest) -> bool:
    """Whether the form asks for new rows of an inline. All inlines are read-only, so no page makes such a form."""
    for key, total in request.POST.items():
        if key.endswith("-TOTAL_FORMS") and total != request.POST.get(key.replace("-TOTAL_", "-INITIAL_"), "0"):
            return True
    return False


class ReadOnlyInline(admin.TabularInline):  # type: ignore[type-arg]
    """Rows that belong to the object, to be looked at: the pages change them, and leave a trace."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(RecordingModelAdmin):
    """Looked at, never changed: the pages and services do that, and leave a trace."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
