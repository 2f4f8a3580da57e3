from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.chain import PANEL as CHAIN
        from annotation.overview import PANEL
        from annotation.services.answer_files import IMPORT
        from annotation.verdicts import FILTER
        from annotation.verdicts import PANEL as VERDICTS
        from benchmarks import panels
        from jobs import kinds

        panels.register(PANEL)
        panels.register(CHAIN)
        panels.register_for_items(VERDICTS)
        panels.register_filter(FILTER)
        kinds.register(IMPORT)
