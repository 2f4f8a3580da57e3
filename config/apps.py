from django.apps import AppConfig


class EmicConfig(AppConfig):
    """Wiring that belongs to no single app: deployment checks."""

    name = "config"
    label = "emic"

    def ready(self) -> None:
        from config import checks  # noqa: F401  (registers the checks)
