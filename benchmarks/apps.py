from django.apps import AppConfig
from django.conf import settings


class BenchmarksConfig(AppConfig):
    name = "benchmarks"

    def ready(self) -> None:
        from PIL import Image

        from benchmarks.pages import job_scope
        from benchmarks.services.imports import IMPORT
        from jobs import access
        from jobs.services import kinds

        Image.MAX_IMAGE_PIXELS = settings.IMAGE_MAX_PIXELS  # Pillow's own second line: it refuses twice this many
        kinds.register(IMPORT)
        access.register_scope("benchmark", job_scope.job_scope)
