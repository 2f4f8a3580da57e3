"""Whether mail can leave, and what became of it, in words. No letter's text is shown here."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Max, Min, Q
from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from people.models import OutMail

NO_SERVER = tuple(
    f"django.core.mail.backends.{name}.EmailBackend" for name in ("console", "dummy", "filebased", "locmem")
)
LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]", "testserver"}
FAULTS = {
    "refused": gettext_lazy("connection refused"),
    "timeout": gettext_lazy("no answer in time"),
    "closed": gettext_lazy("the mail server closed the connection"),
    "unknown_host": gettext_lazy("the mail server's name is not known"),
    "unreachable": gettext_lazy("the mail server cannot be reached"),
    "sign_in": gettext_lazy("the mail server did not accept our user name and password"),
    "unsendable": gettext_lazy("the message cannot be sent"),
    "not_needed": gettext_lazy("no longer needed"),
    "too_long": gettext_lazy("it could not be sent in time"),
}


def is_public_site() -> bool:
    """Whether the site is reached under another name than that of its own machine."""
    return not LOCAL_HOSTS.issuperset(settings.ALLOWED_HOSTS)


def has_mail_server() -> bool:
    """Back ends that only print, store or drop a letter count as no server."""
    return settings.EMAIL_BACKEND not in NO_SERVER


def describe(mail: OutMail) -> str:
    """The state of one letter as a sentence. It never says that a letter was received."""
    reply = str(FAULTS.get(mail.reply, mail.reply))
    if mail.state == OutMail.State.ACCEPTED:
        return _("Accepted by the mail server at %(time)s") % {"time": _clock(mail.changed_at)}
    if mail.state == OutMail.State.RETRY and mail.next_at:
        tried = ngettext("Tried %(n)s time", "Tried %(n)s times", mail.attempts) % {"n": mail.attempts}
        return _("%(tried)s, next at %(time)s: %(reply)s") % {
            "tried": tried,
            "time": _clock(mail.next_at),
            "reply": reply,
        }
    if mail.state == OutMail.State.FAILED:
        return _("Not accepted: %(reply)s") % {"reply": reply}
    if mail.state == OutMail.State.BOUNCED:
        return _("Bounced: %(reply)s") % {"reply": reply}
    if mail.state == OutMail.State.SUPPRESSED:
        return _("Not sent: %(reply)s") % {"reply": reply}
    if mail.state == OutMail.State.NO_SERVER:
        return _("No mail server is set up. Share the link yourself.") if mail.kind in OutMail.SECRET else no_server()
    return _("Waiting")


def no_server() -> str:
    return _("No mail server is set up.")


def _clock(at: datetime) -> str:
    local = timezone.localtime(at)
    today = local.date() == timezone.localdate()
    return formats.date_format(local, "TIME_FORMAT" if today else "SHORT_DATETIME_FORMAT")


def letters_of(targets: Iterable[str]) -> dict[str, OutMail]:
    """The latest letter of each target that has one, such as "invitation:12"."""
    return {mail.target: mail for mail in OutMail.objects.filter(target__in=list(targets)).order_by("pk")}


def message_states(targets: Iterable[str]) -> dict[str, str]:
    """For each message to a cohort, how many of its letters are in which state."""
    rows = OutMail.objects.filter(target__in=list(targets)).values("target", "state").annotate(n=Count("pk"))
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        counts.setdefault(row["target"], {})[row["state"]] = row["n"]
    return {target: _summary(states) for target, states in counts.items()}


def _summary(states: dict[str, int]) -> str:
    if states.get(OutMail.State.NO_SERVER):
        return no_server()
    waiting = sum(states.get(state, 0) for state in OutMail.PENDING)
    accepted, failed = (
        states.get(OutMail.State.ACCEPTED, 0),
        states.get(OutMail.State.FAILED, 0) + states.get(OutMail.State.BOUNCED, 0),
    )
    parts = [
        ngettext("mail: %(n)s accepted by the mail server", "mail: %(n)s accepted by the mail server", accepted)
        % {"n": accepted}
    ]
    if waiting:
        parts.append(ngettext("%(n)s waiting", "%(n)s waiting", waiting) % {"n": waiting})
    if failed:
        parts.append(ngettext("%(n)s not accepted", "%(n)s not accepted", failed) % {"n": failed})
    return ", ".join(parts)


@dataclass(frozen=True)
class MailOverview:
    """Counts of letters for the status page. `oldest` is when the oldest waiting letter was written."""

    server: bool
    waiting: int
    oldest: datetime | None
    accepted_at: datetime | None
    fault: str


def overview() -> MailOverview:
    pending = Q(state__in=OutMail.PENDING)
    totals = OutMail.objects.aggregate(
        waiting=Count("pk", filter=pending),
        oldest=Min("at", filter=pending),
        accepted_at=Max("changed_at", filter=Q(state=OutMail.State.ACCEPTED)),
    )
    last = OutMail.objects.filter(state=OutMail.State.RETRY).order_by("-changed_at").first()
    fault = str(FAULTS.get(last.reply, last.reply)) if last else ""
    return MailOverview(has_mail_server(), totals["waiting"], totals["oldest"], totals["accepted_at"], fault)
