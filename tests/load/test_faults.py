"""Two hundred answers by three people; the line breaks, the server is killed, sessions end and there are two windows:
nothing is lost, nothing is stored twice, and within a second the page says something true.

Slow: run by `./emic test --slow`. EMIC_SEED chooses other faults; a failure prints its own.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.utils import timezone
from playwright.sync_api import Browser, Page

from annotation.models import Annotation, Assignment, Campaign, SheetVersion
from annotation.services.campaigns import lifecycle
from annotation.services.queue import recount
from people.models import User
from tests.browser.conftest import DESKTOP, PHONE
from tests.load.cutting_proxy import BREAKS, Break, CuttingProxy, cutting
from tests.load.fault_person import GUARD, FaultPerson, pause
from tests.load.killed_server import KilledServer, killed_server
from tests.personas import PASSWORD, SHEET, World

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ANSWERS = int(os.environ.get("EMIC_FAULT_ANSWERS", "200"))
SEEDS = [int(seed) for seed in os.environ.get("EMIC_SEED", "14 1414 141414").split()]
WHY = {"key": "why", "kind": "text", "label": {"en": "Why?"}, "required": False, "config": {"long": True}}
SHORT = 4.0  # seconds that a person waits for a sheet before something is mended


class FaultyWorld:
    """What may break, and what has broken."""

    def __init__(self, server: KilledServer, proxy: CuttingProxy, dice: random.Random) -> None:
        self.server, self.proxy, self.dice = server, proxy, dice
        self.counts: Counter[str] = Counter()

    def break_requests(self) -> None:
        """In every other scene the line breaks in the middle of one or two requests."""
        breaks = []
        if self.dice.random() < 0.6:
            breaks.append(Break(self.dice.choice(BREAKS), times=self.dice.choice((1, 1, 2))))
        if self.dice.random() < 0.2:
            breaks.append(Break(self.dice.choice(BREAKS[:-1]), "/draft"))
        self.proxy.arm(*breaks)

    def end_breaks(self, person: FaultPerson) -> None:
        self.proxy.arm()
        self.proxy.finish_kills()
        self.server.start()
        person.context.set_offline(False)


Scene = Callable[[FaultPerson, FaultyWorld], None]


def plain(person: FaultPerson, _world: FaultyWorld) -> None:
    person.give(person.page, SHORT)


def several(person: FaultPerson, world: FaultyWorld) -> None:
    for _answer in range(world.dice.randint(2, 3)):
        person.give(person.page, SHORT)


def offline(person: FaultPerson, world: FaultyWorld) -> None:
    person.context.set_offline(True)
    person.give(person.page, SHORT)
    if world.dice.random() < 0.5:
        person.give(person.page, SHORT)
    if world.dice.random() < 0.3:
        person.session_ends(expired=False)
    pause(person.page, world.dice.uniform(0, 2))
    person.hear_truth(person.page)


def server_killed(person: FaultPerson, world: FaultyWorld) -> None:
    world.server.kill()
    person.give(person.page, SHORT)
    if world.dice.random() < 0.5:
        person.give(person.page, SHORT)


def session_ends(person: FaultPerson, world: FaultyWorld) -> None:
    person.session_ends(expired=world.dice.random() < 0.5)
    person.give(person.page, SHORT)


def session_ends_while_typing(person: FaultPerson, world: FaultyWorld) -> None:
    """The dialog comes when they stop, and not a letter is lost."""
    person.wait_for_sheet(person.page)
    pause(person.page, GUARD)
    person.session_ends(expired=world.dice.random() < 0.5)
    field, text = person.page.locator("[name=a-why]"), "Typed while nobody was signed in, and more of it"
    field.fill("")
    field.press_sequentially(text, delay=100)
    assert field.input_value() == text
    person.hear_truth(person.page)
    person.wait_for_sheet(person.page)
    assert field.input_value() == text
    person.give(person.page, SHORT)


def signs_in_elsewhere(person: FaultPerson, _world: FaultyWorld) -> None:
    person.session_ends(expired=False)
    person.give(person.page, SHORT)
    other = person.context.new_page()
    other.goto(person.address.split("/work/")[0] + "/sign-in?next=/me")
    if other.locator("[name=username]").count():
        other.locator("[name=username]").fill(person.user.email)
        other.locator("[name=password]").fill(PASSWORD)
        other.locator("[name=password]").press("Enter")
        other.wait_for_url("**/me")
    other.close()
    person.page.evaluate("dispatchEvent(new Event('focus'))")


def second_window(person: FaultPerson, world: FaultyWorld) -> None:
    """It answers the same sheet, and perhaps the next; the first one follows."""
    other = person.open()
    sheet = person.give(other, SHORT)
    if world.dice.random() < 0.5:
        person.give(other, SHORT)
    world.end_breaks(person)
    person.settle(other)
    leave_sheet(person.page, sheet)
    other.close()


def leave_sheet(page: Page, sheet: str) -> None:
    """Nothing was written on it in this window: it goes on by itself."""
    for _time in range(100):
        if page.locator("#bench").get_attribute("data-assignment") != sheet:
            return
        pause(page, 0.1)
    raise AssertionError(f"the first window stays at {sheet}")


def two_opinions(person: FaultPerson, world: FaultyWorld) -> None:
    """Something is chosen here and submitted there: this window shows both, and the person decides."""
    person.wait_for_sheet(person.page)
    other = person.open()
    pause(person.page, GUARD)
    here = person.choose(person.page)
    sheet = person.give(other, SHORT)
    if person.ledger.answers[sheet] != here:
        decide(person, world, [person.page, other])
    else:
        world.end_breaks(person)
        leave_sheet(person.page, sheet)
    other.close()


def race(person: FaultPerson, world: FaultyWorld) -> None:
    """Both windows submit in the same moment."""
    state = person.wait_for_sheet(person.page)
    other, sheet = person.open(), str(state["sheet"])
    if person.snapshot(other)["sheet"] != sheet:
        other.close()
        return
    pause(person.page, GUARD)
    chosen = {page: person.choose(page) for page in (person.page, other)}
    person.page.keyboard.press("Control+Enter")
    other.keyboard.press("Control+Enter")
    person.note(f"raced for {sheet}: {list(chosen.values())}")
    person.ledger.answers[sheet] = {}
    world.end_breaks(person)
    both = decide(person, world, [person.page, other], sheet)
    if not both:
        live = Annotation.objects.get(assignment_id=sheet, live=True).answers
        assert live in chosen.values(), f"{live} is stored"
        assert len({str(one) for one in chosen.values()}) == 1, f"{live} is stored, nobody is asked: {chosen}"
        person.ledger.answers[sheet] = live
    other.close()


def decide(person: FaultPerson, world: FaultyWorld, pages: list[Page], raced: str = "") -> bool:
    """Of two windows that wrote different things, one shows both in the end: submit there, or keep the earlier answer.
    False where none does."""
    world.end_breaks(person)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        states = [person.wait_for_sheet(page) for page in pages]
        for page, state in zip(pages, states, strict=True):
            if not state["both"]:
                continue
            sheet = str(state["sheet"])
            if raced:
                person.ledger.answers[sheet] = Annotation.objects.get(assignment_id=sheet, live=True).answers
            person.ledger.opinions.add(sheet)
            person.decide(page, sheet)
            for one in pages:
                person.settle(one)
            return True
        quiet = not any(state["waits"] or state["banner"] or state["conflict"] for state in states)
        if raced and quiet and all(state["sheet"] != raced for state in states):
            return False
        pause(pages[0], 0.2)
    raise AssertionError(f"no window shows both: {[person.snapshot(page) for page in pages]}")


def reload_while_sending(person: FaultPerson, world: FaultyWorld) -> None:
    world.proxy.arm(Break(world.dice.choice(("reply hangs", "reply late"))))
    person.give(person.page, SHORT)
    person.page.reload()
    person.hear_truth(person.page)


def close_while_sending(person: FaultPerson, world: FaultyWorld) -> None:
    world.proxy.arm(Break(world.dice.choice(("reply hangs", "reply late", "reply lost", "request halved"))))
    person.give(person.page, SHORT)
    person.page.close()
    world.end_breaks(person)
    person.page = person.open()


def away_and_back(person: FaultPerson, world: FaultyWorld) -> None:
    """To the page of all work and back by the browser's button, while an answer is on its way."""
    person.give(person.page, SHORT)
    world.end_breaks(person)
    person.page.goto(person.address.split("/work/")[0] + "/work/")
    pause(person.page, world.dice.uniform(0, 1))
    person.page.go_back()
    person.hear_truth(person.page)


def undo(person: FaultPerson, world: FaultyWorld) -> None:
    """The answer is taken back and given again; sometimes the reply to the undo is lost."""
    world.proxy.arm()
    sheet = person.give(person.page)
    for _time in range(60):
        if person.snapshot(person.page)["undo"] == sheet:
            break
        pause(person.page, 0.05)
    else:
        return
    lost = world.dice.random() < 0.4
    if lost:
        world.proxy.arm(Break(world.dice.choice(("reply lost", "request halved", "reply halved")), "/undo"))
    person.page.keyboard.press("Escape")
    person.page.locator("#undo button:not(.close)").click()
    pause(person.page, 0.5)
    if Annotation.objects.filter(assignment_id=sheet, live=True).exists():
        person.note(f"undo of {sheet} never arrived")
        return
    person.note(f"took back {sheet}{', the reply was lost' if lost else ''}")
    person.ledger.undone[sheet] += 1
    del person.ledger.answers[sheet]
    for _answer in range(3):  # it is the next one, or the one after it
        if person.give(person.page) == sheet:
            return
    raise AssertionError(f"{sheet} was taken back and never comes again")


SCENES: dict[Scene, int] = {
    plain: 6, several: 4, offline: 4, server_killed: 2, session_ends: 3, session_ends_while_typing: 1,
    signs_in_elsewhere: 1, second_window: 3, two_opinions: 3, race: 2, reload_while_sending: 2, close_while_sending: 2,
    away_and_back: 2, undo: 3,
}  # fmt: skip


@pytest.fixture
def campaign(world: World) -> Campaign:
    """Three people who may answer every item."""
    third = world.add_annotators(world.egypt, 1)
    password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", 1000)  # that the server knows, too
    User.objects.filter(pk__in=[world.nour.pk, world.tarek.pk, third[0].pk]).update(password=password)
    world.add_items(ANSWERS)
    created = lifecycle.create(world.stage, "Relevance", world.owner, {world.egypt: 3}, seed=5, instructions={})
    sheet = {"fields": [*SHEET["fields"], WHY]}
    version = SheetVersion.objects.create(stage=world.stage, major=2, minor=0, definition=sheet)
    lifecycle.open_campaign(created, world.owner, timezone.now())
    Campaign.objects.filter(pk=created.pk).update(sheet_version=version)
    return created


@pytest.fixture
def faulty(request: Any) -> Iterator[FaultyWorld]:
    dice = random.Random(request.getfixturevalue("seed"))
    with killed_server() as server, cutting(server.kill, dice) as proxy:
        proxy.target = server.port
        yield FaultyWorld(server, proxy, dice)


def people(world: World, campaign: Campaign, chromium: Browser, faulty: FaultyWorld) -> list[FaultPerson]:
    address = f"http://127.0.0.1:{faulty.proxy.port}"
    persons = []
    members = User.objects.filter(cohort_memberships__cohort=world.egypt).order_by("pk")
    for user, how in zip(members, (DESKTOP, PHONE, DESKTOP), strict=True):
        context = chromium.new_context(reduced_motion="reduce", locale="en-GB", **how)  # type: ignore[arg-type]
        context.set_default_timeout(15_000)
        cookie = world.client(user).cookies["sessionid"]
        context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": address}])
        persons.append(FaultPerson(user, context, f"{address}/work/{campaign.pk}/", faulty.dice))
    return persons


@pytest.mark.parametrize("seed", SEEDS)
def test_no_fault_loses_an_answer_or_stores_one_twice_or_says_what_is_not_so(
    world: World, campaign: Campaign, chromium: Browser, seed: int, faulty: FaultyWorld
) -> None:
    persons = people(world, campaign, chromium, faulty)
    scenes, weights = list(SCENES), list(SCENES.values())
    try:
        while sum(len(one.ledger.answers) for one in persons) < ANSWERS:
            person, [scene] = faulty.dice.choice(persons), faulty.dice.choices(scenes, weights)
            person.note(scene.__name__)
            faulty.counts[scene.__name__] += 1
            faulty.break_requests()
            scene(person, faulty)
            faulty.end_breaks(person)
            person.settle(person.page)
        for person in persons:
            person.compare()
    except BaseException:
        print(f"seed {seed}\n" + "\n".join(sorted(line for one in persons for line in one.history)[-40:]))
        raise
    finally:
        for person in persons:
            person.context.close()
    answered = sum(len(one.ledger.answers) for one in persons)
    assert Annotation.objects.filter(live=True, counted=True).count() == answered
    assert Assignment.objects.filter(state="submitted").count() == answered
    assert list(recount.find_differences()) == []
    slowest = max(one.slowest for one in persons)
    print(f"seed {seed}: {answered} answers; {dict(faulty.counts)}; requests broken: {dict(faulty.proxy.done)};")
    print(f"server killed {faulty.server.kills} times; a true sentence after {slowest:.2f} s at most")
