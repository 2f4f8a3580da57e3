"""Accounts that a site admin creates without an invitation, such as those of the demo."""

from django.db import IntegrityError, transaction

from jobs.models import record
from people.models import User


class AccountExists(Exception):
    """Another account has this e-mail."""


@transaction.atomic
def create_account(
    email: str,
    name: str,
    password: str | None = None,
    actor: User | None = None,
    *,
    language: str = "",
    simulated: bool = False,
    site_admin: bool = False,
) -> User:
    """Create an account. Without a password nobody can sign in to it. Raises AccountExists.

    `actor` is None on the command line. `simulated` marks an account that is no person.
    """
    create = User.objects.create_superuser if site_admin else User.objects.create_user
    try:
        with transaction.atomic():
            user = create(email, name, password, language=language, simulated=simulated)
    except IntegrityError as error:  # the e-mail is unique, whatever its capitals
        raise AccountExists(email) from error
    record(actor, "account.created", target=f"user:{user.pk}", simulated=simulated, site_admin=site_admin)
    return user
