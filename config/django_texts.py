"""Texts of Django that people meet on our pages. Named here they stand in our catalogues too: Django itself does not
speak every language that Emic does, and writes some of them otherwise. `tests/test_translations.py` holds the list
to Django's own words.
"""

from django.utils.translation import gettext_noop as _
from django.utils.translation import ngettext_lazy

MONTHS = (
    _("January"), _("February"), _("March"), _("April"), _("May"), _("June"),
    _("July"), _("August"), _("September"), _("October"), _("November"), _("December"),
)  # fmt: skip

FORMS = (
    _("This field is required."),
    _("Enter a valid value."),
    _("Enter a valid email address."),
    _("Enter a valid URL."),
    _("Enter a number."),
    _("Enter a whole number."),
    _("Null characters are not allowed."),
    _("Ensure this value is less than or equal to %(limit_value)s."),
    _("Ensure this value is greater than or equal to %(limit_value)s."),
    _("Select a valid choice. %(value)s is not one of the available choices."),
    _("Select a valid choice. That choice is not one of the available choices."),
    _("No file was submitted."),
    _("The submitted file is empty."),
    _("Upload a valid image. The file you uploaded was either not an image or a corrupted image."),
)

PASSWORDS = (
    _("Old password"),
    _("New password"),
    _("New password confirmation"),
    _("Enter the same password as before, for verification."),
    _("The two password fields didn’t match."),  # noqa: RUF001
    _("Your old password was entered incorrectly. Please enter it again."),
    _("The password is too similar to the %(verbose_name)s."),
    _("Your password can’t be too similar to your other personal information."),  # noqa: RUF001
    _("This password is too common."),
    _("Your password can’t be a commonly used password."),  # noqa: RUF001
)

COUNTED = (
    ngettext_lazy(
        "Ensure this value has at most %(limit_value)d character (it has %(show_value)d).",
        "Ensure this value has at most %(limit_value)d characters (it has %(show_value)d).",
        "limit_value",
    ),
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
    ngettext_lazy(
        "Your password must contain at least %(min_length)d character.",
        "Your password must contain at least %(min_length)d characters.",
        "min_length",
    ),
)
