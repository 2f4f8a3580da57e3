"""Where a text is used, in plain words and with a page that shows it, by the file that has it."""

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

# The beginning of a file's path, what it is of, and the page on which its texts appear. The first that fits is taken.
PLACES = (
    ("annotation/fields/box", gettext_lazy("Sheet: drawing boxes"), "annotation:work"),
    ("templates/annotation/fields/box", gettext_lazy("Sheet: drawing boxes"), "annotation:work"),
    ("annotation/fields/grouping", gettext_lazy("Sheet: sorting similar pictures"), "annotation:work"),
    ("templates/annotation/fields/grouping", gettext_lazy("Sheet: sorting similar pictures"), "annotation:work"),
    ("templates/annotation/displays/contact", gettext_lazy("Sheet: sorting similar pictures"), "annotation:work"),
    ("templates/annotation/fields/picture", gettext_lazy("Sheet: adding a picture"), "annotation:work"),
    ("annotation/services/answers/uploads", gettext_lazy("Sheet: adding a picture"), "annotation:work"),
    ("templates/annotation/displays/pair", gettext_lazy("Sheet: comparing two"), "annotation:work"),
    ("annotation/displays/pair", gettext_lazy("Sheet: comparing two"), "annotation:work"),
    ("annotation/fields/messages", gettext_lazy("Sheet: when an answer does not fit"), "annotation:work"),
    ("templates/annotation/fields", gettext_lazy("Sheet: the questions"), "annotation:work"),
    ("templates/annotation/displays", gettext_lazy("Sheet: what is shown"), "annotation:work"),
    ("templates/annotation/sheet", gettext_lazy("Sheet: buttons, help, skipping, saving"), "annotation:work"),
    ("annotation/displays", gettext_lazy("Sheet: what is shown"), "annotation:work"),
    ("annotation/pages/field_rendering", gettext_lazy("Sheet: the questions"), "annotation:work"),
    ("annotation/sheets", gettext_lazy("Sheet: the questions"), "annotation:work"),
    ("annotation/views/answers", gettext_lazy("Sheet: after an answer"), "annotation:work"),
    ("annotation/views/pictures", gettext_lazy("Sheet: adding a picture"), "annotation:work"),
    ("templates/annotation/protocol", gettext_lazy("Instructions and quiz"), "annotation:work"),
    ("annotation/views/protocol", gettext_lazy("Instructions and quiz"), "annotation:work"),
    ("templates/annotation/consent", gettext_lazy("Consent"), "people:me"),
    ("annotation/views/consent", gettext_lazy("Consent"), "people:me"),
    ("templates/annotation/history", gettext_lazy("History: your answers"), "annotation:history"),
    ("annotation/pages/history", gettext_lazy("History: your answers"), "annotation:history"),
    ("annotation/views/history", gettext_lazy("History: your answers"), "annotation:history"),
    (
        "annotation/pages/status_text",
        gettext_lazy("States of answers"),
        "annotation:history",
    ),
    (
        "annotation/queries/answers",
        gettext_lazy("States of answers"),
        "annotation:history",
    ),
    ("templates/annotation/pack", gettext_lazy("Answering without a connection"), "annotation:work"),
    ("templates/annotation/reviews", gettext_lazy("Reviews of answers"), "annotation:work"),
    ("annotation/pages/review", gettext_lazy("Reviews of answers"), "annotation:work"),
    ("annotation/pages/d", gettext_lazy("Reviews of answers"), "annotation:work"),
    ("templates/annotation/open_disputes", gettext_lazy("Reviews of answers"), "annotation:work"),
    ("templates/annotation", gettext_lazy("Home of annotators"), "annotation:work"),
    ("annotation", gettext_lazy("Home of annotators"), "annotation:work"),
    ("templates/evaluation/my_statistics", gettext_lazy("Own statistics"), "annotation:history"),
    ("templates/people/sign_in", gettext_lazy("Sign in"), "people:sign_in"),
    ("people/views/sign_in", gettext_lazy("Sign in"), "people:sign_in"),
    ("templates/people/language", gettext_lazy("Choice of the language"), "people:sign_in"),
    ("templates/people/password_forgotten", gettext_lazy("Password forgotten"), "people:password_forgotten"),
    ("templates/people/password_sent", gettext_lazy("Password forgotten"), "people:password_sent"),
    ("templates/people/password", gettext_lazy("New password"), "people:password_change"),
    ("templates/people/mail/", gettext_lazy("E-mail"), ""),
    ("people/services/mail", gettext_lazy("E-mail"), ""),
    ("templates/people/invitation", gettext_lazy("Invitation to a cohort or team"), ""),
    ("templates/people/confirm", gettext_lazy("Invitation to a cohort or team"), ""),
    ("templates/people/link_refused", gettext_lazy("A link that is no longer valid"), ""),
    ("templates/people/agree", gettext_lazy("Consent"), "people:me"),
    ("people/views/accept_links", gettext_lazy("Invitation to a cohort or team"), ""),
    ("templates/people/appearance", gettext_lazy("Me: own account"), "people:me"),
    ("templates/people/me", gettext_lazy("Me: own account"), "people:me"),
    ("people/views/me", gettext_lazy("Me: own account"), "people:me"),
    ("templates/people/site_setup", gettext_lazy("First start of a site"), ""),
    ("people/views/site_setup", gettext_lazy("First start of a site"), ""),
    ("templates/people/service", gettext_lazy("Programs of a team"), ""),
    ("people/views/service", gettext_lazy("Programs of a team"), ""),
    ("people/forms", gettext_lazy("Labels of forms: account, sign-in, invitation"), "people:me"),
    ("people", gettext_lazy("Accounts, cohorts and invitations"), ""),
    ("templates/people", gettext_lazy("Accounts, cohorts and invitations"), ""),
    ("config/django_texts", gettext_lazy("Months, and what is wrong with a form"), ""),
    ("config", gettext_lazy("A page that could not be shown"), ""),
    ("templates/parts/outbox_notice", gettext_lazy("Answers that wait on the device"), ""),
    ("templates/parts", gettext_lazy("Top of every page"), "people:me"),
    ("templates/base", gettext_lazy("Top of every page"), "people:me"),
)


def place_of(files: tuple[str, ...]) -> tuple[str, str]:
    """Where a text of these files is used, and the address of a page that shows it, or nothing."""
    rank = rank_of(files)
    if rank == len(PLACES):
        return _("A page that could not be shown"), ""
    _beginning, words, page = PLACES[rank]
    more = len(files) - 1
    place = _("%(place)s, and %(n)s more") % {"place": words, "n": more} if more else str(words)
    return place, reverse(page) if page else ""


def rank_of(files: tuple[str, ...]) -> int:
    """The number of the place of these files: sheets first, as people meet them most."""
    return next((at for at, place in enumerate(PLACES) if files[0].startswith(place[0])), len(PLACES))
