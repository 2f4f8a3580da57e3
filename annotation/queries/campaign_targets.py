"""Which target a campaign asks each of its cohorts about: the cohort's label when its first item was assigned."""

from annotation.models import Campaign, CampaignCohort
from jobs.queries.statements import fetch

# A cohort that is renamed later keeps its target, or its people would be asked about every item again.
TARGETS = """
SELECT cc.id, coalesce(nullif((
    SELECT u.target FROM annotation_slot s JOIN annotation_unit u ON u.id = s.unit_id
    WHERE s.cohort_id = cc.id ORDER BY s.unit_id LIMIT 1), ''), c.label)
FROM annotation_campaigncohort cc JOIN people_cohort c ON c.id = cc.cohort_id
WHERE cc.campaign_id = %(campaign)s AND (%(only)s::bigint IS NULL OR cc.id = %(only)s) ORDER BY cc.id
"""


def targets_of(campaign: Campaign) -> dict[int, str]:
    """The target of each of a campaign's cohorts by the CampaignCohort's id, in the order of the ids."""
    return dict(fetch(TARGETS, {"campaign": campaign.pk, "only": None}))


def target_of(cohort: CampaignCohort) -> str:
    """The target of one cohort of a campaign."""
    [(_pk, target)] = fetch(TARGETS, {"campaign": cohort.campaign_id, "only": cohort.pk})
    return str(target)
