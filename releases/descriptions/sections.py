"""The parts of a data statement and of a datasheet, where each gets its text from, and which of them are gaps.

The data statement has the elements of Bender and Friedman (2018), the datasheet the questions of Gebru et al. (2021) in
their order and in our words. A part is computed, written by the team (`Benchmark.card`), or a gap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from releases.descriptions import computed
from releases.descriptions.computed import Compute, Known
from releases.models import Release

NOT_STATED = "Not stated."


@dataclass(frozen=True)
class Section:
    """`key` names the written text in `Benchmark.card`. `compute` of some sections knows nothing: only a person can."""

    key: str
    title: str
    compute: Compute = lambda known: []


@dataclass(frozen=True)
class FilledSection:
    """`texts`: computed sentences, then what was written. `source`: computed, written or gap."""

    section: Section
    computed: Sequence[str]
    written: str

    @property
    def texts(self) -> list[str]:
        return [*self.computed, *([self.written] if self.written else [])]

    @property
    def source(self) -> str:
        return "written" if self.written else "computed" if self.computed else "gap"


STATEMENT: tuple[Section, ...] = (
    Section("curation_rationale", "Curation rationale", computed.rationale),
    Section("language_variety", "Language variety", computed.languages),
    Section("speaker_demographic", "Demographic of those whose texts and cultures are shown", computed.origins),
    Section("annotator_demographic", "Demographic of the annotators", computed.annotators),
    Section("speech_situation", "Situation of writing", computed.situation),
    Section("text_characteristics", "Characteristics of the items", computed.items),
    Section("recording_quality", "Quality of pictures", computed.pictures),
    Section("recruitment", "Who recruited the annotators, and how"),
    Section("pay", "Pay"),
    Section("provenance", "Provenance", computed.parents),
)

DATASHEET: tuple[tuple[str, tuple[Section, ...]], ...] = (
    (
        "Motivation",
        (
            Section("purpose", "For what purpose it was made", computed.purpose),
            Section("creators", "Who made it", computed.team),
            Section("funding", "Who paid for it"),
            Section("motivation_other", "Anything else on motivation", computed.citation),
        ),
    ),
    (
        "Composition",
        (
            Section("instances", "What the instances are", computed.items),
            Section("instance_counts", "How many there are", computed.instances),
            Section("sample", "Whether they are a sample, and of what", computed.selection_of_items),
            Section("raw_or_features", "What an instance holds", computed.pictures),
            Section("labels", "Labels of instances", computed.labels),
            Section("missing", "What is missing, and why", computed.missing),
            Section("relations", "Relations between instances",
                    lambda known: ["Items name what they were made of under derived_from."]),
            Section("splits", "Recommended splits", computed.splits),
            Section("errors", "Errors, noise and redundancies", computed.errors),
            Section("self_contained", "Whether it depends on other resources", computed.picture_sources),
            Section("confidential", "Confidential content", computed.identifiability),
            Section("offensive", "Content that may offend or frighten"),
            Section("subpopulations", "Groups of people", computed.annotators),
            Section("identifiable", "Whether people can be identified", computed.identifiability),
            Section("sensitive", "Sensitive content"),
            Section("composition_other", "Anything else on composition", computed.origins),
        ),
    ),
    (
        "Collection",
        (
            Section("acquired", "How the data was acquired", computed.protocol),
            Section("mechanisms", "With which tools", computed.software),
            Section("sampling", "Sampling strategy", computed.selection_of_items),
            Section("recruitment", "Who was involved in the collection, and how"),
            Section("pay", "How they were paid"),
            Section("time_frame", "When it was collected", computed.time_frame),
            Section("ethics", "Ethical review"),
            Section("directly", "Whether data comes from the people themselves", computed.answers),
            Section("notified", "How people were notified", computed.situation),
            Section("consent", "Consent", computed.consent),
            Section("revoke", "How consent is withdrawn", computed.consent),
            Section("impact", "Analysis of the impact on people"),
            Section("collection_other", "Anything else on collection", computed.models),
        ),
    ),
    (
        "Preprocessing, cleaning and labelling",
        (
            Section("cleaning", "What was done", computed.cleaning),
            Section("raw_data", "Whether raw data is kept", computed.raw_data),
            Section("software", "Software", computed.software),
        ),
    ),
    (
        "Uses",
        (
            Section("used_for", "What it was used for"),
            Section("repository", "Where uses are listed"),
            Section("use_cases", "What it can be used for"),
            Section("limitations", "Known limits"),
            Section("biases", "Known biases"),
            Section("social_impact", "Social impact"),
            Section("should_not", "What it should not be used for"),
        ),
    ),
    (
        "Distribution",
        (
            Section("third_parties", "To whom it is given"),
            Section("distribution", "How and when it is distributed", computed.versions),
            Section("licence", "Licence", computed.licence),
            Section("restrictions", "Restrictions by others or by law"),
        ),
    ),
    (
        "Maintenance",
        (
            Section("maintainer", "Who maintains it", computed.team),
            Section("contact", "How to reach them"),
            Section("erratum", "Errata", computed.versions),
            Section("maintenance", "Updates"),
            Section("retention", "Limits on keeping data of people"),
            Section("older_versions", "Older versions", computed.versions),
            Section("contributions", "How others can contribute"),
        ),
    ),
)  # fmt: skip


def known(release: Release) -> Known:
    parent = release.parent.version if release.parent else ""
    return Known(release.facts, release.version, parent, release.selection)


def filled(release: Release, sections: Sequence[Section]) -> list[FilledSection]:
    facts, card = known(release), release.facts["described"]["card"]
    return [FilledSection(section, section.compute(facts), card.get(section.key, "")) for section in sections]


def all_sections() -> Iterator[Section]:
    """Each key once, those of the data statement first."""
    keys = set()
    for section in (*STATEMENT, *(section for _group, sections in DATASHEET for section in sections)):
        if section.key not in keys:
            keys.add(section.key)
            yield section


def gaps(release: Release) -> list[Section]:
    """What nothing on the site says. A release that was frozen by an older version has none that are known."""
    if "described" not in release.facts:
        return []
    return [part.section for part in filled(release, list(all_sections())) if part.source == "gap"]


def data_statement(release: Release) -> bytes:
    """DATA_STATEMENT.md."""
    lines = [f"# Data statement of {_name(release)} {release.version}", ""]
    lines += ["Elements after Bender and Friedman (2018). Counts are of the day on which the rows were frozen.", ""]
    for part in filled(release, STATEMENT):
        lines += [f"## {part.section.title}", "", *_paragraphs(part)]
    return "\n".join(lines).encode()


def datasheet(release: Release) -> bytes:
    """DATASHEET.md."""
    lines = [f"# Datasheet of {_name(release)} {release.version}", ""]
    lines += ["Questions after Gebru et al. (2021). Each answer names its source: computed, written or gap.", ""]
    for group, sections in DATASHEET:
        lines += [f"## {group}", ""]
        for part in filled(release, sections):
            lines += [f"### {part.section.title}", "", *_paragraphs(part), f"Source: {part.source}", ""]
    return "\n".join(lines).encode()


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
