"""A service account with a token, for the walks over all routes."""

from typing import Any

from django.utils import timezone

from people.services import service_accounts, tokens
from tests.personas import World

TEAM_ROUTES = ("service_accounts", "service_account", "service_account_delete", "service_token_revoke")


def samples(world: World) -> dict[str, Any]:
    account = service_accounts.create_service_account(world.team, "Nightly import", world.team_admin)
    token, _text = tokens.create_token(account, "Night", timezone.now(), actor=world.team_admin)
    routes = {f"people:{name} slug": world.team.slug for name in TEAM_ROUTES}
    names = ("people:service_token_revoke", "api:service_account_token")
    return {"account_id": account.pk, **routes, **{f"{name} token_id": token.pk for name in names}}
