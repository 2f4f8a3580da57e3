from django.apps import AppConfig


class PredictionsConfig(AppConfig):
    name = "predictions"

    def ready(self) -> None:
        from annotation.services.derivation import unanswered_calls
        from annotation.services.review import decision_listeners
        from annotation.services.revisions import makers
        from benchmarks.pages import board, label_set_uses, panels
        from benchmarks.services import item_changes
        from jobs import access
        from jobs.services import kinds
        from predictions.pages import fact_requests as fact_pages
        from predictions.pages import item_calls
        from predictions.pages.board_rows import model_rows
        from predictions.pages.jobs import knowledge_place
        from predictions.pages.label_set_uses import runs_with
        from predictions.services.collections import written_queries
        from predictions.services.collections.collection_import import IMPORT as COLLECTIONS
        from predictions.services.encoders import fact_requests
        from predictions.services.encoders.encoder_runs import DRIVE as ENCODERS
        from predictions.services.encoders.item_facts import DRIVE as FACTS
        from predictions.services.files.answer_import import IMPORT as ANSWERS
        from predictions.services.files.result_import import IMPORT as RUNS
        from predictions.services.images.image_job import MAKE
        from predictions.services.images.revisions import ImageServiceMaker
        from predictions.services.knowledge import entry_import, indexes, link_import, linking
        from predictions.services.runs import following
        from predictions.services.runs.run_jobs import ASK, REPARSE
        from predictions.services.runs.unanswered_calls import find_unanswered

        of_files = (ANSWERS, RUNS, COLLECTIONS, entry_import.IMPORT, link_import.IMPORT)
        for kind in (*of_files, ENCODERS, FACTS, ASK, REPARSE, indexes.BUILD, linking.LINK, MAKE):
            kinds.register(kind)
        access.register_scope("knowledge", knowledge_place)
        unanswered_calls.register(find_unanswered)
        makers.register(ImageServiceMaker())
        self._register_next_actions()
        label_set_uses.register(runs_with)
        decision_listeners.register(written_queries.follow_decision)
        item_changes.register(fact_requests.follow)
        item_changes.register_for_arrivals(fact_requests.follow)
        item_changes.register(following.items_arrived)
        item_changes.register_for_arrivals(following.items_arrived)
        panels.register_for_intake(fact_pages.PANEL)
        panels.register_for_items(item_calls.PANEL)
        board.register(model_rows)
        self._register_opening()

    def _register_next_actions(self) -> None:
        from annotation.pages.board_rows import register_empty_reasons
        from benchmarks.pages.next_actions import Rank, register
        from predictions.pages import next_actions, search_actions, stopped_runs

        register(Rank.FACTS, next_actions.compute_facts)
        register(Rank.FACTS, next_actions.start_facts)
        register(Rank.REST, next_actions.compute_other_facts)
        register(Rank.ENCODE, next_actions.start_vectors)
        register(Rank.ENCODE, next_actions.ask_for_proposals)
        register_empty_reasons(next_actions.pairs_wait)
        register_empty_reasons(next_actions.proposals_wait)
        register(Rank.PLAN, next_actions.plan_runs)
        register(Rank.JUDGE, next_actions.run_judge)
        register(Rank.JUDGE, next_actions.choose_runs)
        register(Rank.PLAN, search_actions.search_set)
        register(Rank.RUNS, stopped_runs.retry_failed_runs)
        register(Rank.RUNS, stopped_runs.resume_runs)
        register(Rank.RUNS, stopped_runs.retry_failed_calls)

    def _register_opening(self) -> None:
        """What the form that opens the chain asks and says of models, and what look-alikes wait for."""
        from annotation.pages.chain_opening import register_cost, register_part
        from predictions.pages.chain_cost import model_cost
        from predictions.pages.fact_requests import register_decision
        from predictions.pages.look_alike_waits import look_alike_wait
        from predictions.pages.opening_detector import OpeningDetector
        from predictions.queries.look_alikes import FACT

        register_cost(model_cost)
        register_part(OpeningDetector())
        register_decision(FACT, look_alike_wait)
