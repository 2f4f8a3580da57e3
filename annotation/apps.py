from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.pages.campaign_summary import PANEL
        from annotation.pages.rule_results import FILTER
        from annotation.pages.rule_results import PANEL as VERDICTS
        from annotation.pages.stage_flow import PANEL as CHAIN
        from annotation.services.files.answer_files import IMPORT
        from benchmarks.pages import panels
        from jobs.services import kinds

        panels.register(PANEL)
        panels.register(CHAIN)
        panels.register_for_items(VERDICTS)
        panels.register_filter(FILTER)
        kinds.register(IMPORT)
