from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from benchmarks.pages import benchmark_list, board, label_set_uses
        from benchmarks.pages.next_actions import Rank, register
        from benchmarks.services.recipes.recipe_parts import register_part
        from evaluation.pages import next_actions
        from evaluation.pages.board_column import agreement_column, list_agreement
        from evaluation.services.recipe_tables import TABLES
        from evaluation.tables.label_set_uses import tables_with

        register(Rank.TABLES, next_actions.use_answers)
        label_set_uses.register(tables_with)
        board.register_side(agreement_column)
        benchmark_list.register_agreement(list_agreement)
        register_part(TABLES)
