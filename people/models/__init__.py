from people.models.cohorts import Cohort, CohortManager, CohortMember
from people.models.consent import Consent, ConsentText, ConsentVersion
from people.models.languages import InterfaceLanguage, LanguageSpeaker, TextVersion
from people.models.links import EmailConfirmation, Invitation, SignInLink
from people.models.mail import OutMail
from people.models.messages import Message, MessageRead
from people.models.sign_in import FailedSignIn, PasswordRequest
from people.models.teams import Team, TeamMember
from people.models.tokens import ApiToken
from people.models.users import ModelDetails, Rater, User

__all__ = [
    "ApiToken",
    "Cohort",
    "CohortManager",
    "CohortMember",
    "Consent",
    "ConsentText",
    "ConsentVersion",
    "EmailConfirmation",
    "FailedSignIn",
    "InterfaceLanguage",
    "Invitation",
    "LanguageSpeaker",
    "Message",
    "MessageRead",
    "ModelDetails",
    "OutMail",
    "PasswordRequest",
    "Rater",
    "SignInLink",
    "Team",
    "TeamMember",
    "TextVersion",
    "User",
]
