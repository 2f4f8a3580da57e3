from django.apps import AppConfig


class PredictionsConfig(AppConfig):
    name = "predictions"

    def ready(self) -> None:
        from jobs import access
        from jobs.services import kinds
        from predictions.pages.jobs import knowledge_place
        from predictions.services.collections.collection_import import IMPORT as COLLECTIONS
        from predictions.services.encoders.encoder_runs import DRIVE as ENCODERS
        from predictions.services.encoders.item_facts import DRIVE as FACTS
        from predictions.services.files.answer_import import IMPORT as ANSWERS
        from predictions.services.files.result_import import IMPORT as RUNS
        from predictions.services.knowledge import entry_import, indexes, linking
        from predictions.services.runs.run_jobs import ASK, REPARSE

        kinds.register(ANSWERS)
        kinds.register(COLLECTIONS)
        kinds.register(RUNS)
        kinds.register(ENCODERS)
        kinds.register(FACTS)
        kinds.register(ASK)
        kinds.register(REPARSE)
        for kind in (entry_import.IMPORT, indexes.BUILD, linking.LINK):
            kinds.register(kind)
        access.register_scope("knowledge", knowledge_place)
