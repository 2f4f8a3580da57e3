"""Who may open a benchmark and what is in it: everybody is asked, also those whose role or membership has ended."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from annotation import access as annotation_access
from annotation.models import Assignment, Campaign, ItemContributor, Review, ReviewBatch
from api import access as webhook_access
from api.services import webhooks
from benchmarks import access
from benchmarks.models import Benchmark, FormerJudge, ItemReturn, Role, Stage
from benchmarks.services import roles
from benchmarks.services.label_sets import create_typed
from benchmarks.services.recipes.saved_recipes import keep_recipe, recipe_content
from jobs.models import Event
from people.models import CohortMember, Rater, TeamMember, User
from people.services.raters import rater_of
from people.services.service_accounts import create_service_account
from predictions import access as prediction_access
from predictions.models import Collection, Endpoint, PlanSet, Run
from releases.access import release_for, visible_releases
from releases.models import Release
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.permissions import allowed, is_allowed
from tests.personas import World

ROLES = {"owner", "mara", "reviewer"}
TEAM = ROLES | {"team_admin"}


def leave_team(world: World, user: User) -> None:
    TeamMember.objects.filter(team=world.team, user=user).delete()


@pytest.mark.parametrize(
    ("can", "names"),
    [
        ("see", TEAM | {"site_admin"}),
        ("review", ROLES),
        ("work_on", {"owner", "mara"}),
        ("own", {"owner"}),
        ("roles", {"owner", "team_admin"}),
    ],
)
def test_each_permission_is_of_some_roles_and_of_no_other_team(world: World, can: Any, names: set[str]) -> None:
    slug, fjord = world.benchmark.slug, world.other_benchmark
    assert allowed(world, lambda user: access.benchmark_for(user, slug, can=can)) == names
    assert allowed(world, lambda user: access.is_permitted(user, world.benchmark, can)) == names - {"site_admin"}
    assert allowed(world, lambda user: access.is_permitted(user, fjord, can)) == {"rival"}
    assert allowed(world, lambda user: access.benchmark_for(user, "no-such", can=can)) == set()
    stage = world.stage.pk
    assert allowed(world, lambda user: access.stage_for(user, slug, stage, can=can)) == names
    assert allowed(world, lambda user: access.stage_for(user, fjord.slug, stage, can=can)) == set()


def test_without_a_word_a_benchmark_is_seen_and_a_stage_is_worked_on(world: World) -> None:
    slug, stage = world.benchmark.slug, world.stage.pk
    assert allowed(world, lambda user: access.benchmark_for(user, slug)) == TEAM | {"site_admin"}
    assert allowed(world, lambda user: access.stage_for(user, slug, stage)) == {"owner", "mara"}


def test_a_role_counts_only_while_its_person_is_in_the_team(world: World) -> None:
    slug = world.benchmark.slug
    for user in (world.mara, world.owner, world.team_admin):
        leave_team(world, user)
    assert allowed(world, lambda user: access.benchmark_for(user, slug)) == {"reviewer", "site_admin"}
    assert allowed(world, lambda user: access.benchmark_for(user, slug, can="work_on")) == set()
    assert allowed(world, lambda user: access.benchmark_for(user, slug, can="roles")) == set()


def test_an_admin_of_the_team_who_becomes_a_member_sees_nothing_without_a_role(world: World) -> None:
    TeamMember.objects.filter(user=world.team_admin).update(role=TeamMember.Role.MEMBER)
    slug = world.benchmark.slug
    assert not is_allowed(lambda user: access.benchmark_for(user, slug), world.team_admin)
    Role.objects.filter(user=world.owner).update(name=Role.Name.REVIEWER)
    assert allowed(world, lambda user: access.benchmark_for(user, slug, can="own")) == set()
    assert allowed(world, lambda user: access.benchmark_for(user, slug, can="review")) == ROLES


def test_a_service_account_works_and_reviews_nothing(world: World) -> None:
    account = create_service_account(world.team, "Pipeline", world.team_admin)
    roles.set_role(world.benchmark, account, Role.Name.RESEARCHER, world.owner)
    assert access.is_permitted(account, world.benchmark, "work_on")
    assert not access.is_permitted(account, world.benchmark, "review")


def test_lists_show_each_person_their_own(world: World) -> None:
    assert allowed(world, lambda user: access.visible_benchmarks(user)) == TEAM | {"rival"}
    assert allowed(world, lambda user: access.benchmarks_to_work_on(user), visitors=False) == {"owner", "mara", "rival"}
    assert access.visible_choices(world.reviewer) == [(world.benchmark.pk, world.benchmark.name)]
    assert [*access.visible_benchmarks(world.rival)] == [world.other_benchmark]


def test_a_public_benchmark_is_open_to_everybody_and_another_to_nobody(world: World) -> None:
    slug = world.benchmark.slug
    assert not is_allowed(lambda _user: access.public_benchmark_for(slug), None)
    Benchmark.objects.filter(slug=slug).update(is_public=True)
    assert is_allowed(lambda _user: access.public_benchmark_for(slug), None)
    assert not is_allowed(lambda _user: access.public_benchmark_for(world.other_benchmark.slug), None)


def test_a_site_admin_leaves_a_trace_once_in_ten_minutes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def look(user: User, minutes: int = 0) -> int:
        monkeypatch.setattr(
            access, "timezone", SimpleNamespace(now=lambda: timezone.now() + timedelta(minutes=minutes))
        )
        access.benchmark_for(user, world.benchmark.slug)
        return Event.objects.filter(verb="admin.looked", scope=world.benchmark.scope).count()

    assert look(world.mara) == look(world.team_admin) == 0
    assert look(world.site_admin) == look(world.site_admin) == 1
    assert look(world.site_admin, minutes=9) == 1
    assert look(world.site_admin, minutes=11) == 2
    other = User.objects.create_user("second@example.org", "Second", "x", is_staff=True)
    assert look(other) == 3


def test_cohorts_of_a_recipe_are_created_by_admins_and_where_allowed_by_researchers(world: World) -> None:
    admins = {"team_admin", "site_admin"}
    assert allowed(world, lambda user: access.may_create_cohorts(user, world.benchmark)) == admins
    world.benchmark.team.researchers_make_cohorts = True
    may = allowed(world, lambda user: access.may_create_cohorts(user, world.benchmark))
    assert may == admins | {"owner", "mara"}
    world.site_admin.is_active = world.mara.is_active = False
    may = allowed(world, lambda user: access.may_create_cohorts(user, world.benchmark))
    assert may == {"team_admin", "owner"}


def test_label_sets_are_seen_by_the_team_and_changed_by_admins_and_who_works(world: World) -> None:
    slug, editors = world.team.slug, {"team_admin", "owner", "mara"}
    assert allowed(world, lambda user: access.may_edit_label_sets(user, world.team)) == editors
    assert allowed(world, lambda user: access.team_for_label_sets(user, slug)) == TEAM | {"site_admin"}
    assert allowed(world, lambda user: access.team_for_label_sets(user, slug, edit=True)) == editors
    labels = create_typed(world.team, "Lands", "Peru", world.mara)[0]
    assert is_allowed(lambda _user: access.label_set_for(world.team, labels.pk), None)
    assert not is_allowed(lambda _user: access.label_set_for(world.other_team, labels.pk), None)


def test_recipes_are_kept_by_the_team_and_removed_by_their_maker_and_admins(world: World) -> None:
    slug = world.team.slug
    assert allowed(world, lambda user: access.team_for_recipes(user, slug)) == TEAM | {"site_admin"}
    assert allowed(world, lambda user: access.team_for_recipes(user, slug, edit=True)) == TEAM
    row = keep_recipe(world.team, recipe_content(world.benchmark, "Kept", ""), world.mara)[0]
    assert is_allowed(lambda _user: access.saved_recipe_for(world.team, row.pk), None)
    assert not is_allowed(lambda _user: access.saved_recipe_for(world.other_team, row.pk), None)
    assert allowed(world, lambda user: access.may_remove_recipe(user, row)) == {"mara", "team_admin"}
    leave_team(world, world.mara)
    TeamMember.objects.create(team=world.other_team, user=world.mara)
    assert allowed(world, lambda user: access.may_remove_recipe(user, row)) == {"team_admin"}


def test_a_benchmark_keeps_an_owner_and_roles_are_for_its_team(world: World) -> None:
    for change in (
        lambda: roles.set_role(world.benchmark, world.owner, Role.Name.RESEARCHER, world.owner),
        lambda: roles.remove_role(world.benchmark, world.owner, world.owner),
    ):
        with pytest.raises(roles.LastOwner):
            change()
    with pytest.raises(roles.NotATeamMember):
        roles.set_role(world.benchmark, world.rival, Role.Name.REVIEWER, world.owner)
    roles.set_role(world.benchmark, world.owner, Role.Name.OWNER, world.owner)
    roles.set_role(world.benchmark, world.mara, Role.Name.OWNER, world.owner)
    roles.remove_role(world.benchmark, world.owner, world.mara)
    roles.remove_role(world.benchmark, world.stranger, world.mara)
    assert {*world.benchmark.roles.values_list("user__name", "name")} == {("Mara", "owner"), ("Reviewer", "reviewer")}
    taken = Event.objects.get(verb="role.taken")
    assert (taken.target, taken.data["role"]) == (f"user:{world.owner.pk}", "owner")


# Releases, webhooks and runs


def test_a_release_is_seen_by_who_works_and_once_published_by_all_with_a_role(world: World) -> None:
    at, slug = timezone.now(), world.benchmark.slug
    release = Release.objects.create(benchmark=world.benchmark, version="1.0.0", selection={}, built_at=at)
    other = Release.objects.create(benchmark=world.benchmark, version="1.1.0", selection={}, built_at=at)
    assert [release_for(world.mara, slug, row.pk) for row in (release, other)] == [release, other]
    assert allowed(world, lambda user: release_for(user, slug, release.pk)) == {"owner", "mara"}
    assert allowed(world, lambda user: visible_releases(user, world.benchmark)) == {"owner", "mara"}
    assert allowed(world, lambda user: release_for(user, slug, release.pk, can="own")) == {"owner"}
    assert allowed(world, lambda user: release_for(user, world.other_benchmark.slug, release.pk)) == set()
    Release.objects.filter(pk=release.pk).update(published_at=at)
    assert allowed(world, lambda user: release_for(user, slug, release.pk)) == TEAM | {"site_admin"}


def test_a_webhook_is_changed_by_who_works_on_its_benchmark_or_administers_its_team(world: World) -> None:
    url, verbs, team = "https://receiver.example.org/hook", ["campaign.opened"], world.team
    of_benchmark = webhooks.create(team, world.benchmark, url, verbs, world.mara)[0]
    of_team = webhooks.create(team, None, url, verbs, world.team_admin)[0]
    workers, slug = {"owner", "mara"}, world.benchmark.slug

    def may(ask: Any) -> set[str]:
        return allowed(world, ask, visitors=False)

    assert may(lambda user: webhook_access.webhook_for(user, of_benchmark.pk)) == workers | {"team_admin"}
    assert may(lambda user: webhook_access.webhook_for(user, of_team.pk)) == {"team_admin"}
    assert may(lambda user: webhook_access.place_for_webhook(user, team.slug, slug)) == workers | {"team_admin"}
    assert may(lambda user: webhook_access.place_for_webhook(user, team.slug, "")) == {"team_admin"}
    assert may(lambda user: webhook_access.place_for_webhook(user, world.other_team.slug, slug)) == set()
    assert may(lambda user: webhook_access.team_for_webhooks(user, team.slug)) == {"team_admin"}
    assert may(lambda user: webhook_access.benchmarks_for_webhooks(user, team)) == workers | {"team_admin"}
    assert webhook_access.place_for_webhook(world.team_admin, team.slug, "") == (team, None)
    world.team_admin.is_active = False
    assert not webhook_access.webhooks_of(world.team_admin)


def test_a_run_is_opened_as_what_it_is_and_in_its_own_benchmark(world: World) -> None:
    world.add_items(1)
    collection = Collection.objects.create(benchmark=world.benchmark, key="small", name="Small")
    model = Rater.objects.create(kind="model", team=world.team, name="Model", setting="main")
    over = {
        Run.Task.RETRIEVAL: {"collection": collection}, Run.Task.ANSWERS: {"campaign": an_open_campaign(world)},
        Run.Task.LINKING: {},
    }  # fmt: skip
    runs = {
        Run.objects.create(benchmark=world.benchmark, rater=model, task=task, complete=True, **what).pk: str(task)
        for task, what in over.items()
    }

    def opened(door: Callable[[Benchmark, int], Run], benchmark: Benchmark) -> set[str]:
        return {task for pk, task in runs.items() if is_allowed(partial(door, benchmark), pk)}

    doors = (prediction_access.run_for, prediction_access.answer_run_for, prediction_access.linking_for)
    opens = [opened(door, world.benchmark) for door in doors]
    assert opens == [{"retrieval", "linking"}, {"answers"}, {"linking"}]
    assert not any(opened(door, world.other_benchmark) for door in doors)
    endpoint = Endpoint.objects.create(team=world.team, name="Server", base_url="http://localhost:1/v1")
    assert is_allowed(lambda _user: prediction_access.endpoint_for(world.team, endpoint.pk), 0)
    assert not is_allowed(lambda _user: prediction_access.endpoint_for(world.other_team, endpoint.pk), 0)
    assert is_allowed(lambda _user: prediction_access.collection_for(world.benchmark, collection.pk), 0)
    assert not is_allowed(lambda _user: prediction_access.collection_for(world.other_benchmark, collection.pk), 0)
    plans = PlanSet.objects.create(benchmark=world.benchmark, budget=1)
    assert is_allowed(lambda _user: prediction_access.plan_set_for(world.benchmark, plans.pk), 0)
    assert not is_allowed(lambda _user: prediction_access.plan_set_for(world.other_benchmark, plans.pk), 0)


# Answers and reviews


@pytest.fixture
def campaign(world: World) -> Campaign:
    world.add_items(2)
    Stage.objects.filter(pk=world.stage.pk).update(acceptance=Stage.Acceptance.BY_REVIEW)
    campaign = an_open_campaign(world)
    give_ratings(campaign, world.egypt, world.nour, {world.items[0]: "4"})
    return campaign


def test_an_assignment_is_its_persons_also_after_they_left(world: World, campaign: Campaign) -> None:
    assignment = Assignment.objects.get()
    assert allowed(world, lambda user: annotation_access.assignment_for(user, assignment.pk)) == {"nour"}

    def own(user: User) -> Benchmark:
        return annotation_access.benchmark_of_own_answers(user, world.benchmark.slug)

    assert allowed(world, own) == {"nour"}
    CohortMember.objects.filter(user=world.nour).update(left_at=timezone.now())
    assert is_allowed(lambda user: annotation_access.assignment_for(user, assignment.pk), world.nour)
    assert not is_allowed(
        lambda user: annotation_access.benchmark_of_own_answers(user, world.other_benchmark.slug), world.nour
    )
    world.nour.is_active = False
    assert not is_allowed(lambda user: annotation_access.assignment_for(user, assignment.pk), world.nour)
    assert not is_allowed(own, world.nour)
    Assignment.objects.update(participation=None)  # it came in a file
    world.nour.is_active = True
    assert not is_allowed(own, world.nour)


def test_an_answer_is_reviewed_by_those_who_had_no_part_in_it(world: World, campaign: Campaign) -> None:
    answer = Assignment.objects.get().annotations.get()
    review = Review.objects.create(annotation=answer, reviewer=world.owner, decision="accept", at=timezone.now())
    batch = ReviewBatch.objects.create(
        stage=world.stage, author=answer.rater, seed=1, drawn=1, population=1, limit=0.1, at=timezone.now(),
        by=world.owner,
    )  # fmt: skip
    benchmark = world.benchmark
    [second] = give_ratings(campaign, world.egypt, world.tarek, {world.items[0]: "3"})
    other = Review.objects.create(annotation=second, reviewer=world.owner, decision="accept", at=timezone.now())
    for row in (review, other):
        assert annotation_access.review_for(world.reviewer, benchmark, row.pk) == row
        opened = annotation_access.answer_for_review(world.reviewer, benchmark, row.annotation_id)
        assert opened == row.annotation

    def may(user: User, place: Benchmark = benchmark) -> tuple[bool, bool, bool]:
        return (
            is_allowed(lambda person: annotation_access.answer_for_review(person, place, answer.pk), user),
            is_allowed(lambda person: annotation_access.review_for(person, place, review.pk), user),
            is_allowed(lambda person: annotation_access.batch_for(person, place, batch.pk), user),
        )

    assert may(world.reviewer) == (True, True, True)
    assert may(world.reviewer, world.other_benchmark) == (False, False, False)
    assert may(world.nour) == (False, False, False)  # their own
    ItemContributor.objects.create(item=world.items[0], rater=rater_of(world.mara))
    assert may(world.mara) == (False, False, True)  # had a part in the item
    FormerJudge.objects.create(item=world.items[0], user=world.owner)
    assert may(world.owner) == (False, False, True)  # judged an earlier revision
    world.reviewer.is_active = False
    assert may(world.reviewer) == (False, False, False)
    world.reviewer.is_active = True
    Stage.objects.filter(pk=world.stage.pk).update(acceptance=Stage.Acceptance.BY_RULE)
    assert may(world.reviewer) == (False, False, True)


def test_items_returns_and_campaigns_are_opened_in_their_own_benchmark(world: World, campaign: Campaign) -> None:
    item = world.items[0]
    returned = ItemReturn.objects.create(item=item, by=world.mara, comment="Dark", maker="import", at=timezone.now())
    for place, opens in ((world.benchmark, True), (world.other_benchmark, False)):
        asks = [
            is_allowed(lambda _user, place=place: annotation_access.item_for(place, item.pk), 0),
            is_allowed(lambda _user, place=place: annotation_access.item_return_for(place, returned.pk), 0),
            is_allowed(lambda user, place=place: annotation_access.campaign_for(user, place, campaign.pk), world.mara),
        ]
        assert asks == [opens] * 3
    world.mara.is_active = False
    assert not is_allowed(lambda user: annotation_access.campaign_for(user, world.benchmark, campaign.pk), world.mara)


def test_work_is_opened_by_members_of_cohorts_that_a_campaign_asked(world: World, campaign: Campaign) -> None:
    def may() -> set[str]:
        return allowed(world, lambda user: annotation_access.open_work_for(user, campaign.pk))

    annotators = {"nour", "tarek", "bia", "caio"}
    assert may() == annotators
    CohortMember.objects.filter(user=world.nour).update(left_at=timezone.now())
    assert may() == annotators  # they learn that they left
    CohortMember.objects.create(cohort=world.brazil, user=world.nour)
    assert annotation_access.open_work_for(world.nour, campaign.pk).cohort == world.brazil
    world.tarek.is_active = False
    assert may() == annotators - {"tarek"}
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    assert may() == annotators - {"tarek"}
    Campaign.objects.filter(pk=campaign.pk).update(opened_at=None)  # discarded before it opened
    assert may() == set()
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.DRAFT)
    assert may() == set() and not is_allowed(
        lambda user: annotation_access.open_work_for(user, campaign.pk), AnonymousUser()
    )
