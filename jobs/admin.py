from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from jobs.models import Event, Job


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Looked at, never changed: the pages and services do that, and leave a trace."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Job)
class JobAdmin(ReadOnly):
    list_display = ["id", "kind", "title", "scope", "state", "done", "total", "attempts", "created_at"]
    list_filter = ["state", "kind"]
    date_hierarchy = "created_at"


@admin.register(Event)
class EventAdmin(ReadOnly):
    list_display = ["at", "actor", "verb", "scope", "target", "implied"]
    list_filter = ["implied"]
    search_fields = ["verb", "scope", "target"]
    list_select_related = ["actor"]
