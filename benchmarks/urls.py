from django.urls import path

from benchmarks.views import (
    filters,
    images,
    import_tables,
    imports,
    items,
    pages,
    plugin_pages,
    recipe_cohorts,
    roles,
    settings,
    targets,
)

app_name = "benchmarks"
urlpatterns = [
    path("benchmarks/", pages.benchmarks, name="list"),
    path("benchmarks/new/", pages.create, name="create"),
    path("b/<slug:slug>/", pages.detail, name="detail"),
    path("b/<slug:slug>/items/", items.items, name="items"),
    path("b/<slug:slug>/items/<int:item_id>/", items.item, name="item"),
    path("b/<slug:slug>/import/", imports.import_items, name="import"),
    path("b/<slug:slug>/import/table/", import_tables.import_table, name="import_table"),
    path("b/<slug:slug>/import/manifest.csv", imports.example_manifest, name="sample"),
    path("b/<slug:slug>/cohorts/", recipe_cohorts.cohorts, name="cohorts"),
    path("b/<slug:slug>/stages/<int:stage_id>/filters/", filters.page, name="filters"),
    path("b/<slug:slug>/stages/<int:stage_id>/filters/edit/", filters.edit, name="filter_edit"),
    path("b/<slug:slug>/stages/<int:stage_id>/filters/action/", filters.perform_action, name="filters_action"),
    path("b/<slug:slug>/stages/<int:stage_id>/filters/items/<int:item_id>/", filters.decide, name="filter_decide"),
    path("b/<slug:slug>/roles/", roles.roles, name="roles"),
    path("b/<slug:slug>/roles/<int:role_id>/", roles.role, name="role"),
    path("b/<slug:slug>/settings/", settings.settings, name="settings"),
    path("b/<slug:slug>/pages/<slug:key>/", plugin_pages.page, name="plugin_page"),
    path("teams/<slug:slug>/targets/", targets.targets, name="targets"),
    path("teams/<slug:slug>/targets/new/", targets.target_new, name="target_new"),
    path("teams/<slug:slug>/targets/labels.csv", targets.target_sample, name="target_sample"),
    path("teams/<slug:slug>/targets/<int:label_set_id>/", targets.target_set, name="target_set"),
    path("teams/<slug:slug>/targets/<int:label_set_id>/cohorts/", targets.target_cohorts, name="target_cohorts"),
    path("image/<str:signed>/", images.image, name="image"),
]
