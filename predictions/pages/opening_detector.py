"""The part of the opening form in which a detector is chosen, once, for the stages whose filters read what it finds."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from benchmarks.models import Benchmark
from people.models import User
from predictions.backends import torch_setup
from predictions.forms.encoders import DetectorForm
from predictions.queries.fact_requests import stages_to_detect
from predictions.services.encoders import fact_requests
from predictions.services.runs.result_runs import FileRunRefused


class OpeningDetector:
    """Registered with annotation.pages.chain_opening."""

    template = "predictions/encoding/opening_detector.html"

    def form(self, benchmark: Benchmark, posted: Mapping[str, Any] | None) -> DetectorForm | None:
        stages = stages_to_detect(benchmark)
        if not stages:
            return None
        form = DetectorForm(*((posted,) if posted else ()), benchmark=benchmark)
        form.stages = stages  # type: ignore[attr-defined]  # for the template
        form.models = torch_setup.known_models()  # type: ignore[attr-defined]
        return form

    def carry_out(self, benchmark: Benchmark, form: forms.Form, actor: User, at: datetime) -> list[str]:
        """Create the requests; sentences for the person, also of what was refused."""
        assert isinstance(form, DetectorForm)
        sentences = []
        for stage in stages_to_detect(benchmark):
            plan = form.plan(stage)
            if plan is None:
                return []
            try:
                fact_requests.create(plan, actor, at)
            except FileRunRefused as refused:
                sentences.append(str(refused))
            else:
                sentences.append(
                    _("The detector looks at pictures of “%(stage)s” as they arrive.") % {"stage": stage.name}
                )
        return sentences
