from django.apps import AppConfig


class DemoConfig(AppConfig):
    """The topmost app. It has no tables: it fills those of the others."""

    name = "demo"

    def ready(self) -> None:
        from demo.loading import LOAD_DEMO
        from jobs.services import kinds

        kinds.register(LOAD_DEMO)
