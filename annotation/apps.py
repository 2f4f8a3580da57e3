from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.chain import PANEL as CHAIN
        from annotation.overview import PANEL
        from annotation.services.answer_files import IMPORT
        from annotation.verdicts import FILTER
        from annotation.verdicts import PANEL as VERDICTS
        from benchmarks import overview
        from jobs import kinds

        overview.register(PANEL)
        overview.register(CHAIN)
        overview.register_for_items(VERDICTS)
        overview.register_filter(FILTER)
        kinds.register(IMPORT)
