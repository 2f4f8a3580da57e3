from django.urls import path

from releases.views import checks, description, export, foreign, imports, public, releases, tool_exports

app_name = "releases"
urlpatterns = [
    path("b/<slug:slug>/import/other-tool/", foreign.choose, name="foreign"),
    path("b/<slug:slug>/import/other-tool/preview/", foreign.preview, name="foreign_preview"),
    path("releases/import/", imports.choose, name="import"),
    path("releases/import/<str:token>/", imports.preview, name="import_preview"),
    path("public/<slug:slug>/", public.page, name="public"),
    path("b/<slug:slug>/export/", export.page, name="export"),
    path("b/<slug:slug>/export/tools/", tool_exports.page, name="tool_export"),
    path("b/<slug:slug>/export/<int:job_id>/", export.file, name="export_file"),
    path("b/<slug:slug>/releases/", releases.index, name="list"),
    path("b/<slug:slug>/releases/new/", releases.new, name="new"),
    path("b/<slug:slug>/releases/description/", description.page, name="description"),
    path("b/<slug:slug>/releases/<int:release_id>/gaps/", description.fill, name="fill"),
    path("b/<slug:slug>/releases/<int:release_id>/", releases.detail, name="release"),
    path("b/<slug:slug>/releases/<int:release_id>/action/", releases.action, name="action"),
    path("b/<slug:slug>/releases/<int:release_id>/files/<int:file_id>/", releases.file, name="file"),
    path("b/<slug:slug>/releases/<int:release_id>/withheld/<int:withheld_id>/", releases.withheld, name="withheld"),
    path("b/<slug:slug>/releases/<int:release_id>/check/", checks.check, name="check"),
    path("b/<slug:slug>/releases/<int:release_id>/deposit/", checks.deposit, name="deposit"),
    path("b/<slug:slug>/releases/<int:release_id>/archive/", releases.whole, name="archive"),
]
