from django.contrib import admin

from jobs.models import Event, Job
from jobs.views.model_admin import ReadOnlyAdmin


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ["id", "kind", "title", "scope", "state", "done", "total", "attempts", "created_at"]
    list_filter = ["state", "kind"]
    date_hierarchy = "created_at"


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ["at", "actor", "address", "verb", "scope", "target", "implied"]
    list_filter = ["implied"]
    search_fields = ["verb", "scope", "target"]
    list_select_related = ["actor"]
