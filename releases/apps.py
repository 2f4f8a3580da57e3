from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "releases"

    def ready(self) -> None:
        from jobs.services import kinds
        from releases.services.building import BUILD

        kinds.register(BUILD)
