from django.apps import AppConfig


class ValueGroundConfig(AppConfig):
    """The rows of ValueGround's survey and pair builder. Its plugin is registered by the app `papers`."""

    name = "papers.valueground"
    label = "valueground"

    def ready(self) -> None:
        from annotation.services.revisions import makers
        from benchmarks.pages.next_actions import Rank, register
        from jobs.services import kinds
        from papers.valueground.builder.services.build_job import BUILD
        from papers.valueground.builder.services.review_items import PairMaker
        from papers.valueground.recipe_options import CONFIRMED
        from papers.valueground.survey.pages.next_actions import import_survey, undecided
        from papers.valueground.survey.services.survey_import import IMPORT
        from predictions.pages.fact_requests import register_decision

        kinds.register(IMPORT)
        kinds.register(BUILD)
        makers.register(PairMaker())
        register(Rank.BEGIN, import_survey)
        register_decision(CONFIRMED, undecided)
