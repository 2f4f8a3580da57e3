"""The demo's team, cohorts, accounts and simulated raters."""

from datetime import datetime, timedelta

from demo.context import Demo, Report
from people.models import Cohort, Rater, Team, TeamMember, User
from people.services import accounts, consent, memberships, teams
from people.services.cohorts import CohortData, create_cohort
from people.services.raters import rater_of

RATERS = 6
REVIEWERS = 2
PUBLISHED_BEFORE = timedelta(days=5)
COHORTS = [
    CohortData(
        label="Egypt", names={"ar": "مصر"}, country="EG", languages=["ar"], direction="rtl", time_zone="Africa/Cairo"
    ),
    CohortData(
        label="Brazil",
        names={"ar": "البرازيل"},
        country="BR",
        languages=["pt-br"],
        direction="ltr",
        time_zone="America/Recife",
    ),
    CohortData(
        label="China", names={"ar": "الصين"}, country="CN", languages=["zh"], direction="ltr", time_zone="Asia/Shanghai"
    ),
]
# name, cohort (None: on the team), what the visitor sees with this account, language
ACCOUNTS = [
    ("admin", "Ada", None, "admin: everything, and the status page", "en"),
    ("mara", "Mara", None, "researcher: campaigns, agreement, export", "en"),
    ("salma", "Salma", "Egypt", "manager of the cohort Egypt", "ar"),
    ("nour", "Nour", "Egypt", "annotator in Egypt, in Arabic", "ar"),
    ("bia", "Bia", "Brazil", "annotator in Brazil", "en"),
    ("wei", "Wei", "China", "annotator in China", "en"),
]
CONSENT = {
    "en": "Your answers are used for research on how pictures relate to cultures. They are published under a "
    "pseudonym, never with your name or address. You may stop at any time. "
    "If you withdraw your consent, your answers are no longer used in figures or new files.",
    "ar": "تُستخدم إجاباتك في بحث عن صلة الصور بالثقافات. تُنشر باسم مستعار، ولا تُنشر أبدًا مع اسمك أو عنوانك. "
    "يمكنك التوقف في أي وقت. وإذا سحبت موافقتك فلن تُستخدم إجاباتك بعد ذلك في الأرقام ولا في الملفات الجديدة.",
}


def create_team(password: str, now: datetime, report: Report) -> tuple[Demo, dict[str, User]]:
    """Create the team and everybody in it; the users are returned by the name before the @ of their address."""
    users = {
        key: accounts.create_account(f"{key}@demo.emic", name, password, language=language, site_admin=key == "admin")
        for key, name, _cohort, _sees, language in ACCOUNTS
    }
    team = teams.create_team("Emic demo", "demo", users["admin"])
    teams.add_member(team, users["mara"], TeamMember.Role.MEMBER, users["admin"])
    places = {data["label"]: create_cohort(team, data, users["mara"]) for data in COHORTS}
    consent.publish_text(team, CONSENT, users["mara"], now - PUBLISHED_BEFORE)
    memberships.add_manager(places["Egypt"], users["salma"], users["mara"])
    for key, _name, label, _sees, language in ACCOUNTS:
        if label and key != "salma":
            join(places[label], users[key], language)
    raters = {label: create_raters(cohort) for label, cohort in places.items()}
    reviewers = [create_reviewer(team, number, users["admin"]) for number in range(1, REVIEWERS + 1)]
    return Demo(team, users["mara"], [users["admin"]], reviewers, places, raters, now, report), users


def find_demo(team: Team, now: datetime, report: Report, *, practice_address: str = "") -> Demo:
    """The demo as `create_team` made it; `now` is the time of that."""
    actor, admin = (User.objects.get(email=f"{key}@demo.emic") for key in ("mara", "admin"))
    reviewers = [User.objects.get(email=reviewer_address(number)) for number in range(1, REVIEWERS + 1)]
    cohorts = {cohort.label: cohort for cohort in Cohort.objects.filter(team=team).order_by("pk")}
    raters = {
        label: [rater_of(User.objects.get(email=address_of(label, number))) for number in range(1, RATERS + 1)]
        for label in cohorts
    }
    return Demo(team, actor, [admin], reviewers, cohorts, raters, now, report, practice_address)


def address_of(label: str, number: int) -> str:
    """The address of a simulated rater of a cohort."""
    return f"simulated-{label.lower()}-{number}@demo.emic"


def reviewer_address(number: int) -> str:
    return f"simulated-reviewer-{number}@demo.emic"


def create_reviewer(team: Team, number: int, admin: User) -> User:
    """A simulated member of the team who reviews answers, named so."""
    user = accounts.create_account(reviewer_address(number), f"Simulated reviewer {number}", simulated=True)
    teams.add_member(team, user, TeamMember.Role.MEMBER, admin)
    return user


def create_raters(cohort: Cohort) -> list[Rater]:
    """Simulated raters, named so."""
    raters = []
    for number in range(1, RATERS + 1):
        user = accounts.create_account(
            address_of(cohort.label, number),
            f"Simulated rater {number}, {cohort.label}",
            simulated=True,
        )
        join(cohort, user, "en")
        raters.append(rater_of(user))
    return raters


def join(cohort: Cohort, user: User, language: str) -> None:
    """Join a cohort and agree to the consent text of its team."""
    memberships.join(cohort, user, user)
    version = consent.current_version(cohort.team)
    assert version is not None
    consent.agree(user, version, language if language in CONSENT else "en")
