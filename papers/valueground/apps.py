from django.apps import AppConfig


class ValueGroundConfig(AppConfig):
    """The tables of ValueGround's survey. Its plugin is registered by the app `papers`."""

    name = "papers.valueground"
    label = "valueground"

    def ready(self) -> None:
        from jobs.services import kinds
        from papers.valueground.survey.services.survey_import import IMPORT

        kinds.register(IMPORT)
