"""The only way from an id in an address to a knowledge base or a link, for those who have been let in."""

from django.http import Http404

from benchmarks.models import Benchmark
from people.models import Team
from predictions.models import EntityLink, KnowledgeBase, KnowledgeEntry, KnowledgeIndex, Run


def base_for(team: Team, base_id: int) -> KnowledgeBase:
    """A knowledge base of this team, which the person has been let into; 404 for those of others."""
    found = KnowledgeBase.objects.select_related("team").filter(team=team, pk=base_id).first()
    if found is None:
        raise Http404
    return found


def entry_for(base: KnowledgeBase, entry_id: int) -> KnowledgeEntry:
    found = KnowledgeEntry.objects.filter(base=base, pk=entry_id).first()
    if found is None:
        raise Http404
    return found


def index_for(base: KnowledgeBase, index_id: int) -> KnowledgeIndex:
    """An index over a knowledge base that the person has been let into; 404 for those over others."""
    found = KnowledgeIndex.objects.select_related("base__team").filter(base=base, pk=index_id).first()
    if found is None:
        raise Http404
    return found


def linking_for(benchmark: Benchmark, run_id: int) -> Run:
    """A linking run of this benchmark; 404 for those of others, and for runs that link nothing."""
    rows = Run.objects.select_related("benchmark__team", "rater", "created_by", "knowledge_index__base__team")
    found = rows.filter(benchmark=benchmark, task=Run.Task.LINKING, pk=run_id).first()
    if found is None:
        raise Http404
    return found


def link_for(run: Run, item_id: int) -> EntityLink:
    found = EntityLink.objects.select_related("item__stage").filter(run=run, item=item_id).first()
    if found is None:
        raise Http404
    return found
