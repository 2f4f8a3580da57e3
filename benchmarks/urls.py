from django.urls import path

from benchmarks.views import images, imports, items, pages, plugin_pages, roles, settings

app_name = "benchmarks"
urlpatterns = [
    path("benchmarks/", pages.benchmarks, name="list"),
    path("benchmarks/new/", pages.create, name="create"),
    path("b/<slug:slug>/", pages.detail, name="detail"),
    path("b/<slug:slug>/items/", items.items, name="items"),
    path("b/<slug:slug>/items/<int:item_id>/", items.item, name="item"),
    path("b/<slug:slug>/import/", imports.import_items, name="import"),
    path("b/<slug:slug>/import/manifest.csv", imports.example_manifest, name="sample"),
    path("b/<slug:slug>/roles/", roles.roles, name="roles"),
    path("b/<slug:slug>/roles/<int:role_id>/", roles.role, name="role"),
    path("b/<slug:slug>/settings/", settings.settings, name="settings"),
    path("b/<slug:slug>/pages/<slug:key>/", plugin_pages.page, name="plugin_page"),
    path("image/<str:signed>/", images.image, name="image"),
]
