from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.contrib.staticfiles.apps import StaticFilesConfig


class EmicConfig(AppConfig):
    """Wiring that belongs to no single app: deployment checks."""

    name = "config"
    label = "emic"

    def ready(self) -> None:
        from config import checks  # noqa: F401  (registers the checks)


class StaticFiles(StaticFilesConfig):
    """Leaves out htmx's extensions: unused, and one of them imports a module by a name that cannot be hashed."""

    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "ext"]


class EmicAdmin(AdminConfig):
    default = False
    default_site = "config.admin.EmicAdminSite"
