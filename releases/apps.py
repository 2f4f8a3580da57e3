from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    name = "releases"

    def ready(self) -> None:
        from jobs.services import kinds
        from releases.services.building import BUILD
        from releases.services.export_files import EXPORT
        from releases.services.foreign.foreign_import import IMPORT
        from releases.services.importing import IMPORT_RELEASE

        for kind in (BUILD, EXPORT, IMPORT, IMPORT_RELEASE):
            kinds.register(kind)
