"""Which answers no number and no file may hold, as conditions for statements: their authors withdrew their consent."""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from annotation.models.answers import CONSENT_WITHDRAWN

NO_CONSENT = "no_consent"
NEVER_SELECTED = (CONSENT_WITHDRAWN, NO_CONSENT)  # not even where all answers are asked for


def withdrawn_sql(answer: str, user: str, team: str) -> str:
    """A condition: the consent that this answer was given under is withdrawn, and no later one brings it back.

    An answer belongs to the last consent of the team that was given before it. One that is older than every consent
    (from before the team had a text, or out of a file) belongs to the first. `answer` is the alias of the annotation,
    `user` and `team` are expressions for the ids of its author and of its benchmark's team.
    """
    return f"""coalesce((
  SELECT given.withdrawn_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM people_consent later JOIN people_consentversion later_text ON later_text.id = later.version_id
    WHERE later.user_id = {user} AND later_text.team_id = {team} AND later.counts_earlier
      AND later.withdrawn_at IS NULL AND (later.given_at, later.id) > (given.given_at, given.id))
  FROM people_consent given JOIN people_consentversion given_text ON given_text.id = given.version_id
  WHERE given.user_id = {user} AND given_text.team_id = {team}
  ORDER BY given.given_at <= {answer}.submitted_at DESC,
    CASE WHEN given.given_at <= {answer}.submitted_at THEN given.given_at END DESC, given.given_at,
    CASE WHEN given.given_at <= {answer}.submitted_at THEN -given.id ELSE given.id END
  LIMIT 1), false)"""


def left_out_sql(answer: str, user: str, team: str) -> str:
    """A condition: no file may hold this answer, for its consent is withdrawn. Also of versions that were replaced, and
    of what was sent after the withdrawal."""
    withdrawn = withdrawn_sql(answer, user, team)
    return (
        f"({answer}.uncounted_because = '{CONSENT_WITHDRAWN}' OR (NOT {answer}.live "
        f"OR {answer}.uncounted_because = '{NO_CONSENT}') AND {withdrawn})"
    )
