"""Long work: claimed once, told step by step, stopped when asked, gone on with after a kill."""

import errno
import unicodedata
from datetime import timedelta

import pytest
from celery import current_app
from django.db import OperationalError, transaction
from django.utils import timezone

from jobs import access, tasks
from jobs.access import JobScope
from jobs.connections import broker
from jobs.formats.csv_safety import csv_lines, escape_formula, unescape_formula
from jobs.models import Event, Job, JobRow
from jobs.services import kinds, lifecycle, runner
from jobs.services.job_context import JobContext, JobFailed, LeaseLost, Requeue

pytestmark = pytest.mark.django_db


class Counting:
    """Work of ten rows that can be made to stop, fail or die at one of them."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.at: dict[int, BaseException | object] = {}

    def __call__(self, work: JobContext) -> None:
        work.expect(10)
        for number in range(work.cursor.get("next", 1), 11):
            work.check()
            event = self.at.pop(number, None)
            if isinstance(event, BaseException):
                raise event
            if callable(event):
                event()
            with transaction.atomic():
                self.done.append(number)
                outcome = "error" if number % 4 == 0 else "created"
                row = JobRow(number=number, name=f"row {number}", outcome=outcome, message="=1+1")
                work.step(done=number, cursor={"next": number + 1}, rows=[row])


@pytest.fixture
def counting(monkeypatch):
    monkeypatch.setattr(kinds, "_KINDS", dict(kinds._KINDS))
    work = Counting()
    kinds.register(kinds.JobKind("counting", work))
    return work


@pytest.fixture
def sent(monkeypatch):
    numbers: list[int] = []
    monkeypatch.setattr(lifecycle, "notify_workers", lambda number: numbers.append(number) or True)
    monkeypatch.setattr(runner, "notify_workers", lambda number: numbers.append(number) or True)
    return numbers


def start(actor=None, scope="nowhere:1", kind="counting") -> Job:
    return lifecycle.start(kind, "Count to ten", scope=scope, actor=actor)


def state(job: Job) -> str:
    job.refresh_from_db()
    return job.state


def test_it_is_sent_when_the_transaction_commits(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        job = start()
        assert sent == []
    for callback in callbacks:
        callback()
    assert sent == [job.pk]


def test_it_runs_to_the_end_and_keeps_a_report(counting):
    job = start()
    runner.run(job.pk)
    assert state(job) == "done" and (job.done, job.total) == (10, 10)
    assert job.result["counts"] == {"created": 8, "error": 2}
    assert list(job.rows.order_by("number").values_list("number", flat=True)) == list(range(1, 11))
    runner.run(job.pk)
    assert counting.done == list(range(1, 11))


def test_the_tasks_that_messages_and_the_beat_name_do_the_work(counting, settings):
    assert tasks.run.name == "jobs.run"
    assert tasks.requeue_stalled.name in {one["task"] for one in settings.CELERY_BEAT_SCHEDULE.values()}
    job = start()
    tasks.run.apply((job.pk,), throw=True)
    assert state(job) == "done"
    assert tasks.requeue_stalled.apply(throw=True).get() == 0


def test_one_of_many_claimers_gets_it():
    job = start()
    now = timezone.now()
    assert runner.claim(job.pk, now) is not None
    assert runner.claim(job.pk, now + timedelta(seconds=59)) is None
    assert runner.claim(job.pk, now + timedelta(seconds=61)) is not None


def test_after_a_kill_the_next_worker_goes_on_where_the_first_was(counting, sent):
    job = start()
    counting.at[6] = KeyboardInterrupt()  # as SIGKILL: nothing is written any more
    with pytest.raises(KeyboardInterrupt):
        runner.run(job.pk)
    assert state(job) == "running" and job.done == 5
    assert runner.requeue_stalled(timezone.now()) == 0
    assert runner.requeue_stalled(timezone.now() + timedelta(seconds=61)) == 1 and sent == [job.pk]
    runner.run(job.pk)
    assert state(job) == "done" and counting.done == list(range(1, 11))
    assert job.result["counts"] == {"created": 8, "error": 2}


def test_a_worker_that_was_thought_dead_writes_nothing(counting):
    job = start()

    def taken_over():
        Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(1))
        assert runner.claim(job.pk, timezone.now())

    counting.at[4] = taken_over
    runner.run(job.pk)
    assert state(job) == "running" and (job.done, job.attempts) == (3, 2)
    assert job.rows.count() == 3
    with pytest.raises(LeaseLost):
        JobContext(Job(pk=job.pk, attempts=1)).expect(3)


def test_stop_and_go_on(counting, sent, world, django_capture_on_commit_callbacks):
    job = start()
    counting.at[3] = lambda: lifecycle.request_cancel(job, world.mara)
    runner.run(job.pk)
    assert state(job) == "cancelled" and job.done == 3
    runner.run(job.pk)
    assert state(job) == "cancelled"
    with django_capture_on_commit_callbacks(execute=True):
        lifecycle.resume(job, world.mara)
    assert sent == [job.pk] and state(job) == "queued" and job.finished_at is None
    runner.run(job.pk)
    assert state(job) == "done" and counting.done == list(range(1, 11))
    with pytest.raises(lifecycle.CannotResume):
        lifecycle.resume(job, world.mara)
    verbs = Event.objects.filter(target=f"job:{job.pk}").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["job.started", "job.cancel_asked", "job.finished", "job.resumed", "job.finished"]


def test_waiting_work_is_stopped_at_once(counting, world):
    job = start()
    lifecycle.request_cancel(job, world.mara)
    assert state(job) == "cancelled"
    runner.run(job.pk)
    assert counting.done == []


def test_a_lost_worker_that_was_asked_to_stop_is_not_sent_again(counting, world, sent):
    job = start()
    runner.claim(job.pk, timezone.now())
    lifecycle.request_cancel(job, world.mara)
    assert state(job) == "running"
    runner.requeue_stalled(timezone.now() + timedelta(minutes=2))
    assert state(job) == "cancelled" and sent == []
    assert ends_of(job) == ["cancelled"]


def ends_of(job: Job) -> list[str]:
    """The states with which it ended, as webhooks and the feed of events say them."""
    rows = Event.objects.filter(verb="job.finished", target=f"job:{job.pk}").order_by("pk")
    return [data["state"] for data in rows.values_list("data", flat=True)]


def test_failures_say_what_happened(counting):
    job = start()
    counting.at[2] = JobFailed("The disk is full. Free some space, then resume.")
    runner.run(job.pk)
    assert state(job) == "failed" and job.error == "The disk is full. Free some space, then resume."
    broken = start()
    counting.at[2] = RuntimeError("secret detail")
    with pytest.raises(RuntimeError):
        runner.run(broken.pk)
    assert state(broken) == "failed" and "secret" not in broken.error
    full = start()
    counting.at[2] = OSError(errno.ENOSPC, "no space")
    with pytest.raises(OSError, match="no space"):
        runner.run(full.pk)
    assert state(full) == "failed" and full.error == "The disk is full. Free some space, then resume."
    gone = start(kind="of an older version")
    runner.run(gone.pk)
    assert state(gone) == "failed" and "does not support" in gone.error


def test_database_trouble_leaves_the_work_to_the_next_worker(counting):
    job = start()
    counting.at[5] = OperationalError("gone")
    with pytest.raises(OperationalError):
        runner.run(job.pk)
    assert state(job) == "running"


def test_work_that_kills_every_worker_ends(counting, sent):
    job = start()
    Job.objects.filter(pk=job.pk).update(state="running", attempts=runner.MOST_ATTEMPTS, lease_until=timezone.now())
    runner.requeue_stalled(timezone.now() + timedelta(seconds=1))
    assert state(job) == "failed" and sent == []
    assert ends_of(job) == ["failed"]
    runner.requeue_stalled(timezone.now() + timedelta(seconds=2))
    assert ends_of(job) == ["failed"]


def test_work_that_was_resumed_may_lose_as_many_workers_as_at_first(counting, sent, world):
    job = start()
    lost = {"state": "running", "lease_until": timezone.now()}
    Job.objects.filter(pk=job.pk).update(attempts=runner.MOST_ATTEMPTS, **lost)
    soon = timezone.now() + timedelta(seconds=1)
    runner.requeue_stalled(soon)
    lifecycle.resume(job, world.mara)
    Job.objects.filter(pk=job.pk).update(attempts=runner.MOST_ATTEMPTS + 1, **lost)
    assert runner.requeue_stalled(soon) == 1 and state(job) == "queued", "it was lost once since then"
    Job.objects.filter(pk=job.pk).update(attempts=2 * runner.MOST_ATTEMPTS, **lost)
    assert runner.requeue_stalled(soon) == 0 and state(job) == "failed"


def test_lost_work_that_is_stopped_before_it_is_sent_again_ends(counting, world, monkeypatch):
    first, second = start(), start()
    long_ago = {"state": "running", "attempts": 1, "lease_until": timezone.now() - timedelta(1)}
    Job.objects.filter(pk__in=(first.pk, second.pk)).update(**long_ago)

    def slow_broker(number):
        if number == first.pk:
            lifecycle.request_cancel(second, world.mara)
        return True

    monkeypatch.setattr(runner, "notify_workers", slow_broker)
    runner.requeue_stalled(timezone.now())
    runner.requeue_stalled(timezone.now() + timedelta(seconds=30))
    assert state(second) == "cancelled" and ends_of(second) == ["cancelled"]
    assert state(first) == "queued"


def test_without_a_broker_it_waits_and_is_sent_later(counting, monkeypatch, django_capture_on_commit_callbacks):
    from kombu.exceptions import OperationalError as NoBroker

    heard: list[int] = []

    def down(name, args, **options):
        raise NoBroker("connection refused")

    monkeypatch.setattr(current_app, "send_task", down)
    with django_capture_on_commit_callbacks(execute=True):
        job = start()
    assert state(job) == "queued"
    for seconds in (31, 62):  # the broker is still away: it is tried again at each look
        assert runner.requeue_stalled(timezone.now() + timedelta(seconds=seconds)) == 0
    monkeypatch.setattr(broker, "_silent_until", 0.0)  # ten seconds have gone by
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **options: heard.append(args[0]))
    assert runner.requeue_stalled(timezone.now()) == 0
    assert runner.requeue_stalled(timezone.now() + timedelta(seconds=31)) == 1
    assert runner.requeue_stalled(timezone.now() + timedelta(seconds=61)) == 0, "not again every half minute"
    assert heard == [job.pk]


class TestPages:
    @pytest.fixture
    def job(self, counting, world, monkeypatch):
        monkeypatch.setattr(access, "_OPENERS", dict(access._OPENERS))

        def opener(user, ident):
            if user not in (world.mara, world.reviewer):
                return None
            return JobScope(name="Garden", url="/garden/", nav=[], may_change=user == world.mara)

        access.register_scope("garden", opener)
        return start(world.mara, scope="garden:7")

    def test_the_page_follows_the_work_and_then_stops_asking(self, world, job):
        client = world.client(world.mara)
        page = client.get(f"/jobs/{job.pk}/").content.decode()
        assert 'hx-trigger="every 2s"' in page and "Waiting" in page
        assert client.get(f"/jobs/{job.pk}/progress/").status_code == 200
        runner.run(job.pk)
        assert client.get(f"/jobs/{job.pk}/progress/").headers["HX-Refresh"] == "true"
        page = client.get(f"/jobs/{job.pk}/").content.decode()
        assert "hx-trigger" not in page and "row 4" in page and "row 3" not in page
        assert "row 3" in client.get(f"/jobs/{job.pk}/?show=all").content.decode()
        assert client.get(f"/jobs/{job.pk}/?after=x&show=all").status_code == 200

    def test_the_report_downloads_without_formulas(self, world, job):
        runner.run(job.pk)
        lines = world.client(world.mara).get(f"/jobs/{job.pk}/rows.csv?show=errors").getvalue().decode("utf-8-sig")
        assert lines.splitlines() == [
            "row,name,outcome,reason,message",
            "4,row 4,error,,'=1+1",
            "8,row 8,error,,'=1+1",
        ]

    def test_who_may_look_and_who_may_stop(self, world, job):
        pages = [f"/jobs/{job.pk}/", f"/jobs/{job.pk}/progress/", f"/jobs/{job.pk}/rows.csv"]
        acts = [f"/jobs/{job.pk}/cancel/", f"/jobs/{job.pk}/resume/"]
        expected = {world.mara: (200, 302), world.reviewer: (200, 404), world.stranger: (404, 404)}
        for user, (look, act) in expected.items():
            client = world.client(user)
            assert [client.get(url).status_code for url in pages] == [look] * 3, user
            assert [client.post(url).status_code for url in acts] == [act] * 2, user
        assert {world.client().get(url).status_code for url in pages} == {302}
        assert world.client(world.mara).get(acts[0]).status_code == 405

    def test_a_scope_nobody_answers_for_is_nobodys(self, world, counting):
        job = start(world.mara, scope="moon:1")
        for user in (world.mara, world.site_admin):
            assert world.client(user).get(f"/jobs/{job.pk}/").status_code == 404


INVISIBLE = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) in ("Cc", "Cf", "Zs", "Zl", "Zp")]
FILLERS = "\u3164\u115f\u1160\uffa0\u2800\u034f\u17b4\u17b5\u180b\ufe0f\U000e0100\u0301\ue000\ufff0"


def test_cells_that_a_spreadsheet_would_run_are_made_text():
    assert [escape_formula(value) for value in ("=a", "+a", "-a", "@a", "\ta", " =a", "a=", "", None, -3, 2.5)] == [
        "'=a",
        "'+a",
        "'-a",
        "'@a",
        "'\ta",
        "' =a",
        "a=",
        "",
        "",
        "-3",
        "2.5",
    ]
    for wide in "＝＋－＠":
        assert escape_formula(f"{wide}1+1") == f"'{wide}1+1"
        assert escape_formula(f"\u3000{wide}1") == f"'\u3000{wide}1"
        assert escape_formula(f"a{wide}1") == f"a{wide}1"
    for start in ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"):
        for letter in [*INVISIBLE, *FILLERS]:
            text = f"{letter}{start}1"
            assert escape_formula(text) == f"'{text}", (hex(ord(letter)), start)
            assert unescape_formula(escape_formula(text)) == text
    assert escape_formula("\u2060\u200e\u202e\u2003\x0b\x1f=1") == "'\u2060\u200e\u202e\u2003\x0b\x1f=1"
    assert escape_formula(f"{FILLERS}=1") == f"'{FILLERS}=1"
    for visible in ("\u2003a", "\uac00", "e\u0301", "\u1780"):
        assert escape_formula(f"{visible}=1") == f"{visible}=1"
    assert list(csv_lines(["a"], [['x"y']]))[1] == '"x""y"\r\n'


class Slices:
    """Work of three slices, each of which gives the worker back."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.wait: timedelta | None = None
        self.before = lambda: None

    def __call__(self, work: JobContext) -> None:
        number = work.cursor.get("next", 1)
        with transaction.atomic():
            self.done.append(number)
            work.step(done=number, cursor={"next": number + 1})
        self.before()
        if number < 3:
            raise Requeue(self.wait)


class TestSlices:
    @pytest.fixture
    def slices(self, monkeypatch):
        monkeypatch.setattr(kinds, "_KINDS", dict(kinds._KINDS))
        work = Slices()
        kinds.register(kinds.JobKind("slices", work))
        return work

    def test_long_work_goes_behind_what_waits_and_is_sent_when_that_is_committed(
        self, slices, sent, django_capture_on_commit_callbacks
    ):
        job = start(kind="slices")
        for number, left in ((1, "queued"), (2, "queued"), (3, "done")):
            with django_capture_on_commit_callbacks() as callbacks:
                runner.run(job.pk)
                assert sent == [job.pk] * (number - 1)
            for callback in callbacks:
                callback()
            assert state(job) == left and job.done == number
        assert slices.done == [1, 2, 3] and sent == [job.pk] * 2
        assert (job.attempts, job.given_back) == (3, 2)

    def test_a_slice_is_no_loss_and_a_lost_worker_is(self, slices, sent):
        job = start(kind="slices")
        soon = timezone.now() + timedelta(seconds=1)
        many = {"state": "running", "lease_until": timezone.now(), "given_back": 500}
        Job.objects.filter(pk=job.pk).update(attempts=499 + runner.MOST_ATTEMPTS, **many)
        assert runner.requeue_stalled(soon) == 1 and state(job) == "queued"
        Job.objects.filter(pk=job.pk).update(attempts=500 + runner.MOST_ATTEMPTS, **many)
        assert runner.requeue_stalled(soon) == 0 and state(job) == "failed"

    def test_it_stops_between_two_slices_and_within_one(self, slices, sent, world):
        job = start(kind="slices")
        runner.run(job.pk)
        lifecycle.request_cancel(job, world.mara)
        assert state(job) == "cancelled"
        runner.run(job.pk)
        assert slices.done == [1]
        other = start(kind="slices")
        slices.before = lambda: lifecycle.request_cancel(other, world.mara)
        runner.run(other.pk)
        assert state(other) == "cancelled" and other.finished_at is not None

    def test_what_waits_for_a_moment_is_sent_by_the_beat_after_it(self, slices, sent):
        slices.wait = timedelta(minutes=10)
        job = start(kind="slices")
        runner.run(job.pk)
        assert state(job) == "queued" and sent == []
        assert runner.requeue_stalled(timezone.now() + timedelta(minutes=9)) == 0
        assert runner.requeue_stalled(timezone.now() + timedelta(minutes=11)) == 1 and sent == [job.pk]

    def test_a_worker_that_was_thought_dead_gives_nothing_back(self, slices):
        job = start(kind="slices")

        def taken_over():
            Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(1))
            assert runner.claim(job.pk, timezone.now())

        slices.before = taken_over
        runner.run(job.pk)
        assert state(job) == "running" and (job.attempts, job.given_back) == (2, 0)

    def test_it_sees_whether_others_wait(self, slices):
        job = start(kind="slices")
        work = JobContext(runner.claim(job.pk, timezone.now()))
        assert not work.has_waiting_jobs()
        other = start(kind="slices")
        assert work.has_waiting_jobs()
        Job.objects.filter(pk=other.pk).update(lease_until=timezone.now() + timedelta(hours=1))
        assert not work.has_waiting_jobs(), "it waits for a moment, not for a worker"
