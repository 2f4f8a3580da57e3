"""The accounts of a site."""

from people.models import User


def has_other_accounts(user: User) -> bool:
    """Whether anybody but this person can sign in here."""
    return User.objects.filter(sign_in=User.SignIn.ACCOUNT, is_active=True).exclude(pk=user.pk).exists()
