from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.overview import PANEL
        from benchmarks import overview

        overview.register(PANEL)
