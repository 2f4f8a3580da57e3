"""What strangers post to the addresses of the app `people`."""

from collections.abc import Mapping

POSTS: Mapping[str, Mapping[str, str]] = {
    "people:cohort_invite": {"note": "x"},
    "people:invite_links": {"count": "2"},
    "people:invite_list": {"text": "amina@example.org", "do": "send"},
    "people:cohort_pause": {"do": "pause"},
    "people:messages": {"body": "Come back."},
    "people:cohort_new": {"label": "Gulf", "direction": "ltr", "time_zone": "UTC"},
    "people:cohort_edit": {"label": "Gulf", "direction": "ltr", "time_zone": "UTC"},
    "people:consent_texts": {"text_en": "Agree to everything.", "publish": "1"},
    "people:member_role": {"role": "admin"},
    "people:team_invite": {"team_role": "admin"},
    "people:team_settings": {"researchers_make_cohorts": "on"},
    "people:language_text": {"form_0": "x", "seen": "0", "do": "confirm"},
    "people:speaker_add": {"email": "stranger@example.org"},
    "people:language_state": {"do": "reopen"},
}
