"""Pages for the speakers of a language: its texts in place, corrected and confirmed. Site admins name the speakers."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from jobs.formats.numbers import parse_id
from people import access
from people.forms.speakers import SpeakerForm
from people.locales.languages import is_draft, native_name
from people.models import InterfaceLanguage, TextVersion
from people.pages.speaker_texts import SpeakerPage, TextSelection, single_text_page, speaker_page
from people.pages.tabs import tabs_for
from people.queries.interface_texts import LanguageTexts, annotator_texts
from people.services.languages import speakers, text_versions
from people.services.languages.text_versions import TextChangedError, TextFaultError
from people.views.request_helpers import current_user

LONGEST_FORM = 20_000  # what is typed beyond comes back cut


@never_cache
@login_required
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The languages of the interface and how far each is confirmed."""
    codes = access.visible_languages(request.user)
    if not codes:
        raise Http404
    rows = [(code, native_name(code), is_draft(code), LanguageTexts(code)) for code in codes]
    context = {"languages": rows, "nav": tabs_for(current_user(request), "me")}
    return render(request, "people/speakers/index.html", context)


@never_cache
@login_required
@require_safe
def language(request: HttpRequest, code: str) -> HttpResponse:
    """Texts of a language, by filter and search."""
    row = access.language_for(request.user, code)
    page = speaker_page(code, TextSelection.from_query(request.GET), request.GET.get("next", ""))
    return _render(request, row, page, undoable=_last_version(request, row))


def _last_version(request: HttpRequest, row: InterfaceLanguage) -> TextVersion | None:
    """The version that the person has just made, which can be undone."""
    number = parse_id(request.GET.get("done"))
    return row.text_versions.filter(pk=number, author_id=current_user(request).pk, undone_at=None).first()


def _render(request: HttpRequest, row: InterfaceLanguage, page: SpeakerPage, **extra: Any) -> HttpResponse:
    user, code = current_user(request), row.code
    context = {
        "language": row,
        "page": page,
        "may_confirm": access.may_confirm_texts(user, row),
        "speakers": row.speakers.select_related("user").order_by("user__name") if user.is_staff else (),
        "form": SpeakerForm(),
        "is_draft": code not in settings.CONFIRMED_LANGUAGES and row.confirmed_at is None,
        "in_settings": code in settings.CONFIRMED_LANGUAGES,
        "nav": tabs_for(user, "me"),
    }
    return render(request, "people/speakers/language.html", context | extra, status=extra.get("status", 200))


@login_required
@require_POST
def text(request: HttpRequest, code: str, key: str) -> HttpResponse:
    """Confirm the translation as it is in the form, or keep it as a suggestion."""
    row = access.language_for(request.user, code, speaks=True)
    if key not in annotator_texts():
        raise Http404
    texts, selection = LanguageTexts(code), TextSelection.from_query(request.GET)
    number = texts.n_forms(texts.states[key].text.text)
    forms = [request.POST.get(f"form_{at}", "")[:LONGEST_FORM] for at in range(number)]
    listed = [state.text.key for state in selection.select(texts)]
    try:
        version = text_versions.add_version(
            texts, key, forms, shown_pk=parse_id(request.POST.get("seen")),
            confirms=request.POST.get("do") == "confirm", author=current_user(request), at=timezone.now(),
        )  # fmt: skip
    except TextFaultError as refused:
        return _render(request, row, single_text_page(code, key, selection, forms, refused.faults), status=400)
    except TextChangedError:
        messages.warning(request, _("Somebody else changed this text meanwhile. What you typed is not saved yet."))
        return _render(request, row, single_text_page(code, key, selection, forms, []), status=409)
    following = listed[listed.index(key) + 1 :] if key in listed else []
    query = selection.query(done=version.pk, next=following[0] if following else "")
    return HttpResponseRedirect(f"{reverse('people:language_texts', args=[code])}?{query}")


@login_required
@require_POST
def undo(request: HttpRequest, code: str, version_id: int) -> HttpResponse:
    row = access.language_for(request.user, code, speaks=True)
    version = get_object_or_404(row.text_versions, pk=version_id)
    undone = text_versions.undo(row, version.pk, current_user(request), timezone.now())
    if undone is None:
        messages.warning(request, _("The text has changed since, so nothing was undone."))
    else:
        messages.info(request, _("Undone."))
    query = TextSelection.from_query(request.GET).query(next=version.key)
    return HttpResponseRedirect(f"{reverse('people:language_texts', args=[code])}?{query}")


@login_required
@require_POST
def speaker_add(request: HttpRequest, code: str) -> HttpResponse:
    row = access.language_for(request.user, code, admin=True)
    form = SpeakerForm(request.POST)
    if not form.is_valid():
        page = speaker_page(code, TextSelection.from_query(request.GET))
        return _render(request, row, page, form=form, status=400)
    speakers.add_speaker(row, form.user, current_user(request), timezone.now())
    messages.info(request, _("%(name)s can confirm texts now, at “Me”.") % {"name": form.user.name})
    return redirect("people:language_texts", code)


@login_required
@require_POST
def speaker_remove(request: HttpRequest, code: str, user_id: int) -> HttpResponse:
    row = access.language_for(request.user, code, admin=True)
    if not speakers.remove_speaker(row, user_id, current_user(request)):
        raise Http404
    return redirect("people:language_texts", code)


@login_required
@require_POST
def state(request: HttpRequest, code: str) -> HttpResponse:
    """Set a language confirmed when all its texts are, or a draft again."""
    row = access.language_for(request.user, code, admin=True)
    if request.POST.get("do") == "reopen":
        speakers.reopen_language(row, current_user(request))
    else:
        try:
            speakers.confirm_language(row, current_user(request), timezone.now())
        except speakers.LanguageIncompleteError:
            messages.warning(request, _("Some texts are not confirmed yet, so the language stays a draft."))
    return redirect("people:language_texts", code)
