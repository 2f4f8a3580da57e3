from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.pages import (
            item_revisions,
            next_actions,
            open_disputes,
        )
        from annotation.pages.board_rows import cohort_rows
        from annotation.pages.chain_summary import stage_summaries
        from annotation.pages.problem_reports import PANEL
        from annotation.queries.board_counts import count_recent_answers
        from annotation.services.derivation import intake_changes
        from annotation.services.derivation.judge_exclusion import exclude_former_judges
        from annotation.services.files.answer_files import IMPORT
        from annotation.services.revisions import makers
        from annotation.services.revisions.finder import FinderMaker
        from annotation.services.sheets import recipe_checks
        from annotation.services.sheets.number_facts import facts_read_as_numbers
        from benchmarks.pages import benchmark_list, board, panels
        from benchmarks.pages.next_actions import Rank, register
        from benchmarks.services import item_changes, number_facts
        from benchmarks.services.recipes import recipe_parts
        from jobs.services import kinds

        for panel in (PANEL, item_revisions.WAITING, open_disputes.PANEL):
            panels.register(panel)
        board.register(cohort_rows)
        benchmark_list.register_chain(stage_summaries)
        benchmark_list.register_recent(count_recent_answers)
        kinds.register(IMPORT)
        register(Rank.INVITE, next_actions.invite_people)
        register(Rank.COHORTS, next_actions.create_cohorts)
        register(Rank.OPEN, next_actions.open_chain)
        register(Rank.REVIEW, next_actions.review)
        register(Rank.ADJUDICATE, next_actions.settle_disagreements)
        register(Rank.ADJUDICATE, next_actions.settle_pictures)
        register(Rank.FILL, next_actions.fill_stage)
        register(Rank.FILL, next_actions.separate_cultures)
        register(Rank.FILL, next_actions.import_followed_stage)
        register(Rank.WAIT, next_actions.wait_for_people)
        makers.register(FinderMaker())
        makers.register(makers.ImportMaker())
        item_changes.register(intake_changes.follow)
        for listener in (intake_changes.judge_again, intake_changes.follow_new_parts, exclude_former_judges):
            item_changes.register_for_arrivals(listener)
        item_changes.register_for_imports(intake_changes.follow_imports)
        number_facts.register(facts_read_as_numbers)
        recipe_parts.register_check(recipe_checks.stage_file_problems)
        recipe_parts.register_cohorts(recipe_checks.asked_cohorts)
        self._register_items()

    def _register_items(self) -> None:
        """What the explorer of items and the page of one item show and do besides."""
        from annotation.pages import (
            action_result,
            cohort_items,
            item_answers,
            item_origin,
            item_revisions,
            item_withdrawals,
            missing_answers,
            outside_items,
            rule_results,
        )
        from annotation.services import bulk_actions
        from benchmarks.pages import item_results, panels
        from benchmarks.queries import item_filters
        from jobs.services import kinds

        for pages in (rule_results, missing_answers, item_revisions, item_withdrawals, item_origin, item_answers):
            panels.register_for_items(pages.PANEL)
        for item_filter in (rule_results.FILTER, outside_items.FILTER, cohort_items.FILTER):
            item_filters.register_filter(item_filter)
        kinds.register(bulk_actions.BULK)
        item_results.register("annotation/item_action_result.html", action_result.action_result)
