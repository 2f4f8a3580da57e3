from django.apps import AppConfig
from django.conf import settings


class BenchmarksConfig(AppConfig):
    name = "benchmarks"

    def ready(self) -> None:
        from PIL import Image

        Image.MAX_IMAGE_PIXELS = settings.IMAGE_MAX_PIXELS  # Pillow's own second line: it refuses twice this many
