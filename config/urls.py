"""Every app owns its urls; this file only says where they hang."""

from django.contrib import admin
from django.urls import include, path

from api.protocol.problems import PAGE
from api.views.documentation import documentation
from api.views.problems import problems
from config.health import healthz, readyz
from config.home import home
from config.old_addresses import urlpatterns as old_addresses

handler500 = "config.full_disk.server_error"
urlpatterns = [
    path("", include("annotation.urls")),
    path("", home, name="home"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("admin/", admin.site.urls),
    path("", include("people.urls")),
    path("", include("jobs.urls")),
    path("", include("benchmarks.urls")),
    path("", include("predictions.urls")),
    path("", include("evaluation.urls")),
    path("", include("releases.urls")),
    path("", include("api.views.webhook_urls")),
    path("", include("demo.urls")),
    path("api/", include("api.urls")),
    path("docs/", documentation, name="documentation"),
    path(PAGE.removeprefix("/"), problems, name="api-problems"),
    *old_addresses,
]
