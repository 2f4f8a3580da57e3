"""What runs of models add to the next action of the overview: see benchmarks.pages.next_actions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Count, Exists, OuterRef
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Annotation, Campaign, Outcome
from annotation.queries.opened_stages import opened_stages, running_stages
from annotation.services.derivation.run_choice import judges_models, stages_without_choice
from benchmarks.access import is_permitted
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.pages.board import Note, Reading
from benchmarks.pages.next_actions import NextAction
from benchmarks.queries.model_conditions import model_conditions, named_conditions
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.queries.stage_states import by_benchmark, stages_with_items
from jobs.queries.read_together import read_for_each
from people.models import Rater, User
from predictions.models import FactRequest, Run
from predictions.pages.fact_requests import FactWait, fact_waits, facts_page
from predictions.queries.fact_requests import facts_without_request, pairs_without_facts

JUDGED = "candidate"  # the display of a stage in which an answer is judged


def compute_facts(benchmark: Benchmark, user: User) -> NextAction | None:
    """Candidates, or the acceptance of answers, wait for a fact, and the chain waits for them: a request is paused, or
    the stage has nothing yet that goes on."""
    waits = _fact_waits(benchmark, user)
    held_up = _stages_without_result(benchmark, {wait.stage.pk for wait in waits})
    return next((_fact_action(wait) for wait in waits if _is_paused(wait) or wait.stage.pk in held_up), None)


def compute_other_facts(benchmark: Benchmark, user: User) -> NextAction | None:
    """A few wait, as for a picture that cannot be read, while the others have gone on: that hides nothing else."""
    return next(map(_fact_action, _fact_waits(benchmark, user)), None)


def start_facts(benchmark: Benchmark, user: User) -> NextAction | None:
    """An open stage has a filter that reads what a model here can compute, and nothing computes it yet.

    Its items may come later, so none of them waits.
    """
    wanted = next(iter(facts_without_request(benchmark)), None) if is_permitted(user, benchmark, "work_on") else None
    if wanted is None:
        return None
    stage, kind = wanted
    return NextAction(
        _("Nothing computes %(fact)s for “%(stage)s” yet.") % {"fact": kind, "stage": stage.name},
        _("Compute facts"),
        facts_page(stage, kind),
        _("A filter reads it of every item as it arrives. Start it once."),
    )


def start_vectors(benchmark: Benchmark, user: User) -> NextAction | None:
    """An open stage gets pairs that an encoder finds alike, and no encoder was run over the items."""
    wanted = next(iter(pairs_without_facts(benchmark)), None) if is_permitted(user, benchmark, "work_on") else None
    if wanted is None:
        return None
    stage, source, kind = wanted
    return NextAction(
        _("“%(stage)s” needs an encoder run over “%(source)s”.") % {"stage": stage.name, "source": source.name},
        _("Compute facts"),
        facts_page(source, kind),
        _("Its pairs are the items that an encoder finds alike. Start it once."),
    )


def ask_for_proposals(benchmark: Benchmark, user: User) -> NextAction | None:
    """An open stage shows what a model proposes in another one, and no model was asked there."""
    wanted = next(iter(_without_proposals(benchmark)), None) if is_permitted(user, benchmark, "work_on") else None
    if wanted is None:
        return None
    stage, proposing = wanted
    return NextAction(
        _("“%(stage)s” waits for what a model says in “%(source)s”.") % {"stage": stage.name, "source": proposing.name},
        _("Ask models"),
        reverse("predictions:ask_models", args=[benchmark.slug]),
        _("People correct what a model proposes. No model was asked yet."),
    )


def _without_proposals(benchmark: Benchmark) -> list[tuple[Stage, Stage]]:
    """Open stages without items, each with the stage where a model is to propose for them and none was asked."""
    stages = {stage.key: stage for stage in benchmark.stages.all()}
    proposals = ((stage, (stage.derivation or {}).get("params", {}).get("proposals")) for stage in stages.values())
    wanted = [
        (stage, stages[row["stage"]])
        for stage, row in proposals
        if isinstance(row, Mapping) and row.get("stage") in stages
    ]
    filled, running = (
        (stages_with_items(benchmark), running_stages(benchmark)) if wanted else (frozenset(), frozenset())
    )
    return [
        (stage, proposing)
        for stage, proposing in wanted
        if stage.pk in running - filled and proposing.pk in filled and _without_run(benchmark, [proposing])
    ]


def proposals_wait(reading: Reading) -> Mapping[int, Note]:
    """Why stages have no items: no model was asked for what people are to correct there."""
    url = reverse("predictions:ask_models", args=[reading.benchmark.slug]) if reading.works else ""
    return {
        stage.pk: Note(_("Stuck: no model was asked in “%(source)s”") % {"source": proposing.name}, url, "late")
        for stage, proposing in _without_proposals(reading.benchmark)
    }


def pairs_wait(reading: Reading) -> Mapping[int, Note]:
    """Why stages have no pairs: nobody has started the encoder that finds them."""
    return {
        stage.pk: Note(
            _("Stuck: needs an encoder run over “%(source)s”") % {"source": source.name},
            facts_page(source, kind) if reading.works else "",
            "late",
        )
        for stage, source, kind in pairs_without_facts(reading.benchmark)
    }


def _fact_waits(benchmark: Benchmark, user: User) -> list[FactWait]:
    """What a person must do something about."""
    if not is_permitted(user, benchmark, "work_on"):
        return []
    counts = read_for_each(benchmark, _waiting_items) or {}
    waiting_stages = counts.keys() | (read_for_each(benchmark, _waiting_outcomes) or frozenset())
    waits = []
    for stage in benchmark.stages.all() if waiting_stages else ():
        of_stage = fact_waits(stage) if stage.pk in waiting_stages else []
        if not of_stage and stage.pk in counts:
            of_stage = [_unnamed_wait(stage, counts[stage.pk])]
        waits += [wait for wait in of_stage if wait.label]
    return waits


def _waiting_items(benchmarks: Sequence[Benchmark]) -> Mapping[int, Mapping[int, int]]:
    """How many candidates wait, by stage."""
    waiting = Item.objects.filter(stage__benchmark__in=benchmarks, withdrawn_at=None, intake=Item.Intake.WAITING)
    counts: dict[int, dict[int, int]] = defaultdict(dict)
    for benchmark, stage, n in waiting.order_by().values_list("stage__benchmark", "stage").annotate(n=Count("pk")):
        counts[benchmark][stage] = n
    return counts


def _waiting_outcomes(benchmarks: Sequence[Benchmark]) -> Mapping[int, frozenset[int]]:
    """Stages with an answer whose acceptance waits."""
    rows = Outcome.objects.filter(state=Outcome.State.WAITING, campaign__stage__benchmark__in=benchmarks)
    return by_benchmark(rows.order_by().values_list("campaign__stage__benchmark", "campaign__stage").distinct())


def _unnamed_wait(stage: Stage, n: int) -> FactWait:
    """Candidates wait, and no filter of the stage says for what."""
    return FactWait(
        stage, n,
        ngettext("%(n)s candidate waits for a fact.", "%(n)s candidates wait for a fact.", n) % {"n": n},
        _("A filter reads a score that an encoder or a detector computes."),
        _("Compute facts"),
        reverse("predictions:facts", args=[stage.benchmark.slug]),
    )  # fmt: skip


def _is_paused(wait: FactWait) -> bool:
    return wait.request is not None and wait.request.state == FactRequest.State.PAUSED


def _stages_without_result(benchmark: Benchmark, stages: set[int]) -> set[int]:
    """Those of these stages where no item has passed the filters, and no answer was accepted by the rule."""
    passed = Item.objects.filter(stage__in=stages, withdrawn_at=None, intake=Item.Intake.KEPT)
    accepted = Outcome.objects.filter(campaign__stage__in=stages, state=Outcome.State.ACCEPTED)
    return (
        stages
        - set(passed.order_by().values_list("stage", flat=True).distinct())
        - set(accepted.order_by().values_list("campaign__stage", flat=True).distinct())
    )


def _fact_action(wait: FactWait) -> NextAction:
    """To where the request is created, or is resumed."""
    if wait.url:
        return NextAction(wait.text, wait.label, wait.url, wait.detail)
    url = reverse("predictions:facts", args=[wait.stage.benchmark.slug])
    return NextAction(wait.text, _("View facts"), url, wait.detail)


def _ready_stages(benchmark: Benchmark, stages: Iterable[Stage], wanted: Iterable[str]) -> list[Stage]:
    """Of these stages the wanted ones, by key, that were opened and have items; in the order of the keys."""
    by_key = {stage.key: stage for stage in stages}
    named = [by_key[key] for key in dict.fromkeys(wanted) if key in by_key]
    ready = opened_stages(benchmark) & stages_with_items(benchmark) if named else frozenset()
    return [stage for stage in named if stage.pk in ready]


def _asked_stages(benchmark: Benchmark) -> list[Stage]:
    """Stages at which the recipe, or somebody who wrote a way to ask models, has models answer; and those whose answers
    of models a later stage is to judge, which has no items yet."""
    recipe = recipe_of(benchmark)
    of_recipe = [task.stage for task in recipe.prediction_tasks] if recipe else []
    written = [] if of_recipe else [condition.stage for condition in named_conditions(benchmark)]
    stages = list(benchmark.stages.all())
    judging = [stage for stage in stages if judges_models(stage)]
    ready = stages_with_items(benchmark) if judging else frozenset()
    judged = [key for stage in judging if stage.pk not in ready for key in stage.derivation["from"]]
    answering = (stage for stage in stages if stage.display != JUDGED)
    return _ready_stages(benchmark, answering, of_recipe + written + judged)


def _judged_stages(benchmark: Benchmark) -> list[Stage]:
    """Stages in which a model judges answers, with those that a composed benchmark adds."""
    stages = list(benchmark.stages.all())
    judging = (condition.stage for condition in model_conditions(benchmark, stages) if condition.judge)
    return _ready_stages(benchmark, (stage for stage in stages if stage.display == JUDGED), judging)


def _without_run(benchmark: Benchmark, stages: Iterable[Stage]) -> Stage | None:
    runs = Run.objects.filter(benchmark=benchmark, withdrawn_at=None, campaign__isnull=False)
    asked = set(runs.values_list("campaign__stage", flat=True))
    return next((stage for stage in stages if stage.pk not in asked), None)


def _with_run(benchmarks: Sequence[Benchmark]) -> Mapping[int, bool]:
    runs = Run.objects.filter(benchmark=OuterRef("pk"), withdrawn_at=None)
    rows = Benchmark.objects.filter(Exists(runs), pk__in=[benchmark.pk for benchmark in benchmarks])
    return dict.fromkeys(rows.order_by().values_list("pk", flat=True), True)


def plan_runs(benchmark: Benchmark, user: User) -> NextAction | None:
    """Models are to answer here, and no run was begun; answers may have been imported."""
    if not is_permitted(user, benchmark, "work_on"):
        return None
    if read_for_each(benchmark, _with_run):
        return None
    answered = _asked_stages(benchmark)
    if not answered:
        return None
    return NextAction(
        _("No model was run here yet."),
        _("Ask models"),
        reverse("predictions:ask_models", args=[benchmark.slug]),
        _("Models are asked in “%(stage)s”.") % {"stage": answered[0].name},
    )


def run_judge(benchmark: Benchmark, user: User) -> NextAction | None:
    """Answers are there to be judged, and no judge has read any."""
    if not is_permitted(user, benchmark, "work_on"):
        return None
    stage = _without_run(benchmark, _judged_stages(benchmark))
    if stage is None:
        return None
    return NextAction(
        _("“%(stage)s” has answers that no model has judged.") % {"stage": stage.name},
        _("Run a judge"),
        reverse("predictions:ask_models", args=[benchmark.slug]),
    )


def choose_runs(benchmark: Benchmark, user: User) -> NextAction | None:
    """Models have answered, and an open stage whose items are answers of chosen runs has no run yet."""
    if not is_permitted(user, benchmark, "work_on"):
        return None
    for stage in stages_without_choice(_open_stages(benchmark)):
        earlier = Stage.objects.filter(benchmark=benchmark, key__in=stage.derivation.get("from", ()))
        answers = Annotation.objects.filter(
            assignment__campaign__stage__in=earlier, rater__kind=Rater.Kind.MODEL, live=True, counted=True
        )
        if answers.exists():
            return NextAction(
                _("“%(stage)s” waits for you to choose the runs whose answers it takes.") % {"stage": stage.name},
                _("Choose runs"),
                reverse("predictions:stage_inputs", args=[benchmark.slug, stage.pk]),
            )
    return None


def _open_stages(benchmark: Benchmark) -> list[Stage]:
    opened = Campaign.objects.filter(stage__benchmark=benchmark, state=Campaign.State.OPEN)
    return list(Stage.objects.filter(pk__in=opened.values("stage")))
