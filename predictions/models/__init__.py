from predictions.models.collections import Collection, Entry, Query
from predictions.models.runs import Embedding, Ranking, Run

__all__ = ["Collection", "Embedding", "Entry", "Query", "Ranking", "Run"]
