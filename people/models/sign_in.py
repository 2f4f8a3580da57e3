"""Failed sign-ins and requests for password mails of the last hours, by sender: every web process shares them."""

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


class PasswordRequest(models.Model):
    """One request for a mail with which a new password is set, whatever address it names. `network` as above."""

    at = models.DateTimeField()
    address = models.CharField(max_length=45)
    network = models.CharField(max_length=49)

    class Meta:
        indexes = [
            models.Index(fields=["address", "-at"], name="password_request_address"),
            models.Index(fields=["network", "-at"], name="password_request_network"),
            models.Index(fields=["at"], name="password_request_at"),
        ]

    def __str__(self) -> str:
        return f"password request {self.pk}"
