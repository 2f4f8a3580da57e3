"""A researcher who sets up and follows a benchmark by links and forms; the worker is told to do what waits."""

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.tasks import derive, fill_open_campaigns
from jobs.models import Job
from jobs.services import runner
from predictions.services.collections import written_queries
from predictions.services.runs import following
from predictions.tasks import start_fact_jobs
from tests.archives import pack_zip
from tests.chains.link_client import LINK, LinkClient, text_of

LINK_FIELD = re.compile(r'value="http://[^/"]+(/invitation/[^"]+)"')
OPTION = re.compile(r'<option value="([^"]+)"[^>]*>(.*?)</option>', re.DOTALL)
MOST_SLICES = 50


def do_waiting_work() -> None:
    """What the worker does meanwhile: jobs, facts, and items that come of accepted answers, until nothing is left."""
    for _slice in range(MOST_SLICES):
        start_fact_jobs()
        jobs = list(Job.objects.filter(finished_at=None).values_list("pk", flat=True))
        for job in jobs:
            Job.objects.filter(pk=job, state="queued").update(lease_until=None)
            runner.run(job)
        steps = derive()
        written_queries.follow_written_queries()
        if not following.follow_new_items() and not steps and not jobs:
            fill_open_campaigns()  # what a commit does where it is not a test's
            return
    raise AssertionError("the worker never ends")


class Researcher(LinkClient):
    """Begins at the list of benchmarks."""

    def __init__(self, client: Client) -> None:
        super().__init__(client, "/benchmarks/")
        self.home = ""
        self.visited: dict[tuple[str, ...], str] = {}  # the address that the last of these links has

    def create_benchmark(self, recipe: str, name: str, team: int) -> None:
        self.follow("Create benchmark")
        self.submit("Create benchmark", {"recipe": recipe, "name": name, "team": team})
        self.home = self.path

    def go(self, *labels: str) -> None:
        """By these links, one after the other; from the overview where the page has not the first. Links that were
        followed before are not pressed again: the address of the last is opened, as from the history of a browser.
        """
        known = next((count for count in range(len(labels), 0, -1) if labels[:count] in self.visited), 0)
        if known:
            self.open(self.visited[labels[:known]])
        elif not self.has(labels[0] if labels else ""):
            self.open(self.home)
        for count, label in enumerate(labels[known:], start=known + 1):
            self.visited[labels[:count]] = self.address_of(label)
            self.follow(label)

    def stay(self, *labels: str) -> None:
        """As `go`, but the page is not loaded again if it is open."""
        if self.visited.get(labels) != self.path:
            self.go(*labels)

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
        files = {"manifest": SimpleUploadedFile("manifest.jsonl", manifest)}
        if pictures:
            files["archive"] = SimpleUploadedFile("pictures.zip", pack_zip(dict(pictures)))
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

    def add_endpoint(self, name: str, base_url: str, *offers: str) -> None:
        """Pictures can be shown to it; `offers`: what it can do besides."""
        self.go("Predictions", "Model endpoints", "Add an endpoint")
        values = {"name": name, "base_url": base_url, "timeout_seconds": 5, "offers": ["images", *offers]}
        self.submit("Save endpoint", values)

    def add_local_encoder(self, name: str) -> None:
        """An endpoint for encoders of this machine."""
        self._add_endpoint_of("open_clip", name)

    def request_scores(self, stage: str, endpoint: str, model: str, words: str) -> None:
        """Each picture's score with these words is computed when its item arrives."""
        self.go("Predictions", "Item facts")
        self.submit("Run", {
            "stage": self.choose("stage", stage), "what": "clip_score", "endpoint": self.choose("endpoint", endpoint),
            "model": model, "words": words,
        })  # fmt: skip

    def import_collection(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self.go("Predictions", "Import a collection")
        lines = "\n".join(json.dumps(dict(row)) for row in rows).encode()
        self.submit("Import", {"name": name, "version": "1", "file": SimpleUploadedFile("entries.jsonl", lines)})
        do_waiting_work()

    def add_detector(self, name: str) -> None:
        self._add_endpoint_of("detector", name)

    def _add_endpoint_of(self, kind: str, name: str) -> None:
        self.go("Predictions", "Model endpoints", "Add an endpoint")
        self.submit("Save endpoint", {"kind": kind, "name": name})
        if self.has_button("Save endpoint"):  # without scripts, the form of the other kind comes first
            self.submit("Save endpoint", {"name": name})

    def set_prices(self, endpoint: str, dollars: str) -> None:
        """One price for each request, whatever the model: a budget can hold then."""
        self.go("Predictions", "Model endpoints", endpoint)
        self.submit("Save prices as a new version", {"price-0-model": "*", "price-0-request": dollars})

    def tell_models(self, *models: tuple[str, str, str]) -> None:
        """What figures need to know of models: the name of each, its access and its release."""
        self.go("Predictions", "Model endpoints", "Model details")
        for model, access, released in models:
            self.submit("Save", {"model": model, "access": access, "released": released})

    def draw(self, stage: str, **numbers: int) -> None:
        """Change how many items of each group a stage draws, and publish it."""
        self.go("Stages", stage)
        self.submit("Publish", {f"i:derivation.{path}": str(number) for path, number in numbers.items()})
        do_waiting_work()

    def use_as_limit(self, code: str, limit: str) -> None:
        """Choose the limit of the filter by the answers of people that have this code, which means relevant."""
        self.go("Predictions", "Item facts")
        links = [text_of(inside) for _address, inside in LINK.findall(self.page)]
        self.follow(next(link for link in links if link.startswith("Choose a limit Candidate")))
        self.submit("View", {"codes": [code]})
        self.submit("Use as limit", {"limit": limit})
        do_waiting_work()

    def ask_models(
        self, endpoint: str, conditions: Mapping[str, Sequence[str]], budget: str, asked_about: str = ""
    ) -> None:
        """Fill in a row for each model with its conditions, look, start all runs, and wait for their end."""
        self.go("Predictions", "Ask models")
        rows: dict[str, Any] = {"budget": budget, "seed": "3"}
        for number, (model, chosen) in enumerate(conditions.items()):
            if number >= int(next(iter(self.values("m-TOTAL_FORMS")))):
                self.submit("Add a model")
            row = f"m-{number}"
            rows |= {
                f"{row}-endpoint": self.choose(f"{row}-endpoint", endpoint), f"{row}-model": model,
                f"{row}-conditions": list(chosen),
            }  # fmt: skip
        if asked_about:
            rows["asked_about"] = asked_about
        self.submit("Preview", rows)
        missing = re.findall(r'name="confirmed" value="(\d+)"', self.page)
        self.submit(self.button("Start "), {"confirmed": missing[0]} if missing else {})
        do_waiting_work()
