"""Who reads which file: the places with texts for annotators, and those of them for managers only.

A file that is in none of them has texts for researchers.
"""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

AUDIENCES = ("annotators", "managers", "researchers")
SUFFIXES = (".py", ".html", ".txt")

# The files with texts for annotators. A new file in one of these places is included.
ANNOTATORS = (
    "templates/*.html",
    "templates/parts/**",
    "templates/people/**",
    "templates/annotation/**",
    "annotation/*.py",
    "annotation/forms/**",
    "annotation/instructions/**",
    "annotation/pages/**",
    "annotation/queries/**",
    "annotation/sheets/**",
    "annotation/displays/**",
    "annotation/fields/**",
    "annotation/models/**",
    "annotation/services/**",
    "annotation/views/**",
    "benchmarks/templatetags/**",
    "config/**",
    "templates/evaluation/my_statistics.html",
    "people/*.py",
    "people/forms/**",
    "people/locales/**",
    "people/models/**",
    "people/pages/**",
    "people/queries/**",
    "people/services/**",
    "people/templatetags/**",
    "people/views/**",
)
# Those of them that only people see who run a team, a benchmark or a campaign.
MANAGERS = (
    "templates/annotation/campaigns/**",
    "templates/annotation/cohort/**",
    "templates/annotation/composer/**",
    "templates/annotation/recipes/**",
    "templates/annotation/coverage/**",
    "templates/annotation/kept_pictures.html",
    "templates/annotation/results_used.html",
    "templates/annotation/verdict.html",
    "templates/annotation/missing_answers.html",
    "templates/annotation/item_*.html",
    "templates/parts/programs.html",
    "templates/annotation/waiting_revisions.html",
    "annotation/pages/item_*.py",
    "annotation/pages/action_result.py",
    "annotation/pages/uncounted_reasons.py",
    "annotation/services/bulk_actions.py",
    "people/services/token_notices.py",
    "annotation/services/revisions/**",
    "annotation/views/item_*.py",
    "templates/annotation/file_answer_counts.html",
    "templates/annotation/outside_items.html",
    "templates/parts/import_hint.html",
    "templates/parts/mail_banner.html",
    "templates/annotation/protocol/form.html",
    "templates/annotation/protocol/write.html",
    "templates/annotation/reviews/[!rw]*",  # not reviewer_note.html and what.html, which are for annotators
    "templates/people/cohort*",
    "templates/people/one_time_link.html",
    "templates/people/consent_*",
    "templates/people/invitations.html",
    "templates/people/invite*.html",
    "templates/people/mail.html",
    "templates/people/messages.html",
    "templates/people/sign_in_link.html",
    "templates/people/team*",
    "templates/people/tokens.html",
    "templates/people/speakers/**",
    "people/forms/speakers.py",
    "people/locales/draft_marks.py",
    "people/locales/translation_rules.py",
    "people/pages/speaker_texts.py",
    "people/pages/text_places.py",
    "people/views/languages.py",
    "people/models/tokens.py",
    "annotation/forms/**",
    "annotation/pages/board_rows.py",
    "annotation/pages/campaign*.py",
    "annotation/pages/chain_opening.py",
    "annotation/pages/chain_summary.py",
    "annotation/pages/cohort_items.py",
    "annotation/pages/coverage_cells.py",
    "annotation/pages/judging_cohorts.py",
    "annotation/pages/kept_pictures.py",
    "annotation/pages/mixed_pairs.py",
    "annotation/pages/recipes.py",
    "annotation/pages/next_actions.py",
    "annotation/pages/composer.py",
    "annotation/queries/coverage_gap.py",
    "annotation/pages/outside_items.py",
    "annotation/pages/publishing.py",
    "annotation/pages/review_samples.py",
    "annotation/pages/rule_results.py",
    "annotation/pages/missing_answers.py",
    "annotation/pages/instructions.py",
    "annotation/queries/roster.py",
    "annotation/fields/registry.py",
    "annotation/fields/settings.py",
    "annotation/fields/*/settings.py",
    "annotation/models/campaigns.py",
    "annotation/models/outcomes.py",
    "annotation/services/files/answer_files.py",
    "annotation/services/files/items.py",
    "annotation/services/files/rows.py",
    "annotation/services/files/writing.py",
    "annotation/services/campaigns/lifecycle.py",
    "annotation/services/campaigns/people_needed.py",
    "annotation/services/sheets/recipe_checks.py",
    "annotation/services/sheets/stage_warnings.py",
    "annotation/services/sheets/stages.py",
    "annotation/views/answer_files.py",
    "annotation/views/campaigns.py",
    "annotation/views/chain_opening.py",
    "annotation/views/cohorts.py",
    "annotation/views/composer*.py",
    "annotation/views/coverage.py",
    "annotation/views/instructions.py",
    "annotation/views/outside_items.py",
    "annotation/views/recipes.py",
    "annotation/views/reviews.py",
    "people/queries/mail_status.py",
    "people/forms/teams.py",
    "people/models/mail.py",
    "people/models/teams.py",
    "people/services/inviting/invite_lists.py",
    "people/services/teams.py",
    "people/views/cohorts.py",
    "people/views/one_time_link.py",
    "people/views/invitations.py",
    "people/views/messages.py",
    "people/views/teams.py",
    "people/views/tokens.py",
)


def lies_in(name: str, places: Iterable[str]) -> bool:
    """Whether a file lies in one of the places: `folder/**` is all below it, `*` a part of one name."""
    return any(
        name.startswith(place[:-2])
        if place.endswith("/**")
        else fnmatchcase(name, place) and name.count("/") == place.count("/")
        for place in places
    )


def audience(name: str) -> str:
    """Return who reads the texts of a file."""
    if lies_in(name, MANAGERS):
        return "managers"
    return "annotators" if lies_in(name, ANNOTATORS) else "researchers"


def annotator_files(root: Path) -> Iterator[str]:
    """Yield the files below a folder with texts for annotators, by their paths from it."""
    for place in ANNOTATORS:
        for path in sorted(root.glob(f"{place}/*" if place.endswith("/**") else place)):
            name = path.relative_to(root).as_posix()
            if path.suffix in SUFFIXES and path.is_file() and audience(name) == "annotators":
                yield name
