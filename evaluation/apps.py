from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from benchmarks.pages import board, label_set_uses
        from benchmarks.pages.next_actions import Rank, register
        from evaluation.pages import next_actions
        from evaluation.pages.board_column import agreement_column
        from evaluation.tables.label_set_uses import tables_with

        register(Rank.TABLES, next_actions.use_answers)
        label_set_uses.register(tables_with)
        board.register_side(agreement_column)
