"""Bring a model's answers made elsewhere: a file is sent, looked at, and begun with. For those who work on it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.models import Campaign
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.access import benchmark_for
from benchmarks.imports.problems import SourceProblem
from benchmarks.models import Benchmark
from people.views.request_helpers import current_user
from predictions.forms.answer_import import AnswerFileDetailsForm, AnswerFileForm
from predictions.services.files import answer_import, answer_preview
from predictions.services.files.answer_samples import AnswerFile
from predictions.services.runs.result_runs import FileRunRefused
from predictions.views.overview import page_context

SALT = "predictions.answers_made"
LONGEST = 24 * 3600
FORMATS = {
    "coco": "COCO", "lm_eval": "lm-eval / lmms-eval", "inspect": "Inspect", "csv": "CSV / JSON Lines",
}  # fmt: skip


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def import_answers(request: HttpRequest, slug: str) -> HttpResponse:
    """First the file; then its first rows and what only a person knows. What was sent is kept in between."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    campaigns = _campaigns(benchmark)
    if "sent" in request.POST:
        return _preview_step(request, benchmark, campaigns)
    posted = (request.POST, request.FILES) if request.method == "POST" else ()
    form = AnswerFileForm(*posted, campaigns=campaigns, initial={"campaign": request.GET.get("campaign", "")})
    if request.method == "POST" and form.is_valid():
        try:
            file = answer_import.store_upload(form.cleaned_data["file"], form.cleaned_data["names"])
            sent = _token(request, form, file)
            return _preview(request, benchmark, form.campaign_of(), file, sent)
        except SourceProblem as problem:
            form.add_error("file", str(problem))
    context = page_context(request, benchmark, form=form, takes=bool(campaigns))
    return render(request, "predictions/answer_import.html", context, status=400 if form.errors else 200)


def _campaigns(benchmark: Benchmark) -> list[Campaign]:
    rows = Campaign.objects.filter(stage__benchmark=benchmark, opened_at__isnull=False)
    return list(rows.select_related("stage__benchmark__team", "sheet_version").order_by("-pk"))


def _token(request: HttpRequest, form: AnswerFileForm, file: AnswerFile) -> str:
    title = str(form.cleaned_data["file"].name)[:150]
    held = [current_user(request).pk, form.campaign_of().pk, file.name, file.format, file.names, title]
    return signing.dumps(held, salt=SALT)


def _preview_step(request: HttpRequest, benchmark: Benchmark, campaigns: list[Campaign]) -> HttpResponse:
    """What was sent is known by a signed word: nobody begins with another's file."""
    try:
        user, campaign_id, name, kind, names, title = signing.loads(request.POST["sent"], salt=SALT, max_age=LONGEST)
        campaign = next(one for one in campaigns if one.pk == campaign_id and user == current_user(request).pk)
        return _preview(request, benchmark, campaign, AnswerFile(name, kind, names), request.POST["sent"], title)
    except (signing.BadSignature, StopIteration, ValueError, FileNotFoundError):
        messages.error(request, _("The file is no longer there. Send it again."))
    return redirect("predictions:answers_new", benchmark.slug)


def _preview(
    request: HttpRequest, benchmark: Benchmark, campaign: Campaign, file: AnswerFile, sent: str, title: str = ""
) -> HttpResponse:
    stands = None
    looked = answer_preview.inspect_file(file, campaign, sheet_of(campaign.sheet_version), get_language() or "en")
    name = looked.models[0] if len(looked.models) == 1 else ""
    form = (
        AnswerFileDetailsForm(request.POST, looked=looked)
        if title
        else AnswerFileDetailsForm(looked=looked, initial={"model": name})
    )
    description = form.file_description()  # cleans the form anew, so before anything is said against it
    if title and request.POST.get("do") == "begin" and form.is_valid():
        try:
            job = answer_import.start(campaign, current_user(request), file, description, form.model_of(), title=title)
        except FileRunRefused as refused:
            form.add_error(None, str(refused))
            stands = answer_import.existing_run(campaign, form.model_of())
        else:
            if job is not None:
                return redirect("jobs:job", job.pk)
            messages.info(request, _("This file is here already. Nothing was changed."))
            return redirect("predictions:index", benchmark.slug)
    shown: dict[str, Any] = {"format": FORMATS[file.format], "campaign": campaign, "looked": looked, "sent": sent}
    shown["rows"] = answer_preview.preview_rows(file, looked, description, campaign, timezone.now())
    if request.POST.get("do") == "look":
        form.errors.clear()  # nothing is begun yet
    context = page_context(request, benchmark, form=form, stands=stands, **shown)
    return render(request, "predictions/answer_import_preview.html", context, status=400 if form.errors else 200)
