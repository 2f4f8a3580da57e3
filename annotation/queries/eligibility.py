"""Who may be asked an item of a slot `s`: what the claim of a place and the board say in their statements."""

# ruff: noqa: S608  (constants of the modules that use this are put into the statements)


def staffed(staffing: str, rater: str) -> str:
    """Whom a stage is for: anyone; only others than those who had a part in what the item is made of, or (not_own)
    whose own it is; only these. `staffing` and `rater` are expressions of the statement, as in `not_judged`."""
    return f"""CASE WHEN {staffing} = 'anyone' THEN true ELSE ({staffing} = 'contributors') =
  ((SELECT k.id FROM annotation_unit own_unit JOIN annotation_itemcontributor k ON k.item_id = own_unit.item_id
    WHERE own_unit.id = s.unit_id AND k.rater_id = {rater} AND (k.own OR {staffing} <> 'not_own')
    LIMIT 1) IS NOT NULL) END"""


def not_judged(staffing: str, rater: str) -> str:
    """Whoever judged an earlier revision of the item does not judge this one. Most people judged none of any item,
    which is one look for the whole statement. A stage of contributors judges nobody else's work."""
    return f"""CASE WHEN {staffing} = 'contributors' OR (SELECT f.id FROM people_rater judge
    JOIN benchmarks_formerjudge f ON f.user_id = judge.user_id WHERE judge.id = {rater} LIMIT 1) IS NULL THEN true
  ELSE (SELECT f.id FROM annotation_unit own_unit JOIN benchmarks_formerjudge f ON f.item_id = own_unit.item_id
    JOIN people_rater judge ON judge.user_id = f.user_id
    WHERE own_unit.id = s.unit_id AND judge.id = {rater} LIMIT 1) IS NULL END"""
