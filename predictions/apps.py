from django.apps import AppConfig


class PredictionsConfig(AppConfig):
    name = "predictions"

    def ready(self) -> None:
        from jobs import kinds
        from predictions.services.collections import IMPORT as COLLECTIONS
        from predictions.services.run_files import IMPORT as RUNS

        kinds.register(COLLECTIONS)
        kinds.register(RUNS)
