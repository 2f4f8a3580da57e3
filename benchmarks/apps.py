from django.apps import AppConfig
from django.conf import settings


class BenchmarksConfig(AppConfig):
    name = "benchmarks"

    def ready(self) -> None:
        from PIL import Image

        from benchmarks.access import visible_choices
        from benchmarks.pages import item_decisions, job_scope, label_set_uses, next_actions, panels
        from benchmarks.services.imports import IMPORT
        from benchmarks.services.intake.judge_job import JUDGE
        from jobs import access
        from jobs.services import kinds
        from people.services import tokens

        Image.MAX_IMAGE_PIXELS = settings.IMAGE_MAX_PIXELS  # Pillow's own second line: it refuses twice this many
        kinds.register(IMPORT)
        next_actions.register(next_actions.Rank.BEGIN, next_actions.add_stage)
        next_actions.register(next_actions.Rank.IMPORT, next_actions.import_items)
        kinds.register(JUDGE)
        panels.register_for_items(item_decisions.PANEL)
        label_set_uses.register(label_set_uses.stages_with)
        access.register_scope("benchmark", job_scope.job_scope)
        tokens.register_offered(visible_choices)
