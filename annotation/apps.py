from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.campaign_summary import PANEL
        from annotation.rule_results import FILTER
        from annotation.rule_results import PANEL as VERDICTS
        from annotation.services.answer_files import IMPORT
        from annotation.stage_flow import PANEL as CHAIN
        from benchmarks import panels
        from jobs import kinds

        panels.register(PANEL)
        panels.register(CHAIN)
        panels.register_for_items(VERDICTS)
        panels.register_filter(FILTER)
        kinds.register(IMPORT)
