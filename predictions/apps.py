from django.apps import AppConfig


class PredictionsConfig(AppConfig):
    name = "predictions"

    def ready(self) -> None:
        from jobs import kinds
        from predictions.services.answer_file_runs import IMPORT as ANSWERS
        from predictions.services.collections import IMPORT as COLLECTIONS
        from predictions.services.knowledge import importing, indexes, linking
        from predictions.services.run_files import IMPORT as RUNS

        kinds.register(ANSWERS)
        kinds.register(COLLECTIONS)
        kinds.register(RUNS)
        for kind in (importing.IMPORT, indexes.BUILD, linking.LINK):
            kinds.register(kind)
