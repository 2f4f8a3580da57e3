"""An item that is returned with a comment gets a next revision, which other people judge."""

import secrets
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Review, Upload
from annotation.queries import review_queue
from annotation.services.answers import submit
from annotation.services.derivation import derived_items
from annotation.services.queue import recount
from annotation.services.revisions import returns
from annotation.services.revisions.returns import ReturnRefused
from benchmarks.models import FormerJudge, Image, Item, ItemReturn, Role, Stage
from people.models import Rater, TeamMember, User
from tests import pictures
from tests.annotation.chain.factories import (
    GOOD,
    RULE,
    a_benchmark,
    a_field,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    items,
    live_items,
    process_derivations,
)
from tests.annotation.queue.factories import a_cohort, a_person
from tests.importing import lines, outcomes, upload
from tests.module_world import built_once

pytestmark = pytest.mark.django_db
FINDING = {"fields": [a_field("photo", "picture", least_side=10)]}


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> Any:
    yield
    assert list(recount.iter_differences()) == []


class Scene:
    """A finder brings a picture, two people judge it, and what they accept is passed on."""

    def __init__(self, acceptance: str = "by_rule") -> None:
        self.benchmark = a_benchmark()
        self.find = a_stage(self.benchmark, "find", FINDING, display="words", pictures="none")
        brought = {"kind": "promote", "from": ["find"], "params": {"image": "photo", "text": "item.text"}}
        rule = {"acceptance_rule": RULE} if acceptance == "by_rule" else {}
        self.judge = a_stage(
            self.benchmark, "judge", GOOD, staffing="others", derivation=brought, acceptance=acceptance, **rule
        )
        passed_on = {"kind": "promote", "from": ["judge"], "params": {}}
        self.later = a_stage(self.benchmark, "later", GOOD, derivation=passed_on)
        Item.objects.create(stage=self.find, key="ajrak", text="Ajrak")
        self.cohort = a_cohort(self.benchmark.team)
        self.finding = create_open_campaign(self.find, self.cohort)
        self.finder = a_person(self.cohort)
        self.reviewer = self.with_role("reviewer")

    def with_role(self, name: str) -> User:
        user = User.objects.create(email=f"{secrets.token_hex(4)}@example.org", name=name.title())
        TeamMember.objects.create(team=self.benchmark.team, user=user)
        Role.objects.create(benchmark=self.benchmark, user=user, name=name)
        return user

    def bring(self, number: int) -> Annotation:
        """The finder's sheet, in hand or returned, is answered with another picture."""
        sheet = Assignment.objects.filter(rater=self.finder, state="returned").first()
        sheet = sheet or claim_sheet(self.finder, self.finding, self.cohort)
        assert sheet is not None
        image = Image.objects.create(
            team=self.benchmark.team, sha256=f"{number:064}", format="png", bytes=1, width=320, height=240
        )
        Upload.objects.create(assignment=sheet, image=image, at=timezone.now())
        if sheet.state == "returned":
            submit.reopen(sheet.pk, self.finder, timezone.now())
        brought = answer(sheet, photo={"sha": image.sha256, "kind": "file", "source": "", "licence": "own"})
        process_derivations()
        return brought

    def return_item(self, item: Item, comment: str = "Too dark", by: User | None = None) -> ItemReturn:
        row = returns.return_item(item.pk, by or self.reviewer, comment, timezone.now())
        returns.call_makers(timezone.now())
        process_derivations()
        return row


@built_once
def scene() -> Scene:
    return Scene()


def judged(person: Rater, campaign: Campaign, scene: Scene, code: str = "1") -> Item:
    annotation = answer(claim_sheet(person, campaign, scene.cohort), good=code)
    process_derivations()
    return annotation.assignment.unit.item


def test_returned_picture_is_corrected_by_its_finder_and_accepted_by_another_person(scene: Scene) -> None:
    scene.bring(1)
    [first] = live_items(scene.judge)
    judging, former = create_open_campaign(scene.judge, scene.cohort), a_person(scene.cohort)
    assert judged(former, judging, scene) == first and len(live_items(scene.later)) == 1
    scene.return_item(first)
    assert live_items(scene.judge) == [] and live_items(scene.later) == []  # it leaves later stages at once
    sheet = Assignment.objects.get(rater=scene.finder)
    review = Review.objects.get(annotation__assignment=sheet)
    assert (sheet.state, review.decision, review.comment) == ("returned", "return", "Too dark")
    scene.bring(2)
    [second] = live_items(scene.judge)
    assert (second.key, second.revision, second.replaces) == (f"{first.key}.v2", 2, first)
    assert live_items(scene.later) == []  # until it is judged
    assert [claim_sheet(person, judging, scene.cohort) for person in (former, scene.finder)] == [None, None]
    assert judged(a_person(scene.cohort), judging, scene) == second
    assert [item.images.get().image.sha256 for item in live_items(scene.later)] == [f"{2:064}"]


def test_two_returns_in_a_row_make_three_revisions_and_exclude_all_earlier_judges(scene: Scene) -> None:
    scene.bring(1)
    judging, people = create_open_campaign(scene.judge, scene.cohort), [a_person(scene.cohort) for _ in range(3)]
    for number, person in enumerate(people[:2], start=1):
        [item] = live_items(scene.judge)
        assert judged(person, judging, scene) == item and item.revision == number
        scene.return_item(item, f"Comment {number}")
        scene.bring(number + 1)
    [third] = live_items(scene.judge)
    assert third.key.endswith(".v3") and third.replaces and third.replaces.key.endswith(".v2")
    assert [claim_sheet(person, judging, scene.cohort) for person in people[:2]] == [None, None]
    assert judged(people[2], judging, scene) == third
    former = {people[0].user, people[1].user, scene.reviewer}
    assert {row.user for row in FormerJudge.objects.filter(item=third)} == former


def test_a_kill_between_comment_and_revision_makes_one_revision(scene: Scene) -> None:
    scene.bring(1)
    [first] = live_items(scene.judge)
    returns.return_item(first.pk, scene.reviewer, "Too dark", timezone.now())  # killed: nobody called the maker
    assert Assignment.objects.get(rater=scene.finder).state == "submitted"
    assert [returns.call_makers(timezone.now()) for _ in range(3)] == [1, 0, 0]
    assert Review.objects.filter(annotation__assignment__rater=scene.finder).count() == 1
    scene.bring(2)
    for _ in range(2):  # killed again: the step is repeated
        derived_items.rederive_stage(scene.judge)
        process_derivations()
    assert sorted(scene.judge.items.values_list("revision", flat=True)) == [1, 2]


def test_same_picture_once_more_is_no_revision_and_a_return_can_be_undone(scene: Scene) -> None:
    scene.bring(1)
    [first] = live_items(scene.judge)
    row = scene.return_item(first)
    derived_items.rederive_stage(scene.judge)
    process_derivations()
    assert live_items(scene.judge) == [] and scene.judge.items.count() == 1
    with pytest.raises(ReturnRefused, match="returned"):
        returns.return_item(first.pk, scene.with_role("reviewer"), "Blurred", timezone.now())
    with pytest.raises(ReturnRefused, match="not_yours"):
        returns.undo_return(row.pk, scene.with_role("reviewer"), timezone.now())
    returns.undo_return(row.pk, scene.reviewer, timezone.now())
    process_derivations()
    assert live_items(scene.judge) == [first] and Assignment.objects.get(rater=scene.finder).state == "submitted"
    scene.return_item(first)
    scene.bring(2)
    with pytest.raises(ReturnRefused, match="revised"):
        returns.undo_return(ItemReturn.objects.get(undone_at=None).pk, scene.reviewer, timezone.now())


def test_closed_campaign_of_the_finder_is_named_and_the_maker_is_called_again(scene: Scene) -> None:
    scene.bring(1)
    [first] = live_items(scene.judge)
    Campaign.objects.filter(pk=scene.finding.pk).update(state="closed")
    row = scene.return_item(first)
    row.refresh_from_db()
    assert (row.problem, row.called_at) == ("closed", None)
    Campaign.objects.filter(pk=scene.finding.pk).update(state="open")
    assert returns.call_makers(timezone.now()) == 1
    assert Assignment.objects.get(rater=scene.finder).state == "returned"


def test_reviewer_of_an_earlier_revision_finds_no_answer_to_the_next_one_in_the_queue() -> None:
    scene = Scene("by_review")
    scene.bring(1)
    [first] = live_items(scene.judge)
    judging = create_open_campaign(scene.judge, scene.cohort)
    judged(a_person(scene.cohort), judging, scene)
    assert review_queue.waiting_answers(scene.benchmark, scene.reviewer).count() == 1
    scene.return_item(first)
    scene.bring(2)
    judged(a_person(scene.cohort), judging, scene)
    waiting = [
        [row.assignment.unit.item.revision for row in review_queue.waiting_answers(scene.benchmark, user)]
        for user in (scene.reviewer, scene.with_role("reviewer"))
    ]
    assert 2 not in waiting[0] and 2 in waiting[1]


def test_late_answer_to_a_replaced_revision_excludes_its_author(scene: Scene) -> None:
    scene.bring(1)
    [first] = live_items(scene.judge)
    judging, late = create_open_campaign(scene.judge, scene.cohort), a_person(scene.cohort)
    sheet = claim_sheet(late, judging, scene.cohort)
    scene.return_item(first)
    scene.bring(2)
    answer(sheet, good="1")
    process_derivations()
    [second] = live_items(scene.judge)
    assert FormerJudge.objects.filter(item=second, user=late.user).exists()


def sign_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_page_shows_revisions_side_by_side_and_a_stranger_gets_404(scene: Scene) -> None:
    scene.bring(1)
    [first] = live_items(scene.judge)
    page = f"/b/{scene.benchmark.slug}/items/{first.pk}/"
    reviewer, stranger = sign_in(scene.reviewer), sign_in(User.objects.create(email="s@example.org", name="S"))
    assert stranger.post(f"{page}return/", {"comment": "Mine"}).status_code == 404
    assert "Return with comment" in reviewer.get(page).content.decode()
    refused = reviewer.post(f"{page}return/", {"comment": " "}, follow=True)
    assert "Write what must be changed" in refused.content.decode() and not ItemReturn.objects.exists()
    reviewer.post(f"{page}return/", {"comment": "Too dark for a print"})
    row = ItemReturn.objects.get()
    assert stranger.post(f"/b/{scene.benchmark.slug}/returns/{row.pk}/undo/").status_code == 404
    overview = reviewer.get(f"/b/{scene.benchmark.slug}/").content.decode()
    assert "1 item waits for a revision" in overview and "Too dark for a print" in overview
    returns.call_makers(timezone.now())
    scene.bring(2)
    shown = reviewer.get(page).content.decode()
    assert 'data-revision="1"' in shown and 'data-revision="2"' in shown and "Too dark for a print" in shown
    assert "waits for a revision" not in reviewer.get(f"/b/{scene.benchmark.slug}/").content.decode()


def test_item_passed_on_names_the_item_to_return(scene: Scene) -> None:
    scene.bring(1)
    judged(a_person(scene.cohort), create_open_campaign(scene.judge, scene.cohort), scene)
    [source], [later] = live_items(scene.judge), live_items(scene.later)
    with pytest.raises(ReturnRefused, match="no_maker"):
        returns.return_item(later.pk, scene.reviewer, "Too dark", timezone.now())
    shown = sign_in(scene.reviewer).get(f"/b/{scene.benchmark.slug}/items/{later.pk}/").content.decode()
    assert f'href="/b/{scene.benchmark.slug}/items/{source.pk}/"' in shown and "Return it there" in shown


@built_once
def pairs() -> Stage:
    stage = a_stage(a_benchmark(), "pairs", GOOD, display="pair", pictures="named", acceptance="by_rule")
    Stage.objects.filter(pk=stage.pk).update(acceptance_rule=RULE)
    return stage


FIRST = [{"key": "Q1", "role": "a", "file": "0.png"}, {"key": "Q1", "role": "b", "file": "1.png"}]
NEXT = [{"key": "Q1", "role": "a", "file": "0.png"}, {"key": "Q1", "role": "b", "file": "2.png"}]
FILES = {f"{n}.png": pictures.png(60, 40, seed=n) for n in range(3)}


def test_import_under_the_key_of_a_returned_pair_is_its_next_revision(pairs: Stage) -> None:
    owner = User.objects.create(email="o@example.org", name="O")
    TeamMember.objects.create(team=pairs.benchmark.team, user=owner)
    Role.objects.create(benchmark=pairs.benchmark, user=owner, name="owner")
    client = sign_in(owner)
    upload(client, pairs, lines(*FIRST), FILES)
    item = pairs.items.get()
    refused = outcomes(upload(client, pairs, lines(*NEXT), FILES))
    assert refused == {1: ("unchanged", ""), 2: ("error", "role_taken")}  # not before it was returned
    returns.return_item(item.pk, owner, "A flag is seen", timezone.now())
    returns.call_makers(timezone.now())
    assert outcomes(upload(client, pairs, lines(*FIRST), FILES)) == {1: ("unchanged", ""), 2: ("unchanged", "")}
    revised = outcomes(upload(client, pairs, lines(*NEXT), FILES))
    assert revised == {1: ("created", "revision"), 2: ("created", "")}
    second = pairs.items.get(withdrawn_at=None)
    assert (second.key, second.revision, second.replaces) == ("Q1.v2", 2, item)
    assert sorted(second.images.values_list("role", "file_name")) == [("a", "0.png"), ("b", "2.png")]
    again = outcomes(upload(client, pairs, lines(*NEXT), FILES))
    assert set(again.values()) == {("unchanged", "")} and pairs.items.count() == 2


def test_next_revision_whose_key_another_item_has_is_refused(pairs: Stage) -> None:
    owner = User.objects.create(email="o@example.org", name="O")
    TeamMember.objects.create(team=pairs.benchmark.team, user=owner)
    Role.objects.create(benchmark=pairs.benchmark, user=owner, name="owner")
    client = sign_in(owner)
    upload(client, pairs, lines(*FIRST), FILES)
    items(pairs, 1)
    Item.objects.filter(key="pairs-000").update(key="Q1.v2")
    returns.return_item(pairs.items.get(key="Q1").pk, owner, "A flag is seen", timezone.now())
    refused = outcomes(upload(client, pairs, lines(*NEXT), FILES))
    assert set(refused.values()) == {("error", "key_taken")} and pairs.items.count() == 2


@pytest.mark.parametrize(("length", "result"), [(197, ("created", "revision")), (198, ("error", "key_taken"))])
def test_next_revision_has_a_key_of_at_most_200_letters(pairs: Stage, length: int, result: tuple[str, str]) -> None:
    owner = User.objects.create(email="o@example.org", name="O")
    TeamMember.objects.create(team=pairs.benchmark.team, user=owner)
    Role.objects.create(benchmark=pairs.benchmark, user=owner, name="owner")
    client, key = sign_in(owner), "Q" * length
    upload(client, pairs, lines(*({**row, "key": key} for row in FIRST)), FILES)
    returns.return_item(pairs.items.get().pk, owner, "A flag is seen", timezone.now())
    revised = outcomes(upload(client, pairs, lines(*({**row, "key": key} for row in NEXT)), FILES))
    assert revised[1] == result and pairs.items.filter(key=f"{key}.v2").exists() == (length == 197)
