from django.apps import AppConfig


class PredictionsConfig(AppConfig):
    name = "predictions"

    def ready(self) -> None:
        from jobs import access, kinds
        from predictions.job_pages import knowledge_place
        from predictions.services.answer_file_runs import IMPORT as ANSWERS
        from predictions.services.collections import IMPORT as COLLECTIONS
        from predictions.services.encoder_runs import DRIVE as ENCODERS
        from predictions.services.item_facts import DRIVE as FACTS
        from predictions.services.knowledge import importing, indexes, linking
        from predictions.services.run_files import IMPORT as RUNS
        from predictions.services.run_jobs import ASK, REPARSE

        kinds.register(ANSWERS)
        kinds.register(COLLECTIONS)
        kinds.register(RUNS)
        kinds.register(ENCODERS)
        kinds.register(FACTS)
        kinds.register(ASK)
        kinds.register(REPARSE)
        for kind in (importing.IMPORT, indexes.BUILD, linking.LINK):
            kinds.register(kind)
        access.register_scope("knowledge", knowledge_place)
