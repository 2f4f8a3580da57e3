from predictions.models.calls import Attempt, Call, Reply
from predictions.models.collections import Collection, Entry, Query
from predictions.models.endpoints import Endpoint, Prices
from predictions.models.facts import FactFailure, FactRequest
from predictions.models.image_plans import ImageOrder, ImagePlan
from predictions.models.knowledge import EntityLink, KnowledgeBase, KnowledgeEntry, KnowledgeImage, KnowledgeIndex
from predictions.models.plan_sets import PlanSet
from predictions.models.runs import Embedding, Ranking, Run

__all__ = [
    "Attempt",
    "Call",
    "Collection",
    "Embedding",
    "Endpoint",
    "EntityLink",
    "Entry",
    "FactFailure",
    "FactRequest",
    "ImageOrder",
    "ImagePlan",
    "KnowledgeBase",
    "KnowledgeEntry",
    "KnowledgeImage",
    "KnowledgeIndex",
    "PlanSet",
    "Prices",
    "Query",
    "Ranking",
    "Reply",
    "Run",
]
