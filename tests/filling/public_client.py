"""A benchmark filled as people fill it: by the pages alone, through Django's test client. The database is only read, to
learn an id that a person would see on a page.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Q
from django.http import HttpResponse

from annotation.models import Annotation, Assignment, Campaign
from annotation.services.derivation import derived_items
from benchmarks.models import Benchmark, Item, Stage
from jobs.models import Job
from jobs.services import runner
from people.models import Cohort, Rater, User
from predictions.models import Collection, Endpoint, KnowledgeBase, KnowledgeIndex, Run
from tests.archives import pack_zip
from tests.personas import World, make_cohort

Row = Mapping[str, Any]
Answer = Callable[[Item, User], Mapping[str, Any] | None]  # the form's fields; None skips the item
ON_SHEET = re.compile(r'id="bench"[^>]*data-assignment="(\d+)"')
MOST_SHEETS = 500


def jsonl(rows: Sequence[Row]) -> bytes:
    return "\n".join(json.dumps(dict(row), ensure_ascii=False) for row in rows).encode()


def file_of(name: str, data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def cohort_of(world: World, country: str) -> Cohort:
    """The world's cohort of this name, with two people; made where there is none."""
    cohort = Cohort.objects.filter(team=world.team, label=country).first()
    if cohort is None:
        cohort = make_cohort(world.team, country)
        world.add_annotators(cohort, 2)
    return cohort


class PublicDoor:
    """A researcher's browser on a new benchmark of a recipe, and two people of each of two cohorts: Brazil, and a
    country that the recipe knows besides."""

    def __init__(self, world: World, recipe: str, country: str = "Egypt") -> None:
        self.world, self.slug, self.filled_twice = world, recipe, False
        self.first, self.second = cohort_of(world, country), world.brazil
        self.page = world.client(world.mara)
        form = {"recipe": recipe, "name": recipe, "slug": recipe, "team": world.team.pk, "question": ""}
        assert self.page.post("/benchmarks/new/", form).status_code == 302, recipe

    @property
    def people(self) -> list[User]:
        """The first cohort's two, then the second's."""
        of_cohorts = User.objects.filter(cohort_memberships__cohort__in=[self.first, self.second])
        return sorted(of_cohorts, key=lambda user: (user in self.world.annotators[2:], user.pk))

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark.objects.get(slug=self.slug)

    def stage(self, key: str) -> Stage:
        return Stage.objects.get(benchmark__slug=self.slug, key=key)

    def at(self, rest: str) -> str:
        return f"/b/{self.slug}/{rest}"

    def post(self, path: str, form: Mapping[str, Any], status: int = 302) -> HttpResponse:
        reply = self.page.post(path, form)
        assert reply.status_code == status, f"{path}: {reply.status_code} {_errors(reply)}"
        return reply  # type: ignore[return-value]

    def job(self, path: str, form: Mapping[str, Any]) -> Job:
        """Sends a form that starts a job, and lets a worker do it: every row is taken."""
        reply = self.post(path, form)
        match = re.fullmatch(r"/jobs/(\d+)/", reply["Location"])
        assert match, f"{path} leads to {reply['Location']}"
        runner.run(int(match[1]))
        job = Job.objects.get(pk=match[1])
        assert job.state == "done", job.error
        wrong = job.rows.filter(outcome="error")
        assert not wrong.exists(), list(wrong.values_list("number", "reason", "message"))
        return job

    # ---- items and people -------------------------------------------------------------------------------------------

    def import_items(
        self, stage: str, rows: Sequence[Row], pictures: Mapping[str, bytes] | None = None, *, complete: bool = False
    ) -> None:
        form: dict[str, Any] = {"stage": self.stage(stage).pk, "condition": "", "source": "", "licence": ""}
        if complete:
            form["complete"] = "on"
        form["manifest"] = file_of("manifest.jsonl", jsonl(rows))
        if pictures:
            form["archive"] = file_of("pictures.zip", pack_zip(dict(pictures)))
        self.job(self.at("import/"), form)

    def open_campaign(self, stage: str, wanted: Mapping[Cohort, int], name: str = "First round") -> Campaign:
        targets = {f"target_{cohort.pk}": n for cohort, n in wanted.items()}
        empty = {f"target_{c.pk}": "" for c in Cohort.objects.filter(team=self.world.team) if c not in wanted}
        items = Item.objects.filter(stage=self.stage(stage)).exclude(condition="")
        conditions = list(items.order_by("condition").values_list("condition", flat=True).distinct())
        form = {"name": name, "summary": "", **targets, **empty, "conditions": conditions}
        reply = self.post(self.at(f"campaigns/new/?stage={stage}"), form)
        campaign = Campaign.objects.get(pk=int(reply["Location"].rstrip("/").rsplit("/", 1)[1]))
        self.post(self.at(f"campaigns/{campaign.pk}/action/"), {"act": "open"})
        campaign.refresh_from_db()
        assert campaign.state == "open", f"{stage} did not open"
        return campaign

    def answer(self, campaign: Campaign, user: User, answer: Answer) -> int:
        """One person answers, sheet after sheet, until there is nothing more for them; says how many sheets."""
        page = self.world.client(user)
        for done in range(MOST_SHEETS):
            shown = page.get(f"/work/{campaign.pk}/").content.decode().split("<template", 1)[0]
            on_sheet = ON_SHEET.search(shown)
            if not on_sheet:
                return done
            assignment = Assignment.objects.select_related("unit__item").get(pk=on_sheet[1])
            fields = answer(assignment.unit.item, user)
            if fields is None:
                form = {"reason": campaign.stage.skip_reasons[0]["code"]}
                reply = page.post(f"/assignments/{assignment.pk}/skip", form)
            else:
                named = {f"a-{name}": value for name, value in fields.items()}
                reply = page.post(
                    f"/assignments/{assignment.pk}/submit", {**named, "client_key": f"sheet-{assignment.pk}"}
                )
            assert reply.status_code == 302, f"{campaign.stage.key}: {_errors(reply)}"
        raise AssertionError(f"{campaign} never ends")

    def everybody_answers(self, campaign: Campaign, answer: Answer) -> None:
        for user in self.people:
            self.answer(campaign, user, answer)
        self.derive()

    def derive(self) -> None:
        """Later stages get their items."""
        from django.utils import timezone

        derived_items.process_due(timezone.now())

    def accept_everything(self, stage: str) -> None:
        """A reviewer accepts each answer that waits."""
        waiting = Annotation.objects.filter(assignment__campaign__stage=self.stage(stage), live=True)
        for annotation in waiting.filter(Q(rater__kind=Rater.Kind.PERSON)).order_by("pk"):
            self.post(self.at(f"review/{annotation.pk}/"), {"decision": "accept", "reason": "", "comment": ""})
        self.derive()

    # ---- models -----------------------------------------------------------------------------------------------------

    def model_answers(
        self, campaign: Campaign, model: str, rows: Sequence[Row], setting: str = "", **about: Any
    ) -> None:
        """A file of a model's answers: `item`, `target` and the questions' answers."""
        fields = {"rater": model, "rater_kind": "model", "setting": setting, "about": about}
        data = jsonl([{**fields, **row} for row in rows])
        form = {"file": file_of(f"{model}-{setting}.jsonl", data)}
        self.job(self.at(f"campaigns/{campaign.pk}/answers/import/"), form)

    def collection(self, name: str, rows: Sequence[Row], version: str = "1") -> Collection:
        form = {"name": name, "version": version, "licence": "", "file": file_of("collection.jsonl", jsonl(rows))}
        self.job(self.at("predictions/collection/"), form)
        return Collection.objects.filter(benchmark__slug=self.slug).latest("pk")

    def run(
        self, collection: Collection, task: str, model: str, rows: Sequence[Row], *, query_set: str = "",
        system_prompt: str = "", setting: str = "", about: Mapping[str, Any] | None = None,
    ) -> Run:  # fmt: skip
        form = {
            "collection": collection.pk, "task": task, "query_set": query_set, "model": model, "setting": setting,
            "system_prompt": system_prompt, "score_kind": "cosine", "about": json.dumps(about or {}),
            "file": file_of("run.jsonl", jsonl(rows)),
        }  # fmt: skip
        self.job(self.at("predictions/run/"), form)
        run = Run.objects.filter(benchmark__slug=self.slug).latest("pk")
        assert run.complete, (model, task, query_set)
        return run

    def endpoint(self, base_url: str, **more: Any) -> Endpoint:
        """A server that speaks as OpenAI's does, offering pictures."""
        address = f"/teams/{self.world.team.slug}/models/new/"
        from tests.forms import inputs_of

        form = dict(inputs_of(self.page.get(address).content.decode()))
        admin = self.world.client(self.world.team_admin)
        form |= {"name": "Scripted", "base_url": base_url, **more}
        reply = admin.post(address, form)
        assert reply.status_code == 302, _errors(reply)
        return Endpoint.objects.filter(team=self.world.team).latest("pk")

    def encoder(self) -> Endpoint:
        """A place where a CLIP runs here. What it computes is the test's own."""
        endpoint = Endpoint.objects.filter(team=self.world.team, kind=Endpoint.Kind.OPEN_CLIP).first()
        if endpoint is None:
            form = {"kind": "open_clip", "name": "Encoder", "most_in_flight": 1, "timeout_seconds": 60}
            admin = self.world.client(self.world.team_admin)
            reply = admin.post(f"/teams/{self.world.team.slug}/models/new/", form)
            assert reply.status_code == 302, _errors(reply)
            endpoint = Endpoint.objects.filter(team=self.world.team).latest("pk")
        return endpoint

    def model_run(self, campaign: Campaign, endpoint: Endpoint, **fields: Any) -> Run:
        """Planned, started and driven to its end."""
        address = self.at("predictions/run/new/")
        first = {"campaign": campaign.pk, "endpoint": endpoint.pk}
        from tests.forms import inputs_of

        page = self.page.get(address, first).content.decode()
        form: dict[str, Any] = {}
        for name, value in inputs_of(page):
            form.setdefault(name, []).append(value)
        form |= first | {"model": "scripted", "asked_about": "cohorts", **fields, "do": "start"}
        self.post(address, form)
        run = Run.objects.filter(benchmark__slug=self.slug).latest("pk")
        for _slice in range(50):
            Job.objects.filter(pk=run.job_id, state="queued").update(lease_until=None)
            assert run.job_id is not None
            runner.run(run.job_id)
            if Job.objects.get(pk=run.job_id).state != "queued":
                break
        run.refresh_from_db()
        assert run.complete, run.state
        return run

    # ---- knowledge bases --------------------------------------------------------------------------------------------

    def knowledge_base(self, name: str, entries: Sequence[Row], version: str = "1") -> KnowledgeBase:
        team = f"/teams/{self.world.team.slug}/knowledge/"
        self.post(team, {"name": name, "version": version, "licence": ""})
        base = KnowledgeBase.objects.latest("pk")
        self.job(f"{team}{base.pk}/import/", {"entries": file_of("entries.jsonl", jsonl(entries))})
        return base

    def knowledge_index(self, base: KnowledgeBase, endpoint: Endpoint, model: str, over: str) -> KnowledgeIndex:
        form = {"endpoint": endpoint.pk, "model": model, "over": over, "kind": ""}
        self.job(f"/teams/{self.world.team.slug}/knowledge/{base.pk}/index/import/", form)
        return KnowledgeIndex.objects.latest("pk")

    def link(self, stage: str, index: KnowledgeIndex, method: str, **more: Any) -> Run:
        form = {"stage": self.stage(stage).pk, "index": index.pk, "method": method, "nearest": 5, **more}
        self.job(self.at("links/"), form)
        return Run.objects.filter(benchmark__slug=self.slug, task="linking").latest("pk")


def _errors(reply: Any) -> str:
    """What a refused form says."""
    page = reply.content.decode(errors="replace")
    errors = re.findall(
        r'class="(?:errorlist|error|wrong|msg [a-z]*)[^"]*"[^>]*>(.*?)</(?:ul|p|div|span)>', page, re.DOTALL
    )
    return re.sub(r"<[^>]*>|\s+", " ", " | ".join(errors))[:600] or page[:300]
