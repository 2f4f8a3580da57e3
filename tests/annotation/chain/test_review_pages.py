"""The pages of the review queue, and what authors see of it: each refused person beside the allowed one."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Review
from annotation.services.answers import consent, submit
from annotation.services.campaigns import lifecycle
from annotation.services.review import reviews
from benchmarks.models import Role
from people.models import CohortMember, User
from people.services.consent import current_version
from people.services.raters import rater_of
from tests.annotation.chain.factories import ASKED, QUESTION, a_stage, answer, claim_sheet
from tests.annotation.chain.factories import items as make
from tests.annotation.chain.factories import process_derivations as settled
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]


@built_once
def campaign(world: World) -> Campaign:
    """Questions about pictures, accepted by review."""
    ask = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review")
    a_stage(world.benchmark, "reply", {"fields": QUESTION["fields"][1:]}, staffing="others", derivation=ASKED)
    make(ask, 12)
    made = lifecycle.create(ask, "Questions", None, {world.egypt: 1}, seed=1)
    lifecycle.open_campaign(made, None, timezone.now())
    return made


@built_once
def annotation(world: World, campaign: Campaign) -> Annotation:
    return write_answer(world, campaign, world.nour)


def write_answer(world: World, campaign: Campaign, who: User, question: str = "What is it") -> Annotation:
    return answer(claim_sheet(rater_of(who), campaign, world.egypt), question=question, answer="Tea")


def page(world: World, annotation: Annotation | None = None) -> str:
    base = f"/b/{world.benchmark.slug}/review/"
    return f"{base}{annotation.pk}/" if annotation else base


def html(reply: Any) -> str:
    return str(reply.content.decode())


def test_a_reviewer_sees_what_waits_and_its_author_only_as_a_pseudonym(
    world: World, client_of: ClientOf, annotation: Annotation
) -> None:
    for path in (page(world), page(world, annotation)):
        text = html(client_of(world.reviewer).get(path))
        assert "What is it" in text and world.benchmark.pseudonym(annotation.rater_id) in text
        assert "Nour" not in text


@pytest.mark.parametrize("name", ["owner", "mara", "reviewer"])
def test_owner_researcher_and_reviewer_decide(
    world: World, client_of: ClientOf, annotation: Annotation, name: str
) -> None:
    client_of(getattr(world, name)).post(page(world, annotation), {"decision": "accept"})
    assert Review.objects.get().reviewer == getattr(world, name)


@pytest.mark.parametrize("name", ["nour", "tarek", "manager", "rival", "stranger", "team_admin", "site_admin"])
def test_annotators_other_teams_and_people_without_a_role_do_not(
    world: World, client_of: ClientOf, annotation: Annotation, name: str
) -> None:
    client = client_of(getattr(world, name))
    review = reviews.decide(correct_answer(world, annotation).pk, world.reviewer, "accept", timezone.now())
    assert client.get(page(world)).status_code == 404
    assert client.get(page(world, annotation)).status_code == 404
    assert client.post(page(world, annotation), {"decision": "accept"}).status_code == 404
    assert client.post(f"{page(world)}undo/{review.pk}/").status_code == 404
    assert Review.objects.filter(undone_at=None).count() == 1


def correct_answer(world: World, annotation: Annotation) -> Annotation:
    return write_answer(world, annotation.assignment.campaign, world.tarek, "Another?")


def test_answers_of_who_withdrew_consent_are_not_there_for_reviewers(
    world: World, client_of: ClientOf, campaign: Campaign, annotation: Annotation
) -> None:
    """Neither what counted, nor the version that it replaced, nor what was returned, nor what was sent afterwards."""
    returned = write_answer(world, campaign, world.nour, "Sent back?")
    decision = reviews.decide(returned.pk, world.reviewer, "return", timezone.now(), reason="unclear")
    submit.reopen(annotation.assignment_id, annotation.rater, timezone.now())
    corrected = answer(annotation.assignment, question="What is it?", answer="Tea")
    late = claim_sheet(rater_of(world.nour), campaign, world.egypt)
    client = client_of(world.reviewer)
    assert [client.get(page(world, one)).status_code for one in (annotation, corrected, returned)] == [200] * 3
    returned_list = f"/b/{world.benchmark.slug}/review/?state=returned"
    assert "Sent back?" in client.get(returned_list).content.decode()
    consent.withdraw(world.nour, world.team, timezone.now())
    sent = answer(late, question="Sent later?", answer="Tea")
    assert sent.uncounted_because == "no_consent"
    for gone in (annotation, corrected, returned, sent):
        assert client.get(page(world, gone)).status_code == 404
        assert client.post(page(world, gone), {"decision": "accept"}).status_code == 404
        assert client.post(f"{page(world, gone)}decide/", {"decision": "accept"}).status_code == 404
    assert client.post(f"{page(world)}undo/{decision.pk}/").status_code == 404
    assert list(Review.objects.filter(undone_at=None)) == [decision]
    assert "Sent back?" not in client.get(returned_list).content.decode()
    other = write_answer(world, campaign, world.tarek)
    assert client.get(page(world, other)).status_code == 200, "others' answers are"


def test_an_answer_after_a_new_consent_is_shown_without_the_version_that_was_withdrawn(
    world: World, client_of: ClientOf, annotation: Annotation
) -> None:
    consent.withdraw(world.nour, world.team, timezone.now())
    consent.agree(world.nour, current_version(world.team), "en", count_earlier=False)  # type: ignore[arg-type]
    submit.reopen(annotation.assignment_id, annotation.rater, timezone.now())
    again = answer(annotation.assignment, question="Written anew?", answer="Tea")
    assert again.counted
    text = html(client_of(world.reviewer).get(page(world, again)))
    assert "Written anew?" in text and "What is it" not in text


def test_a_reviewer_who_answers_too_does_not_find_their_own(
    world: World, client_of: ClientOf, annotation: Annotation
) -> None:
    own = client_of(world.reviewer)
    CohortMember.objects.create(cohort=world.egypt, user=world.reviewer)
    world.give_consent(world.team, world.reviewer)
    mine = write_answer(world, annotation.assignment.campaign, world.reviewer, "Mine?")
    assert own.get(page(world, mine)).status_code == 404
    assert own.post(page(world, mine), {"decision": "accept"}).status_code == 404
    assert "Mine?" not in html(own.get(page(world)))
    assert "Mine?" in html(client_of(world.owner).get(page(world)))
    assert not Review.objects.exists()


def test_a_researcher_does_not_take_back_the_decision_on_their_own_answer(
    world: World, client_of: ClientOf, campaign: Campaign
) -> None:
    CohortMember.objects.create(cohort=world.egypt, user=world.mara)
    world.give_consent(world.team, world.mara)
    mine = write_answer(world, campaign, world.mara, "Mine?")
    review = reviews.decide(mine.pk, world.reviewer, "reject", timezone.now(), reason="unclear")
    assert client_of(world.mara).post(f"{page(world)}undo/{review.pk}/").status_code == 404
    with pytest.raises(reviews.ReviewRefused, match="own"):
        reviews.undo(review.pk, world.mara, timezone.now(), runs=True)
    assert Review.objects.get().undone_at is None
    assert client_of(world.owner).post(f"{page(world)}undo/{review.pk}/").status_code == 302
    assert Review.objects.get().undone_at is not None


def test_after_a_decision_comes_the_next_and_it_can_be_taken_back(
    world: World, client_of: ClientOf, campaign: Campaign, annotation: Annotation
) -> None:
    second = write_answer(world, campaign, world.tarek, "Second?")
    client = client_of(world.reviewer)
    reply = client.post(page(world, annotation), {"decision": "accept"}, follow=True)
    review = Review.objects.get()
    assert reply.redirect_chain[-1][0] == f"{page(world, second)}?done={review.pk}"
    assert f"/review/undo/{review.pk}/" in html(reply)
    last = html(client.get(page(world))).split('id="mine"')[1]
    assert "What is it" in last and world.benchmark.pseudonym(annotation.rater_id) in last, "it says of what"
    client.post(f"{page(world)}undo/{review.pk}/")
    assert Assignment.objects.get(pk=annotation.assignment_id).state == "submitted"


def test_the_page_of_a_decided_answer_undoes_the_decision_for_those_who_may(
    world: World, client_of: ClientOf, annotation: Annotation
) -> None:
    assert "review/undo/" not in html(client_of(world.reviewer).get(page(world, annotation))), "nothing is decided"
    review = reviews.decide(annotation.pk, world.reviewer, "accept", timezone.now())
    button = f'formaction="/b/{world.benchmark.slug}/review/undo/{review.pk}/"'
    other = User.objects.create_user(email="second@example.org", password="x", name="Second")
    Role.objects.create(benchmark=world.benchmark, user=other, name=Role.Name.REVIEWER)
    assert button in html(client_of(world.reviewer).get(page(world, annotation)))
    assert button in html(client_of(world.mara).get(page(world, annotation))), "who runs the benchmark"
    assert button not in html(client_of(other).get(page(world, annotation))), "it is another person's decision"
    client_of(other).post(f"{page(world)}undo/{review.pk}/")
    assert Review.objects.get().undone_at is None
    reply = client_of(world.reviewer).post(f"{page(world)}undo/{review.pk}/")
    assert reply["Location"] == page(world, annotation) and Review.objects.get().undone_at is not None
    assert "review/undo/" not in html(client_of(world.reviewer).get(page(world, annotation)))


def test_a_return_without_a_reason_comes_back_with_what_was_typed(
    world: World, client_of: ClientOf, annotation: Annotation
) -> None:
    client = client_of(world.reviewer)
    reply = client.post(page(world, annotation), {"decision": "return", "comment": "Ends without a mark"})
    assert (
        reply.status_code == 422
        and "Ends without a mark" in html(reply)
        and 'id="refused">Choose a reason' in html(reply)
    )
    assert not Review.objects.exists()
    client.post(page(world, annotation), {"decision": "return", "reason": "unclear", "comment": "Ends without a mark"})
    assert Review.objects.get().comment == "Ends without a mark"


def test_the_second_of_two_reviewers_is_told_and_goes_on(
    world: World, client_of: ClientOf, campaign: Campaign, annotation: Annotation
) -> None:
    second = write_answer(world, campaign, world.tarek, "Second?")
    reviews.decide(annotation.pk, world.owner, "accept", timezone.now())
    reply = client_of(world.reviewer).post(page(world, annotation), {"decision": "accept"}, follow=True)
    assert "Someone else has just reviewed" in html(reply) and reply.redirect_chain[-1][0] == page(world, second)
    assert Review.objects.count() == 1


def test_the_author_reads_why_corrects_it_and_the_reviewer_sees_both_versions(
    world: World, client_of: ClientOf, annotation: Annotation
) -> None:
    reviews.decide(annotation.pk, world.reviewer, "return", timezone.now(), reason="unclear", comment="Which cup?")
    author = client_of(world.nour)
    for path in ("/work/", "/work/history/"):
        text = html(author.get(path))
        assert "Which cup?" in text and "It is not clear" in text and "Reviewer" not in text.replace("reviewer", "")
        assert text.count("csrfmiddlewaretoken") > 1  # the form beside it can be sent
    other = html(client_of(world.tarek).get("/work/"))
    assert "Which cup?" not in other
    sheet = html(author.post(f"/assignments/{annotation.assignment_id}/change", follow=True))
    assert "Which cup?" in sheet and "What is it" in sheet
    fields = {"a-question": "What is in the cup?", "a-answer": "Tea", "client_key": "second"}
    author.post(f"/assignments/{annotation.assignment_id}/submit", fields)
    newer = Annotation.objects.get(live=True)
    text = html(client_of(world.reviewer).get(page(world, newer)))
    assert "What is it" in text and "What is in the cup?" in text and "Which cup?" in text
    assert text.count('class="changed"') == 1


def test_the_history_keeps_when_one_answered_and_says_when_it_was_decided(
    world: World, client_of: ClientOf, annotation: Annotation
) -> None:
    answered, decided = timezone.now() - timedelta(hours=50), timezone.now() - timedelta(hours=26)
    Annotation.objects.filter(pk=annotation.pk).update(submitted_at=answered)
    reviews.decide(annotation.pk, world.reviewer, "accept", decided)
    [row] = client_of(world.nour).get("/work/history/").context["rows"]
    assert row.at == answered and row.review and row.review.when != row.when
    assert f"<small>{row.review.when}</small>" in html(client_of(world.nour).get("/work/history/"))


def test_a_decided_answer_cannot_be_changed_and_says_so(
    world: World, client_of: ClientOf, annotation: Annotation
) -> None:
    author = client_of(world.nour)
    author.post(f"/assignments/{annotation.assignment_id}/change")
    reviews.decide(annotation.pk, world.reviewer, "accept", timezone.now())
    fields = {"a-question": "Another?", "a-answer": "Tea", "client_key": "second"}
    reply = author.post(f"/assignments/{annotation.assignment_id}/submit", fields, follow=True)
    assert "This answer has been reviewed" in html(reply) and "What you wrote here: Another? / Tea" in html(reply)
    for more in ({}, {"pack": "1"}):  # a page does not call it saved
        reply = author.post(
            f"/assignments/{annotation.assignment_id}/submit", fields | more, headers={"X-Requested-With": "emic"}
        )
        assert reply.status_code == 200 and reply.headers["X-Emic-Refused"] == "decided"
    assert Annotation.objects.get(live=True) == annotation


def test_the_tab_is_for_those_who_review_and_only_where_something_is_reviewed(
    world: World, client_of: ClientOf, annotation: Annotation
) -> None:
    tab = f'href="/b/{world.benchmark.slug}/review/"'
    overview = f"/b/{world.benchmark.slug}/"
    assert tab in html(client_of(world.reviewer).get(overview))
    assert tab not in html(client_of(world.team_admin).get(overview))
    world.benchmark.stages.update(acceptance="on_submit")
    assert tab not in html(client_of(world.reviewer).get(overview))


def test_the_overview_shows_the_chain_with_its_counts(
    world: World, client_of: ClientOf, campaign: Campaign, annotation: Annotation
) -> None:
    reviews.decide(annotation.pk, world.reviewer, "accept", timezone.now())
    second = write_answer(world, campaign, world.tarek, "Second?")
    reviews.decide(second.pk, world.reviewer, "return", timezone.now(), reason="other")
    settled()
    text = html(client_of(world.reviewer).get(f"/b/{world.benchmark.slug}/"))
    assert 'data-stage="ask"' in text
    assert "1 accepted" in text and "1 returned to its author" in text
