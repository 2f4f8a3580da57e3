"""Images that an endpoint makes for a stage: begun, followed, paused, gone on with and stopped."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access import benchmark_for, stage_for
from people.views.request_helpers import current_user
from predictions.forms.images import ImagePlanForm
from predictions.models import ImagePlan
from predictions.pages.images import image_progress, image_stages, newest_images, takes_images
from predictions.services.images import plans
from predictions.services.images.plans import ImagePlanRefused
from predictions.services.runs.answer_runs import RunRefused
from predictions.views.amounts import posted_budget
from predictions.views.overview import page_context


@login_required
@require_safe
@never_cache
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """Stages that can get images."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    context = page_context(request, benchmark, rows=image_stages(benchmark))
    return render(request, "predictions/images/index.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def stage(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    """The plan of a stage; without one, the form of a new one. `do=cost` says what it would cost."""
    image_stage = stage_for(request.user, slug, stage_id)
    benchmark = image_stage.benchmark
    if not takes_images(image_stage):
        raise Http404
    plan = plans.live_plan(image_stage)
    posted = (request.POST,) if request.method == "POST" and plan is None else ()
    form = ImagePlanForm(*posted, stage=image_stage)
    outlook = None
    if posted and form.is_valid():
        source, chosen, now = form.cleaned_data["source"], form.image_settings(), timezone.now()
        try:
            if request.POST.get("do") != "start":
                plans.check(chosen, now)
                outlook = plans.outlook(source, chosen, now)
            else:
                plans.start(source, image_stage, chosen, current_user(request), now)
                return redirect("predictions:images", benchmark.slug, image_stage.pk)
        except ImagePlanRefused as refused:
            form.add_error(None, str(refused))
    context = page_context(
        request, benchmark, stage=image_stage, form=None if plan else form, outlook=outlook,
        endpoints=form.endpoints().exists(), models=form.known_models() if plan is None else [],
        progress=image_progress(plan) if plan else None, images=newest_images(plan) if plan else [],
        running=bool(plan and plan.state == ImagePlan.State.RUNNING),
    )  # fmt: skip
    return render(request, "predictions/images/stage.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def perform_action(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    image_stage = stage_for(request.user, slug, stage_id)
    plan = plans.live_plan(image_stage)
    if plan is None:
        raise Http404
    try:
        messages.info(request, _perform_action(request, plan))
    except (ImagePlanRefused, RunRefused) as refused:
        messages.error(request, str(refused))
    return redirect("predictions:images", slug, image_stage.pk)


def _perform_action(request: HttpRequest, plan: ImagePlan) -> str:
    """Raises ImagePlanRefused, RunRefused."""
    actor, act = current_user(request), request.POST.get("do")
    if act == "pause":
        plans.pause(plan, actor)
        return _("Nothing more is sent. Images on their way are still stored.")
    if act == "cancel":
        plans.cancel(plan, actor)
        return _("The plan was stopped. Its images stay.")
    if act == "budget":
        plans.raise_budget(plan, posted_budget(request), actor)
        return _("The budget was raised.")
    plans.resume(plan, actor)
    return _("The images are being made.")
