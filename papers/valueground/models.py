"""The tables of this paper, for Django. They are written where they are used."""

from papers.valueground.builder.models import Build, BuildPlan, BuildSource, BuildStep
from papers.valueground.survey.models import OptionPair, Survey, SurveyCount, SurveyQuestion

__all__ = ["Build", "BuildPlan", "BuildSource", "BuildStep", "OptionPair", "Survey", "SurveyCount", "SurveyQuestion"]
