from people.models import Rater, User


def rater_of(user: User) -> Rater:
    """The rater a person is. Two requests at once make one: the constraint decides, get_or_create reads again."""
    rater, _made = Rater.objects.get_or_create(user=user, defaults={"kind": Rater.Kind.PERSON})
    return rater
