"""A researcher who sets up and follows a benchmark by links and forms; the worker is told to do what waits."""

import html
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from annotation.services.derivation import derived_items
from jobs.models import Job
from jobs.services import runner
from tests.archives import pack_zip
from tests.chains.link_client import LINK, LinkClient, text_of

LINK_FIELD = re.compile(r'value="http://testserver(/invitation/[^"]+)"')
OPTION = re.compile(r'<option value="([^"]+)"[^>]*>(.*?)</option>', re.DOTALL)
MOST_SLICES = 50


def do_waiting_work() -> None:
    """What the worker does meanwhile: jobs, and items that come of accepted answers, until nothing is left."""
    for _slice in range(MOST_SLICES):
        jobs = list(Job.objects.filter(finished_at=None).values_list("pk", flat=True))
        for job in jobs:
            Job.objects.filter(pk=job, state="queued").update(lease_until=None)
            runner.run(job)
        if not derived_items.process_due(timezone.now()) and not jobs:
            return
    raise AssertionError("the worker never ends")


class Researcher(LinkClient):
    """Begins at the list of benchmarks."""

    def __init__(self, client: Client) -> None:
        super().__init__(client, "/benchmarks/")
        self.home = ""

    def create_benchmark(self, recipe: str, name: str, team: int) -> None:
        self.follow("Create benchmark")
        self.submit("Create benchmark", {"recipe": recipe, "name": name, "team": team})
        self.home = self.path

    def go(self, *labels: str) -> None:
        """From the overview by these links, one after the other."""
        self.open(self.home)
        for label in labels:
            self.follow(label)

    def choose(self, name: str, label: str) -> str:
        """The value of an option of a select, by a part of its text."""
        select = re.search(rf'<select[^>]*name="{name}".*?</select>', self.page, re.DOTALL)
        assert select, f"{self.path} has no select “{name}”"
        values = [value for value, text in OPTION.findall(select[0]) if label in text_of(text)]
        assert values, f"“{name}” offers no “{label}”: {text_of(select[0])}"
        return html.unescape(values[0])

    def import_items(self, rows: Iterable[Mapping[str, Any]], pictures: Mapping[str, bytes]) -> None:
        """Into the stage that the page offers first."""
        self.go("Import items")
        manifest = "\n".join(json.dumps(dict(row), ensure_ascii=False) for row in rows).encode()
        files = {
            "manifest": SimpleUploadedFile("manifest.jsonl", manifest),
            "archive": SimpleUploadedFile("pictures.zip", pack_zip(dict(pictures))),
        }
        self.submit("Import", files)
        do_waiting_work()

    def create_cohorts(self, labels: list[str]) -> dict[str, list[str]]:
        """By its label, the links of invitation to a cohort that is created: four, for four people."""
        self.go("Create cohorts")
        self.submit("Create cohorts", {"labels": labels})
        links = dict(zip(sorted(labels), ([link] for link in LINK_FIELD.findall(self.page)), strict=True))
        more = {text_of(inside): address for address, inside in LINK.findall(self.page)}
        for label in sorted(labels):
            self.open(more[f"More links : {label}"])
            self.submit("Create links", {"count": 3})
            links[label] += LINK_FIELD.findall(self.page)
        return links

    def add_endpoint(self, name: str, base_url: str) -> None:
        self.go("Predictions", "Model endpoints", "Add an endpoint")
        self.submit("Save endpoint", {"name": name, "base_url": base_url, "timeout_seconds": 5, "offers": ["images"]})

    def run_model(self, stage: str, prompt: str, endpoint: str, model: str, **fields: Any) -> None:
        """Plan a run, look at what is sent and what it costs, start it, and wait for its end."""
        self.go("Predictions", "New run")
        self.submit(
            "Continue", {"campaign": self.choose("campaign", stage), "endpoint": self.choose("endpoint", endpoint)}
        )
        chosen = re.search(rf'name="prompt"[^>]*value="({re.escape(prompt)}@[^"]+)"', self.page) or re.search(
            rf'value="({re.escape(prompt)}@[^"]+)"[^>]*name="prompt"', self.page
        )
        assert chosen, f"no prompt {prompt} fits {stage}"
        self.submit("Show options", {"prompt": chosen[1]})
        self.submit("Preview requests", {"model": model, **fields})
        self.submit("Estimate cost")
        self.submit("Run", {"confirmed": next(iter(re.findall(r'name="confirmed" value="(\d+)"', self.page)), None)})
        do_waiting_work()
