"""The parts of a data statement and of a datasheet, where each gets its text from, and which of them are gaps.

The data statement has the elements of Bender and Friedman (2018), the datasheet the questions of Gebru et al. (2021) in
their order and in our words. A part is computed, written by the team (`Benchmark.card`), or a gap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from releases.descriptions import computed
from releases.descriptions.computed import Compute, ReleaseFacts
from releases.models import Release

NOT_STATED = "Not stated."


@dataclass(frozen=True)
class DescriptionSection:
    """`key` names the written text in `Benchmark.card`. `compute` of some sections knows nothing: only a person can."""

    key: str
    title: str
    compute: Compute = lambda known: []


@dataclass(frozen=True)
class FilledSection:
    """`texts`: computed sentences, then what was written. `source`: computed, written or gap."""

    section: DescriptionSection
    computed: Sequence[str]
    written: str

    @property
    def texts(self) -> list[str]:
        return [*self.computed, *([self.written] if self.written else [])]

    @property
    def source(self) -> str:
        return "written" if self.written else "computed" if self.computed else "gap"


STATEMENT: tuple[DescriptionSection, ...] = (
    DescriptionSection("curation_rationale", "Curation rationale", computed.rationale),
    DescriptionSection("language_variety", "Language variety", computed.languages),
    DescriptionSection("speaker_demographic", "Demographic of those who are shown", computed.origins),
    DescriptionSection("annotator_demographic", "Demographic of the annotators", computed.annotators),
    DescriptionSection("speech_situation", "Situation of writing", computed.situation),
    DescriptionSection("text_characteristics", "Characteristics of the items", computed.items),
    DescriptionSection("recording_quality", "Quality of pictures", computed.pictures),
    DescriptionSection("recruitment", "Who recruited the annotators, and how"),
    DescriptionSection("pay", "Pay"),
    DescriptionSection("agreement", "Agreement of the annotators", computed.agreement),
    DescriptionSection("provenance", "Provenance", computed.parents),
)

DATASHEET: tuple[tuple[str, tuple[DescriptionSection, ...]], ...] = (
    (
        "Motivation",
        (
            DescriptionSection("purpose", "For what purpose it was made", computed.purpose),
            DescriptionSection("creators", "Who made it", computed.team),
            DescriptionSection("funding", "Who paid for it"),
            DescriptionSection("motivation_other", "Anything else on motivation", computed.citation),
        ),
    ),
    (
        "Composition",
        (
            DescriptionSection("instances", "What the instances are", computed.items),
            DescriptionSection("instance_counts", "How many there are", computed.instances),
            DescriptionSection("sample", "Whether they are a sample, and of what", computed.selection_of_items),
            DescriptionSection("raw_or_features", "What an instance holds", computed.pictures),
            DescriptionSection("labels", "Labels of instances", computed.labels),
            DescriptionSection("missing", "What is missing, and why", computed.missing),
            DescriptionSection("relations", "Relations between instances",
                    lambda known: ["Items name what they were made of under derived_from."]),
            DescriptionSection("splits", "Recommended splits", computed.splits),
            DescriptionSection("errors", "Errors, noise and redundancies", computed.errors),
            DescriptionSection("self_contained", "Whether it depends on other resources", computed.picture_sources),
            DescriptionSection("confidential", "Confidential content", computed.identifiability),
            DescriptionSection("offensive", "Content that may offend or frighten"),
            DescriptionSection("subpopulations", "Groups of people", computed.annotators),
            DescriptionSection("identifiable", "Whether people can be identified", computed.identifiability),
            DescriptionSection("sensitive", "Sensitive content"),
            DescriptionSection("composition_other", "Anything else on composition", computed.origins),
        ),
    ),
    (
        "Collection",
        (
            DescriptionSection("acquired", "How the data was acquired", computed.protocol),
            DescriptionSection("mechanisms", "With which tools", computed.software),
            DescriptionSection("sampling", "Sampling strategy", computed.selection_of_items),
            DescriptionSection("recruitment", "Who was involved in the collection, and how"),
            DescriptionSection("pay", "How they were paid"),
            DescriptionSection("time_frame", "When it was collected", computed.time_frame),
            DescriptionSection("ethics", "Ethical review"),
            DescriptionSection("directly", "Whether data comes from the people themselves", computed.answers),
            DescriptionSection("notified", "How people were notified", computed.situation),
            DescriptionSection("consent", "Consent", computed.consent),
            DescriptionSection("revoke", "How consent is withdrawn", computed.consent),
            DescriptionSection("impact", "Analysis of the impact on people"),
            DescriptionSection("collection_other", "Anything else on collection", computed.models),
        ),
    ),
    (
        "Preprocessing, cleaning and labelling",
        (
            DescriptionSection("cleaning", "What was done", computed.cleaning),
            DescriptionSection("raw_data", "Whether raw data is kept", computed.raw_data),
            DescriptionSection("software", "Software", computed.software),
        ),
    ),
    (
        "Uses",
        (
            DescriptionSection("used_for", "What it was used for"),
            DescriptionSection("repository", "Where uses are listed"),
            DescriptionSection("use_cases", "What it can be used for"),
            DescriptionSection("limitations", "Known limits"),
            DescriptionSection("biases", "Known biases"),
            DescriptionSection("social_impact", "Social impact"),
            DescriptionSection("should_not", "What it should not be used for"),
        ),
    ),
    (
        "Distribution",
        (
            DescriptionSection("third_parties", "To whom it is given"),
            DescriptionSection("distribution", "How and when it is distributed", computed.versions),
            DescriptionSection("licence", "Licence", computed.licence),
            DescriptionSection("restrictions", "Restrictions by others or by law"),
        ),
    ),
    (
        "Maintenance",
        (
            DescriptionSection("maintainer", "Who maintains it", computed.team),
            DescriptionSection("contact", "How to reach them"),
            DescriptionSection("erratum", "Errata", computed.versions),
            DescriptionSection("maintenance", "Updates"),
            DescriptionSection("retention", "Limits on keeping data of people"),
            DescriptionSection("older_versions", "Older versions", computed.versions),
            DescriptionSection("contributions", "How others can contribute"),
        ),
    ),
)  # fmt: skip


def known(release: Release) -> ReleaseFacts:
    parent = release.parent.version if release.parent else ""
    return ReleaseFacts(release.facts, release.version, parent, release.selection)


def filled(release: Release, sections: Sequence[DescriptionSection]) -> list[FilledSection]:
    facts, card = known(release), release.facts["described"]["card"]
    return [FilledSection(section, section.compute(facts), card.get(section.key, "")) for section in sections]


def all_sections() -> Iterator[DescriptionSection]:
    """Each key once, those of the data statement first."""
    keys = set()
    for section in (*STATEMENT, *(section for _group, sections in DATASHEET for section in sections)):
        if section.key not in keys:
            keys.add(section.key)
            yield section


def gaps(release: Release) -> list[DescriptionSection]:
    """What nothing on the site says. A release that was frozen by an older version has none that are known."""
    if "described" not in release.facts:
        return []
    return [part.section for part in filled(release, list(all_sections())) if part.source == "gap"]


def data_statement(release: Release) -> bytes:
    """DATA_STATEMENT.md."""
    lines = [f"# Data statement of {_name(release)} {release.version}", ""]
    lines += ["Elements after Bender and Friedman (2018). Counts are of the day on which the rows were frozen.", ""]
    lines += _withheld(release)
    for part in filled(release, STATEMENT):
        lines += [f"## {part.section.title}", "", *_paragraphs(part)]
    return "\n".join(lines).encode()


def datasheet(release: Release) -> bytes:
    """DATASHEET.md."""
    lines = [f"# Datasheet of {_name(release)} {release.version}", ""]
    lines += ["Questions after Gebru et al. (2021). Each answer names its source: computed, written or gap.", ""]
    lines += _withheld(release)
    for group, sections in DATASHEET:
        lines += [f"## {group}", ""]
        for part in filled(release, sections):
            lines += [f"### {part.section.title}", "", *_paragraphs(part), f"Source: {part.source}", ""]
    return "\n".join(lines).encode()


def _withheld(release: Release) -> list[str]:
    return [line for sentence in computed.withheld(known(release)) for line in (sentence, "")]


def _name(release: Release) -> str:
    return computed.one_line(release.facts["described"]["written"]["name"])


def _paragraphs(part: FilledSection) -> list[str]:
    """Written text cannot begin a heading."""
    texts = [quiet(text) for text in part.texts] or [NOT_STATED]
    return [line for text in texts for line in (text, "")]


def quiet(text: str) -> str:
    """Text that begins no heading and no rule."""
    return "\n".join(
        f"\\{line}" if line.lstrip().startswith(("#", "---", "===")) else line for line in text.splitlines()
    )
