from django.apps import AppConfig


class ValueGroundConfig(AppConfig):
    """The tables of ValueGround's survey. Its plugin is registered by the app `papers`."""

    name = "papers.valueground"
    label = "valueground"

    def ready(self) -> None:
        from benchmarks.pages.next_actions import Rank, register
        from jobs.services import kinds
        from papers.valueground.recipe_options import CONFIRMED
        from papers.valueground.survey.pages.next_actions import import_survey, undecided
        from papers.valueground.survey.services.survey_import import IMPORT
        from predictions.pages.fact_requests import register_decision

        kinds.register(IMPORT)
        register(Rank.BEGIN, import_survey)
        register_decision(CONFIRMED, undecided)
