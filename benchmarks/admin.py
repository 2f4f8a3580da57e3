from django.contrib import admin

from benchmarks.models import Benchmark, Image, Item, Role, Stage
from jobs.views.model_admin import ReadOnlyAdmin, ReadOnlyInline


class RoleInline(ReadOnlyInline):
    model = Role


@admin.register(Benchmark)
class BenchmarkAdmin(ReadOnlyAdmin):
    list_display = ["name", "slug", "team", "recipe", "created_at"]
    list_filter = ["team", "recipe"]
    search_fields = ["name", "slug"]
    exclude = ["pseudonym_key"]  # whoever has it can tell who a pseudonym is
    inlines = [RoleInline]


@admin.register(Stage)
class StageAdmin(ReadOnlyAdmin):
    list_display = ["name", "key", "benchmark", "display", "target_answers"]
    list_select_related = ["benchmark"]


@admin.register(Item)
class ItemAdmin(ReadOnlyAdmin):
    list_display = ["key", "stage", "concept", "origin", "condition", "withdrawn_at"]
    list_filter = ["condition"]
    search_fields = ["key"]
    list_select_related = ["stage"]
    show_full_result_count = False


@admin.register(Image)
class ImageAdmin(ReadOnlyAdmin):
    list_display = ["sha256", "team", "format", "width", "height", "bytes"]
    list_filter = ["format"]
    search_fields = ["sha256"]
    show_full_result_count = False
