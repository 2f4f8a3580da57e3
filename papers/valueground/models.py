"""The tables of this paper, for Django. They are written where they are used."""

from papers.valueground.survey.models import OptionPair, Survey, SurveyCount, SurveyQuestion

__all__ = ["OptionPair", "Survey", "SurveyCount", "SurveyQuestion"]
