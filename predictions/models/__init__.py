from predictions.models.calls import Attempt, Call, Reply
from predictions.models.collections import Collection, Entry, Query
from predictions.models.endpoints import Endpoint, Prices
from predictions.models.knowledge import KnowledgeBase, KnowledgeEntry, KnowledgeImage, KnowledgeIndex, Link
from predictions.models.runs import Embedding, Ranking, Run

__all__ = [
    "Attempt",
    "Call",
    "Collection",
    "Embedding",
    "Endpoint",
    "Entry",
    "KnowledgeBase",
    "KnowledgeEntry",
    "KnowledgeImage",
    "KnowledgeIndex",
    "Link",
    "Prices",
    "Query",
    "Ranking",
    "Reply",
    "Run",
]
