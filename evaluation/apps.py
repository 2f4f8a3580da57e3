from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from benchmarks.pages import label_set_uses
        from benchmarks.pages.next_actions import Rank, register
        from evaluation.pages import next_actions
        from evaluation.tables.label_set_uses import tables_with

        register(Rank.TABLES, next_actions.use_answers)
        label_set_uses.register(tables_with)
