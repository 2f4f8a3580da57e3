"""Adding a stage that judges answers, by one form."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.forms.judge_stages import JudgeStageForm
from annotation.pages.judging_cohorts import own_culture_lines
from annotation.services.sheets.judge_stages import create_judge_stage
from benchmarks.access import benchmark_for
from benchmarks.pages.tabs import tabs_for
from people.views.request_helpers import current_user


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def add_judge(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    form = JudgeStageForm(request.POST or None, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        stage = create_judge_stage(form.choice(), current_user(request))
        text = _("The stage “%(name)s” is made and published. Models judge once it is open; nothing has to be changed.")
        messages.success(request, text % {"name": stage.name})
        return redirect("annotation:compose", slug, stage.pk)
    context = {
        "benchmark": benchmark, "nav": tabs_for(request.user, benchmark, "stages"), "who_place": benchmark.name,
        "form": form, "cultures": own_culture_lines(benchmark),
    }  # fmt: skip
    return render(request, "annotation/composer/judge.html", context, status=400 if form.errors else 200)
