"""Withdrawing consent and agreeing again, as the person does it; what their manager sees of it."""

from collections.abc import Iterator

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign
from annotation.services.answers import consent, exclusions
from annotation.services.answers.submit import Submission, submit
from annotation.services.queue import recount
from annotation.services.queue.next_work import get_or_claim_work
from people.models import Consent, User
from people.services.raters import rater_of
from tests.personas import World, make_consent_version


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> Iterator[None]:
    yield
    assert list(recount.iter_differences()) == []


def rates(campaign: Campaign, user: User, count: int) -> None:
    rater, row = rater_of(user), campaign.cohorts.get(cohort__members__user=user)
    for number in range(count):
        hand = get_or_claim_work(rater, row, timezone.now()).current
        assert hand
        submit(hand.pk, rater, Submission({"relevance": "4"}, f"{user.pk}-{number}"), timezone.now())


def url(world: World, page: str = "consent") -> str:
    return reverse(f"annotation:{page}", args=[world.team.pk])


def withdraws(world: World, user: User) -> str:
    return world.client(user).post(url(world, "consent_withdraw"), follow=True).content.decode()


def agree(world: World, user: User, **data: str) -> str:
    form = {"version": str(world.consent_version.pk), "language": "en", **data}
    return world.client(user).post(url(world), form, follow=True).content.decode()


def inclusion_states(user: User) -> list[str]:
    rows = Annotation.objects.filter(rater__user=user).order_by("pk")
    return ["counted" if row.counted else row.uncounted_because for row in rows]


def roster_of(world: World, query: str = "", user: User | None = None) -> str:
    path = reverse("annotation:cohort", args=[world.egypt.pk])
    return world.client(user or world.manager).get(f"{path}{query}").content.decode()


def test_a_person_reads_what_follows_and_withdraws(world: World, campaign: Campaign) -> None:
    rates(campaign, world.nour, 3)
    asked = world.client(world.nour).get(url(world, "consent_withdraw")).content.decode()
    assert "Your 3 answers will no longer be used in results or new exports." in asked
    assert (
        "Exclude my answers from results" in asked and inclusion_states(world.nour) == ["counted"] * 3
    )  # looking changes nothing
    page = withdraws(world, world.nour)
    assert "Your 3 answers are no longer counted." in page
    assert "Withdrawn on" in page and "Agree again" in page
    assert inclusion_states(world.nour) == ["consent_withdrawn"] * 3
    assert not Assignment.objects.filter(rater__user=world.nour, state="reserved").exists()
    assert (
        "Not counted, because you withdrew your consent."
        in world.client(world.nour).get("/work/history/").content.decode()
    )


def test_answers_that_are_left_out_already_are_not_named_at_the_next_withdrawal(
    world: World, campaign: Campaign
) -> None:
    rates(campaign, world.nour, 3)
    withdraws(world, world.nour)
    agree(world, world.nour)
    asked = world.client(world.nour).get(url(world, "consent_withdraw")).content.decode()
    assert "no longer be used" not in asked and inclusion_states(world.nour) == ["consent_withdrawn"] * 3


def test_answers_of_an_excluded_person_neither_count_nor_wait_when_they_agree_again(
    world: World, campaign: Campaign
) -> None:
    rates(campaign, world.nour, 3)
    withdraws(world, world.nour)
    exclusions.exclude(world.benchmark, rater_of(world.nour), "Two accounts", world.mara, timezone.now())
    agreement = consent.agree(world.nour, world.consent_version, "en", count_earlier=True)
    assert agreement == consent.Agreement(counted=0, waiting=0)
    assert inclusion_states(world.nour) == ["excluded"] * 3


def test_without_answers_the_page_names_none(world: World, campaign: Campaign) -> None:
    asked = world.client(world.nour).get(url(world, "consent_withdraw")).content.decode()
    assert "no longer be used" not in asked and "Withdraw my consent" in asked
    assert "You get no more work from this team." in withdraws(world, world.nour)


def test_where_nothing_was_agreed_to_there_is_nothing_to_withdraw(world: World, campaign: Campaign) -> None:
    Consent.objects.filter(user=world.nour).delete()
    assert world.client(world.nour).get(url(world, "consent_withdraw")).url == "/me"  # type: ignore[attr-defined]
    assert "Done" not in withdraws(world, world.nour)


def test_strangers_withdraw_nothing(world: World, campaign: Campaign) -> None:
    for user in (world.stranger, world.rival, world.rival_rater):
        for method in ("get", "post"):
            assert getattr(world.client(user), method)(url(world, "consent_withdraw")).status_code == 404


def test_agreeing_again_asks_and_leaves_earlier_answers_out_by_default(world: World, campaign: Campaign) -> None:
    rates(campaign, world.nour, 2)
    assert "Count your earlier answers again?" not in world.client(world.nour).get(url(world)).content.decode()
    withdraws(world, world.nour)
    page = world.client(world.nour).get(url(world)).content.decode()
    assert "Count your earlier answers again?" in page and "2 answers of yours were left out" in page
    assert page.index("checked") < page.index("No, leave them out") < page.index("Yes, count them again")
    assert "count again" not in agree(world, world.nour)
    assert inclusion_states(world.nour) == ["consent_withdrawn"] * 2


def test_agreeing_again_counts_earlier_answers_if_asked(world: World, campaign: Campaign) -> None:
    rates(campaign, world.nour, 2)
    withdraws(world, world.nour)
    assert "2 earlier answers count again." in agree(world, world.nour, earlier="count")
    assert inclusion_states(world.nour) == ["counted"] * 2


def test_answers_whose_places_are_taken_wait(world: World, campaign: Campaign) -> None:
    """Brazil is asked for one answer to each picture."""
    rates(campaign, world.bia, 2)
    withdraws(world, world.bia)
    rates(campaign, world.caio, 6)
    page = agree(world, world.bia, earlier="count")
    assert "2 earlier answers are kept and not counted: others have answered in the meantime." in page
    assert inclusion_states(world.bia) == ["surplus"] * 2


def test_a_first_consent_counts_nothing_earlier(world: World, campaign: Campaign) -> None:
    Consent.objects.filter(user=world.nour).delete()
    agree(world, world.nour, earlier="count")
    assert Consent.objects.get(user=world.nour).version == world.consent_version


def test_the_roster_names_the_state_of_each_consent(world: World, campaign: Campaign) -> None:
    rates(campaign, world.nour, 1)
    fresh = world.add_annotators(world.egypt, 2)
    Consent.objects.filter(user=fresh[0]).delete()
    withdraws(world, world.nour)
    page = roster_of(world)
    assert "Not asked" not in page
    for user, label in ((world.nour, "Withdrawn"), (world.tarek, "Given"), (fresh[0], "Not given yet")):
        row = page.split(user.email, 1)[1].split("</tr>", 1)[0]
        assert f">{label}</span>" in row
    assert str(timezone.now().year) in page.split(world.nour.email, 1)[1].split("</tr>", 1)[0]  # the date
    make_consent_version(world.team, 2)
    row = roster_of(world).split(world.tarek.email, 1)[1].split("</tr>", 1)[0]
    assert "Given to an earlier version" in row


def test_a_team_without_a_text_needs_no_consent(world: World) -> None:
    Consent.objects.filter(version__team=world.other_team).delete()
    path = reverse("annotation:cohort", args=[world.other_cohort.pk])
    assert "Not required" in world.client(world.rival).get(path).content.decode()


def test_the_roster_can_be_filtered_by_consent(world: World, campaign: Campaign) -> None:
    rates(campaign, world.nour, 1)
    withdraws(world, world.nour)
    page = roster_of(world, "?consent=withdrawn")
    assert world.nour.email in page and world.tarek.email not in page
    assert "Withdrawn (1)" in page and "All (2)" in page
    page = roster_of(world, "?consent=agreed")
    assert world.nour.email not in page and world.tarek.email in page
    assert world.nour.email in roster_of(world, "?consent=nonsense")


def test_only_managers_see_who_withdrew(world: World, campaign: Campaign) -> None:
    rates(campaign, world.nour, 1)
    withdraws(world, world.nour)
    for user in (world.mara, world.reviewer):
        page = roster_of(world, "?consent=withdrawn", user)
        assert "Nour" in page and "Tarek" in page  # the filter is not theirs either
        assert "Withdrawn" not in page and "Consent" not in page
