"""The queue: a slot is full when it is not `open`. Only `annotation/services/queue/` writes slots (`claim.py` reserves,
`slots.py` does the rest); see docs/explanation/queue.md."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _


class Unit(models.Model):
    """What every measure pairs by: an item, asked for a target (a label, exactly as written, or the empty one).

    Without a label set the target is a cohort's label. The same text in two sets makes two units.
    """

    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="units")
    target = models.CharField(max_length=120, blank=True)
    label_set = models.ForeignKey(
        "benchmarks.LabelSet", models.PROTECT, null=True, related_name="+", db_index=False,
        help_text="The version that the target is a label of; empty: a cohort's own label.",
    )  # fmt: skip

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "target", "label_set"], name="unit_once", nulls_distinct=False)
        ]
        indexes = [
            models.Index(fields=["label_set"], condition=Q(label_set__isnull=False), name="unit_label_set"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} for {self.target}"


class Slot(models.Model):
    """A unit for one cohort of a campaign, with the places it has.

    `submitted` counts the answers that count; surplus answers take no place. `position` is where the queue finds
    the slot: when a closed slot opens again it moves to the end, so nobody's cursor has passed it.
    """

    cohort = models.ForeignKey("annotation.CampaignCohort", models.PROTECT, related_name="slots", db_index=False)
    unit = models.ForeignKey(Unit, models.PROTECT, related_name="slots")
    position = models.BigIntegerField()
    wanted = models.PositiveSmallIntegerField()
    share = models.PositiveSmallIntegerField(
        null=True, help_text="Of the answers that all cohorts give together; empty: the cohort's own target."
    )
    urgent = models.BooleanField(db_default=False, default=False, help_text="Handed out before all that are not.")
    retired = models.BooleanField(
        db_default=False, default=False, help_text="Skipped too often in this cohort; gets no new places."
    )
    cell_full = models.BooleanField(
        db_default=False, default=False, help_text="The stage has all it wants of this cell; gets no new places."
    )
    reserved = models.SmallIntegerField(default=0)
    submitted = models.SmallIntegerField(default=0)
    open = models.GeneratedField(
        expression=Q(wanted__gt=F("reserved") + F("submitted")),  # type: ignore[arg-type]  # a condition is one, too
        output_field=models.BooleanField(),
        db_persist=True,
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cohort", "unit"], name="slot_once"),
            models.CheckConstraint(name="slot_reserved_not_negative", condition=Q(reserved__gte=0)),
            models.CheckConstraint(name="slot_submitted_not_negative", condition=Q(submitted__gte=0)),
            models.CheckConstraint(
                name="slot_never_overshoots", condition=Q(wanted__gte=F("reserved") + F("submitted"))
            ),
        ]
        indexes = [
            # The claim reads only this. `open` is a stored column, so an update that leaves it alone touches no index.
            models.Index(fields=["cohort", "position"], include=["unit"], condition=Q(open=True), name="slot_open"),
            models.Index(
                fields=["cohort", "position"], include=["unit"], condition=Q(open=True, urgent=True), name="slot_urgent"
            ),
            models.Index(fields=["cohort"], condition=Q(cell_full=True), name="slot_cell_full"),
        ]

    def __str__(self) -> str:
        return f"slot {self.pk}: {self.reserved}+{self.submitted} of {self.wanted}"


class Participation(models.Model):
    """One person in one cohort of a campaign. Its row lock orders everything that person does there.

    Every open slot before `cursor` is one this person already had, or may never have.
    """

    cohort = models.ForeignKey(
        "annotation.CampaignCohort", models.PROTECT, related_name="participations", db_index=False
    )
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="participations")
    cursor = models.BigIntegerField(default=0)
    urgent_cursor = models.BigIntegerField(db_default=0, default=0, help_text="The same, among urgent slots.")
    last_seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cohort", "rater"], name="participation_once")]
        indexes = [models.Index(fields=["cohort", "last_seen_at"], name="participation_active")]

    def __str__(self) -> str:
        return f"rater {self.rater_id} in {self.cohort_id}"


class Assignment(models.Model):
    """A unit given to a rater. People's assignments hold a place in a slot; a model's never do."""

    class State(models.TextChoices):
        RESERVED = "reserved", _("In progress")
        SUBMITTED = "submitted", _("Submitted")
        RETURNED = "returned", _("Returned to you")
        ACCEPTED = "accepted", _("Accepted")
        REJECTED = "rejected", _("Not accepted")
        SKIPPED = "skipped", _("Skipped")
        RELEASED = "released", _("Time ran out")

    campaign = models.ForeignKey("annotation.Campaign", models.PROTECT, related_name="assignments", db_index=False)
    participation = models.ForeignKey(Participation, models.PROTECT, null=True, related_name="assignments")
    slot = models.ForeignKey(Slot, models.PROTECT, null=True, related_name="assignments")
    unit = models.ForeignKey(Unit, models.PROTECT, related_name="assignments")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="assignments", db_index=False)
    repeat = models.PositiveSmallIntegerField(
        db_default=0, default=0, help_text="Of a model that was asked the same several times; people are asked once."
    )
    state = models.CharField(max_length=10, choices=State, default=State.RESERVED)
    in_hand = models.BooleanField(default=True, help_text="False: the one ahead, whose picture is loading.")
    packed = models.BooleanField(
        db_default=False, default=False, help_text="Reserved in a pack, to be answered on a device without a line."
    )
    lease_until = models.DateTimeField(null=True)
    reserved_at = models.DateTimeField()
    shown_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField()
    skip_reason = models.CharField(max_length=40, blank=True)
    skip_note = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "unit", "rater", "repeat"], name="assignment_once"),
            models.UniqueConstraint(
                fields=["participation", "in_hand"],
                condition=Q(state="reserved", packed=False),
                name="one_in_hand_one_ahead",
            ),
            models.CheckConstraint(
                name="reserved_has_lease", condition=~Q(state="reserved") | Q(lease_until__isnull=False)
            ),
            models.CheckConstraint(name="skipped_has_reason", condition=~Q(state="skipped") | ~Q(skip_reason="")),
        ]
        indexes = [
            models.Index(fields=["lease_until"], condition=Q(state="reserved"), name="assignment_leases"),
            models.Index(
                fields=["participation"], condition=Q(state="reserved", packed=True), name="assignment_packed"
            ),
            models.Index(fields=["participation"], condition=Q(state="released"), name="assignment_released"),
            models.Index(fields=["rater", "-changed_at"], name="assignment_history"),
            # Whose answers came in a file, among all who answered.
            models.Index(fields=["campaign", "rater"], condition=Q(participation=None), name="assignment_from_file"),
            models.Index(fields=["campaign", "changed_at"], condition=Q(state="submitted"), name="assignment_waiting"),
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk} ({self.state})"
