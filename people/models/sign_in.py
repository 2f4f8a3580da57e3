"""Failed sign-ins of the last hours, by address: the store that every web process shares, broker or not."""

from django.db import models


class FailedSignIn(models.Model):
    """One failure. `network` is the /64 of an IPv6 address, else the address. `name` is a keyed hash of what was typed
    as the e-mail, for people sometimes type a password there."""

    at = models.DateTimeField()
    address = models.CharField(max_length=45)
    network = models.CharField(max_length=49)
    name = models.CharField(max_length=64)

    class Meta:
        indexes = [
            models.Index(fields=["address", "-at"], name="failed_sign_in_address"),
            models.Index(fields=["network", "-at"], name="failed_sign_in_network"),
            models.Index(fields=["at"], name="failed_sign_in_at"),
        ]

    def __str__(self) -> str:
        return f"failed sign-in {self.pk}"
