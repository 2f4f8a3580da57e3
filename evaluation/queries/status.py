"""How the site is: what waits, what failed, how full it is. Every problem says what to do."""

import platform
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Assignment
from jobs.connections.broker import WORKER_LATE, ask, worker_seen
from jobs.models import Job
from jobs.queries.job_reports import site_failures
from people.queries import mail_status
from people.services.limits import sign_in_limit

GIB = 1024**3
LITTLE_SPACE = 2 * GIB
NO_SPACE = 100 * 1024**2
MANY_WAITING = 1_000
MOST_SHOWN = 20  # of the jobs that failed
MOST_FILES = 200_000  # whose sizes are added
BEAT_LATE = timedelta(minutes=5)
MAIL_LATE = timedelta(minutes=10)
BEAT_KEY = "emic:beat"
SETTLING = timedelta(minutes=3)  # it beats every minute, and the worker starts after the pages
STARTED = timezone.now()  # of this process


@dataclass(frozen=True)
class Problem:
    what: str
    do: str


@dataclass
class Status:
    at: datetime
    versions: list[tuple[str, str]] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)
    failed: list[Job] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    works_behind: bool = True  # whether the worker and the scheduler do what waits in the background
    jobs_waiting: int = 0
    has_mail: bool = True
    mail_waits: bool = False  # longer than mail takes
    free: str = ""
    has_space: bool = True

    @property
    def plain(self) -> list[tuple[bool, str, str]]:
        """What a person wants to know first: whether it is well, its name, and a few words."""
        waiting = ngettext("%(n)s job waits", "%(n)s jobs wait", self.jobs_waiting) % {"n": f"{self.jobs_waiting:,}"}
        background = _("runs") if self.works_behind else _("does not run")
        return [
            (True, _("Pages and database"), _("answer")),
            (self.works_behind, _("Background work"), f"{background}, {waiting}" if self.jobs_waiting else background),
            (not self.failed, _("Jobs of the last seven days"), _("some failed") if self.failed else _("none failed")),
            (self.has_mail and not self.mail_waits, _("Mail"), self._mail_words()),
            (self.has_space, _("Free space"), self.free),
        ]

    def _mail_words(self) -> str:
        if not self.has_mail:
            return _("is not set up: share links yourself")
        return _("waits") if self.mail_waits else _("is sent")


def status(at: datetime) -> Status:
    status = Status(at)
    for part in (_versions, _queue, _jobs, _leases, _packs, _mail, _sign_ins, _disk, *_MORE_PARTS):
        part(status)
    return status


_MORE_PARTS: list[Callable[[Status], None]] = []  # of other apps; filled by `register_status_part` only


def register_status_part(part: Callable[[Status], None]) -> None:
    """Let another app add figures and problems to the status page."""
    _MORE_PARTS.append(part)


def _versions(status: Status) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        postgres = cursor.fetchone()[0]
    status.versions = [
        ("Emic", settings.VERSION),
        ("Python", platform.python_version()),
        ("Django", django.get_version()),
        ("PostgreSQL", postgres),
    ]


def broker(do: Callable[[Any], Any]) -> Any:
    """Ask the broker something; None when it does not answer soon, or is not one of the Redis kind."""
    return ask(do)


def record_heartbeat(at: datetime) -> None:
    """Written by the task of that name: that it is fresh shows that beat and worker both live."""
    broker(lambda client: client.set(BEAT_KEY, at.isoformat(), ex=86_400))


def _queue(status: Status) -> None:
    asked = broker(
        lambda client: (client.info("server"), client.llen("celery"), client.get(BEAT_KEY), worker_seen(client))
    )
    if asked is None:
        status.works_behind = False
        status.figures.append((_("Broker"), _("does not answer")))
        status.problems.append(
            Problem(
                _("The broker is not responding, so no background jobs run."),
                _("Check that Valkey is running and that CELERY_BROKER_URL is correct. Jobs wait in the database."),
            )
        )
        return
    info, waiting, beat, worker = asked
    name = info.get("server_name", "redis").title()
    status.versions.append((name, str(info.get("valkey_version") or info.get("redis_version", "?"))))
    status.figures.append((_("Messages waiting in the broker"), f"{waiting:,}"))
    if waiting > MANY_WAITING:
        status.problems.append(
            Problem(
                _("Many messages wait in the broker."),
                _("Check that a worker is running; start a second one if it is."),
            )
        )
    _worker(status, worker)
    _scheduler(status, datetime.fromisoformat(beat.decode()) if beat else None)


def _worker(status: Status, seen: datetime | None) -> None:
    ago = status.at - seen if seen else None
    if (ago is None or ago > WORKER_LATE) and status.at - STARTED < WORKER_LATE:
        status.figures.append((_("Worker last seen"), _("not yet since the start")))
        return
    ago_text = _("never") if ago is None else _("%(n)s s ago") % {"n": max(0, round(ago.total_seconds()))}
    status.figures.append((_("Worker last seen"), ago_text))
    if ago is None or ago > WORKER_LATE:
        status.works_behind = False
        status.problems.append(
            Problem(
                _("The worker does not respond: nothing is done in the background, and jobs wait."),
                _("./emic run replaces it within a minute. In containers, restart the service “worker”."),
            )
        )


def _scheduler(status: Status, last: datetime | None) -> None:
    ago = status.at - last if last else None
    fresh = ago is not None and ago <= BEAT_LATE
    if not fresh and status.at - STARTED < SETTLING:
        status.figures.append((_("Scheduler last seen"), _("not yet since the start")))
        return
    ago_text = _("never") if ago is None else _("%(n)s s ago") % {"n": max(0, round(ago.total_seconds()))}
    status.figures.append((_("Scheduler last seen"), ago_text))
    if not fresh:
        status.works_behind = False
        status.problems.append(
            Problem(
                _(
                    "The scheduler has not responded for five minutes. Expired reservations are not "
                    "released, and stopped jobs do not resume."
                ),
                _("Check that the worker and the scheduler run. ./emic run starts both."),
            )
        )


def _jobs(status: Status) -> None:
    for state, label in Job.State.choices:
        status.figures.append((_("Jobs: %(state)s") % {"state": label}, f"{Job.objects.filter(state=state).count():,}"))
    status.jobs_waiting = Job.objects.filter(state=Job.State.QUEUED).count()
    failures = site_failures(status.at - timedelta(days=7))
    status.failed = list(failures[:MOST_SHOWN])
    if status.failed:
        n = failures.count()
        text = ngettext("%(n)s job failed in the last seven days.", "%(n)s jobs failed in the last seven days.", n)
        words = text % {"n": f"{n:,}"}
        if n > MOST_SHOWN:
            words += " " + _("The latest %(n)s are shown.") % {"n": MOST_SHOWN}
        status.problems.append(Problem(words, _("Read the message below, fix the cause, then resume the job.")))
    stalled = Job.objects.filter(state=Job.State.RUNNING, lease_until__lt=status.at - BEAT_LATE).count()
    if stalled:
        status.problems.append(
            Problem(
                ngettext("%(n)s job has stopped.", "%(n)s jobs have stopped.", stalled) % {"n": stalled},
                _("Its worker stopped. The job resumes when a worker and the scheduler run."),
            )
        )


def _leases(status: Status) -> None:
    reserved = Assignment.objects.filter(state=Assignment.State.RESERVED)
    late = reserved.filter(lease_until__lt=status.at - BEAT_LATE).count()
    status.figures.append((_("Open reservations"), f"{reserved.count():,}"))
    status.figures.append((_("Expired reservations"), f"{late:,}"))
    if late:
        status.problems.append(
            Problem(
                _("Reservations have expired and were not released."),
                _("Check that the worker and the scheduler run. They release expired reservations."),
            )
        )


def _packs(status: Status) -> None:
    """Browsers keep pages for sites with https only, or of this machine."""
    packed = Assignment.objects.filter(state=Assignment.State.RESERVED, packed=True).count()
    status.figures.append((_("Open reservations on devices"), f"{packed:,}"))
    offered = settings.HTTPS or not mail_status.is_public_site()
    words = _("offered") if offered else _("not offered: browsers keep items on a device only for a site with https")
    status.figures.append((_("Answers without a connection"), words))


def _mail(status: Status) -> None:
    mail = mail_status.overview()
    status.has_mail = mail.server
    if not mail.server:
        status.figures.append((_("Mail"), _("no mail server is set up")))
        if not mail_status.is_public_site():
            return
        status.problems.append(
            Problem(
                _("No mail server is set up: invitations and password links are not sent."),
                _("Set EMAIL_URL to your mail server and restart Emic. Until then, share links yourself."),
            )
        )
        return
    last = _time(mail.accepted_at) if mail.accepted_at else _("never")
    status.figures.append((_("Mail: waiting"), f"{mail.waiting:,}"))
    status.figures.append((_("Mail: last accepted by the mail server"), last))
    status.mail_waits = bool(mail.oldest and mail.oldest < status.at - MAIL_LATE)
    if status.mail_waits:
        do = _(
            "Check that the worker is running and that EMAIL_URL is correct; the mail page shows "
            "the response of the mail server."
        )
        if mail.fault:
            do = _("The last try failed: %(fault)s.") % {"fault": mail.fault} + " " + do
        status.problems.append(Problem(_("Mail has been waiting for more than 10 minutes."), do))


def _sign_ins(status: Status) -> None:
    alarm = sign_in_limit.latest_alarm(status.at - timedelta(days=1))
    if alarm:
        values = {"names": alarm.data["names"], "at": _time(alarm.at)}
        status.problems.append(
            Problem(
                _("Possible password guessing: sign-ins with %(names)s different names failed in an hour (%(at)s).")
                % values,
                _("Each address is rate-limited. If it continues, block these addresses at your proxy."),
            )
        )


def _time(at: datetime) -> str:
    return formats.date_format(timezone.localtime(at), "SHORT_DATETIME_FORMAT")


def _disk(status: Status) -> None:
    folder = Path(settings.DATA_DIR)
    disk = shutil.disk_usage(folder if folder.exists() else folder.parent)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        database = int(cursor.fetchone()[0])
    status.figures.append((_("Database"), _size(database)))
    status.figures.append((_("Data folder"), f"{folder} ({folder_size(folder)})"))
    status.free = _("%(free)s of %(all)s") % {"free": _size(disk.free), "all": _size(disk.total)}
    status.figures.append((_("Free on its disk"), status.free))
    status.has_space = disk.free >= max(LITTLE_SPACE, NO_SPACE)
    if disk.free < NO_SPACE:
        status.problems.append(
            Problem(
                _("The disk of the data folder is full: answers and uploads are not saved, or will soon not be."),
                _("Free disk space now. Saved data is safe, and work resumes automatically."),
            )
        )
    elif disk.free < LITTLE_SPACE:
        status.problems.append(
            Problem(
                _("Less than 2 GiB are free on the disk of the data folder."),
                _("Make room, or move the data folder (EMIC_DATA) to a larger disk. Answers stop when it is full."),
            )
        )


def folder_size(folder: Path) -> str:
    """Of its files; of a folder with very many the least that it has, so that the page always answers."""
    total = 0
    for number, path in enumerate(folder.rglob("*")):
        if number >= MOST_FILES:
            return _("more than %(size)s") % {"size": _size(total)}
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:  # gone, or not ours to look at, while we looked
            continue
    return _size(total)


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
