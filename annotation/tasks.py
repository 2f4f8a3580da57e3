from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from annotation.models import Campaign
from annotation.services import item_tallies
from annotation.services.answers import consent
from annotation.services.campaigns import completion, lifecycle
from annotation.services.derivation import derived_items
from annotation.services.queue import leases
from annotation.services.revisions import filter_returns, returns


@shared_task(name="annotation.release_expired")
def release_expired() -> int:
    return leases.release_expired(timezone.now())


@shared_task(name="annotation.fill_open_campaigns")
def fill_open_campaigns() -> int:
    """Slots for items that were imported while a campaign is open; none anew for those that were withdrawn."""
    open_ones = Campaign.objects.filter(state__in=(Campaign.State.OPEN, Campaign.State.PAUSED)).order_by("pk")
    return sum(lifecycle.add_slots(campaign) for campaign in open_ones.select_related("stage"))


@shared_task(name="annotation.record_complete")
def record_complete() -> int:
    return completion.record_complete(timezone.now())


@shared_task(name="annotation.derive")
def derive() -> int:
    """Told when something may be accepted otherwise than before; the beat comes round for what was not told."""
    filter_returns.return_dropped(timezone.now())
    returns.call_makers(timezone.now())
    return derived_items.process_due(timezone.now())


@shared_task(name="annotation.derive_unnoticed")
def derive_unnoticed() -> int:
    at = timezone.now()
    filter_returns.return_dropped(at)
    returns.call_makers(at)
    derived_items.mark_changed_items(at - timedelta(minutes=10))
    steps = derived_items.process_due(at)
    derived_items.arrange_contact_sheets()
    return steps


@shared_task(name="annotation.follow_withdrawals")
def follow_withdrawals() -> int:
    """Normally there are none: a withdrawal leaves the answers out at once."""
    return consent.follow_withdrawals()


@shared_task(name="annotation.renew_item_tallies")
def renew_item_tallies() -> int:
    """How far the answers to each item differ, of stages with new answers."""
    return item_tallies.renew_all(timezone.now())
