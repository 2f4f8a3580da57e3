import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from people.forms.base import StyledFormMixin, zone_choices
from people.locales.countries import is_country
from people.locales.languages import native_name, text_languages
from people.models import Cohort, Invitation, Message, Team, TeamMember, User
from people.queries import mail_status
from people.services.cohorts import CohortData
from people.services.inviting.invite_lists import MOST, decode_upload
from people.services.memberships import has_ever_belonged

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
LANGUAGE_LENGTH, LANGUAGES = 12, 20  # of a code, as consent texts keep it; and of a cohort


def validate_single_line(text: str) -> str:
    """A name as it is put into the subject of a mail. Refuses line ends and other control characters."""
    if any(unicodedata.category(sign) in ("Cc", "Zl", "Zp") for sign in text):
        raise forms.ValidationError(_("Write it in one line, without control characters."))
    return text


SLUG_LENGTH = 50  # that of the column


class TeamForm(StyledFormMixin, forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Team
        fields = ["name", "slug"]
        labels = {"slug": _("Short name for addresses")}
        help_texts = {"slug": _("Letters, digits and hyphens. Empty: made of the name. It cannot be changed later.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False

    def clean_name(self) -> str:
        return validate_single_line(str(self.cleaned_data["name"]))

    def clean_slug(self) -> str:
        """`new` is the address of this very form. A name without Latin letters makes no short name."""
        name = str(self.cleaned_data.get("name", ""))
        slug = (str(self.cleaned_data["slug"]) or slugify(name)[:SLUG_LENGTH].strip("-")).lower()
        if not slug:
            raise forms.ValidationError(_("Write a short name in Latin letters or digits. The name has none."))
        if slug == "new" or Team.objects.filter(slug=slug).exists():
            raise forms.ValidationError(_("This short name is taken. Choose another."))
        return slug


class TeamSettingsForm(StyledFormMixin, forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Team
        fields = ["researchers_make_cohorts"]
        labels = {"researchers_make_cohorts": _("Owners and researchers can create a recipe's cohorts")}
        help_texts = {
            "researchers_make_cohorts": _(
                "They create them on a page of their benchmark, manage them, and invite people. Admins always can."
            )
        }


class InviteForm(StyledFormMixin, forms.ModelForm):  # type: ignore[type-arg]
    """To a cohort. The e-mail may stay empty: the link is shown once and passed on by hand."""

    class Meta:
        model = Invitation
        fields = ["email", "note"]
        labels = {"email": _("E-mail (optional)"), "note": _("Note for yourself (optional)")}
        help_texts = {"email": _("If you enter an address, the link is sent there as well.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not mail_status.has_mail_server():
            self.fields["email"].help_text = _("The person registers with this address. Nothing is sent to it.")


class InviteLinksForm(StyledFormMixin, forms.Form):
    """So many links at once, to pass on by hand."""

    count = forms.IntegerField(label=_("How many links"), min_value=1, max_value=MOST, initial=10)
    label = forms.CharField(
        label=_("Note for yourself (optional)"), max_length=180, required=False,
        help_text=_("The links are numbered after it."),
    )  # fmt: skip

    def people(self) -> list[tuple[str, str]]:
        """As `invite_all` takes them."""
        label, count = self.cleaned_data["label"].strip() or str(_("Link")), self.cleaned_data["count"]
        return [("", f"{label} {number}") for number in range(1, count + 1)]


class InviteListForm(StyledFormMixin, forms.Form):
    """Addresses, typed or as a file; what was read is shown before anything is sent."""

    text = forms.CharField(
        label=_("E-mail, and a note for yourself, one person in a line"),
        required=False,
        max_length=100_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "dir": "ltr", "spellcheck": "false"}),
        help_text=_("For example: amina@example.org, Amina from Kano. A heading with “email” and “note” may be there."),
    )
    file = forms.FileField(
        label=_("Or a CSV file"), required=False, widget=forms.FileInput(attrs={"accept": ".csv,text/csv,text/plain"})
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        file = cleaned.get("file")
        if file is None:
            return cleaned
        if file.size > 200_000:
            raise forms.ValidationError(_("This file is larger than 200 KB. Split it into smaller files."))
        try:
            cleaned["text"] = decode_upload(file.read())
        except UnicodeDecodeError as error:
            raise forms.ValidationError(
                _("This file is not UTF-8 text. Save it as “CSV UTF-8”, or paste the rows.")
            ) from error
        return cleaned


class MessageForm(StyledFormMixin, forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Message
        fields = ["body"]
        labels = {"body": _("Message to all members")}
        help_texts = {
            "body": _(
                "Members see it on their page until they have read it. With a mail server, it is "
                "sent by e-mail as well."
            )
        }
        widgets = {"body": forms.Textarea(attrs={"rows": 5})}
        error_messages = {"body": {"required": _("Write a few words first.")}}


class InviteToTeamForm(InviteForm):
    team_role = forms.ChoiceField(label=_("Role"), choices=TeamMember.Role.choices, initial=TeamMember.Role.MEMBER)
    field_order = ["team_role", "email", "note"]


class TeamPersonForm(StyledFormMixin, forms.Form):
    """One of the team's people, for instance as a manager: chosen, or named by e-mail if they left."""

    user = forms.ModelChoiceField(User.objects.none(), label=_("Person"), required=False)
    email = forms.EmailField(label=_("Or e-mail"), required=False, help_text=_("E-mail of a former team member."))

    def __init__(self, *args: Any, people: Iterable[int], team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        field = self.fields["user"]
        assert isinstance(field, forms.ModelChoiceField)
        field.empty_label = _("Choose")
        field.queryset = User.objects.filter(pk__in=list(people), is_active=True).order_by("name")

    def clean(self) -> dict[str, Any]:
        """Either way of naming, and the same refusal for strangers as for addresses without an account."""
        cleaned = super().clean() or self.cleaned_data
        chosen, email = cleaned.get("user"), cleaned.get("email")
        somebody = chosen if chosen and not email else None
        if email and not chosen:
            somebody = User.objects.filter(email__iexact=email, is_active=True).first()
            somebody = somebody if somebody and has_ever_belonged(somebody, self.team) else None
        if somebody is None:
            raise forms.ValidationError("", code="nobody")
        return cleaned | {"somebody": somebody}


class CohortForm(StyledFormMixin, forms.ModelForm):  # type: ignore[type-arg]
    """Names in other languages are typed one per line: `ar: مصر`.

    Without `naming` the names stay as they are: people are asked by them, in the middle of campaigns too.
    """

    names = forms.CharField(
        label=_("The label in other languages"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One per line: language code, colon, name. For example “pt: Brasil”."),
    )
    languages = forms.CharField(
        label=_("Languages"), required=False, help_text=_("Language codes separated by spaces, for example “ar en”.")
    )

    class Meta:
        model = Cohort
        fields = ["label", "names", "country", "languages", "direction", "time_zone"]
        labels = {"country": _("Country (two letters, optional)"), "direction": _("Direction of the script")}
        help_texts = {"label": _("The name people see, such as a country, region, faith or diaspora.")}

    def __init__(self, *args: Any, team: Team, naming: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        for name in () if naming else ("label", "names"):
            self.fields[name].disabled = True
            self.fields[name].help_text = _("This name appears in questions. Only a team admin can change it.")
        zones = zone_choices(self.instance.time_zone)
        self.fields["time_zone"] = forms.ChoiceField(label=_("Time zone"), choices=zones)
        self.fields["time_zone"].widget.attrs["class"] = "in"
        self.initial["names"] = "\n".join(f"{code}: {name}" for code, name in self.instance.names.items())
        self.initial["languages"] = " ".join(self.instance.languages)

    def clean_label(self) -> str:
        label = validate_single_line(str(self.cleaned_data["label"]).strip())
        if Cohort.objects.filter(team=self.team, label=label).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(_("The team has a cohort with this label. Choose another."))
        return label

    def clean_country(self) -> str:
        country = str(self.cleaned_data["country"]).strip().upper()
        if country and not is_country(country):
            raise forms.ValidationError(
                _("No country has this code. Use two ISO letters, such as EG, or leave it empty.")
            )
        return country

    def clean_names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for line in filter(None, map(str.strip, str(self.cleaned_data["names"]).splitlines())):
            code, colon, name = line.partition(":")
            if not colon or not LANGUAGE.fullmatch(code.strip()) or not name.strip():
                raise forms.ValidationError(_("“%(line)s” is not “code: name”."), params={"line": line})
            names[code.strip()] = validate_single_line(name.strip())
        return names

    def clean_languages(self) -> list[str]:
        codes = re.split(r"[\s,;]+", str(self.cleaned_data["languages"]).strip())
        for code in filter(None, codes):
            if not LANGUAGE.fullmatch(code):
                raise forms.ValidationError(_("“%(code)s” is not a language code."), params={"code": code})
            if len(code) > LANGUAGE_LENGTH:
                raise forms.ValidationError(_("“%(code)s” is too long for a language code."), params={"code": code})
        if len(codes) > LANGUAGES:
            raise forms.ValidationError(_("Name at most %(count)s languages."), params={"count": LANGUAGES})
        return list(dict.fromkeys(code for code in codes if code))

    @property
    def data_for_service(self) -> CohortData:
        data = self.cleaned_data
        return CohortData(
            label=data["label"],
            names=data["names"],
            country=data["country"],
            languages=data["languages"],
            direction=data["direction"],
            time_zone=data["time_zone"],
        )


class ConsentTextsForm(StyledFormMixin, forms.Form):
    """One text per language of the interface, and one more language of the team's choice."""

    def __init__(self, *args: Any, texts: dict[str, str], languages: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own = text_languages()
        codes = [code for code in dict.fromkeys([*own, *languages, *texts]) if len(code) <= LANGUAGE_LENGTH]
        for code in codes:
            name = native_name(code)
            self.fields[f"text_{code}"] = forms.CharField(
                label=code if name == code else f"{name} ({code})",
                required=False,
                initial=texts.get(code, ""),
                widget=forms.Textarea(attrs={"class": "in", "rows": 8, "dir": "auto", "lang": code}),
            )

    def texts(self) -> dict[str, str]:
        return {name.removeprefix("text_"): body for name, body in self.cleaned_data.items()}
