"""What a release says of itself: a card that Hugging Face reads, a citation, and Croissant for programs."""

import json

import yaml
from django.utils import timezone

from annotation.models import Annotation, Campaign, CampaignCohort, ItemSource, Review, Unit
from annotation.services.answers import consent
from benchmarks.models import Benchmark, Item, ItemImage
from jobs.models import Event
from papers.caire.recipe import CITATION as CAIRE
from papers.culturalvqa.recipe import CULTURALVQA
from releases.descriptions.cited_paper import cited_paper
from releases.descriptions.computed import wanted
from releases.descriptions.licences import may_be_shared, spdx_identifier
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.personas import World
from tests.releases.description_schemas import CITATION, croissant_problems, problems_of
from tests.releases.release_steps import act, address, build, built, files_of, json_rows


def study(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "1234", world.tarek: "12.5"})
    hostile = 'Bread: "a"\n---\n# {x} \\ é'
    values = {"licence": "CC BY 4.0", "purpose": 'Why: "x"\n---\nend', "name": hostile, "citation": "Doe 2026"}
    Benchmark.objects.filter(pk=world.benchmark.pk).update(**values)
    return campaign


def test_the_head_of_the_card_names_every_parquet_table(world: World) -> None:
    study(world)
    files = files_of(world, built(world))
    text = files["README.md"].decode()
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["license"] == "cc-by-4.0"
    assert head["pretty_name"].startswith('Bread: "a"\n---')
    assert head["language"] == ["ar", "pt"]
    configs = {config["config_name"]: config["data_files"] for config in head["configs"]}
    assert configs.keys() == {"relevance-ratings", "relevance-items", "relevance-soft_labels", "pictures"}
    assert {p for paths in configs.values() for path in paths for p in path["path"]} == {
        p for p in files if p.endswith("parquet")
    }
    assert "Answers: 7 of people, 0 of models. Given between 2026-03-01 and 2026-03-01." in text
    assert "People by cohort: Brazil (0), Egypt (fewer than 5)." in text
    assert "no licence known (1)" in text
    assert "- Known limits\n" in text and "- Curation rationale" not in text
    assert "configs:" not in files_of(world, built(world, version="1.1.0", formats=["csv"]))["README.md"].decode()


def test_the_citation_is_readable_whatever_the_names_are(world: World) -> None:
    study(world)
    release = built(world)
    cff = yaml.safe_load(files_of(world, release)["CITATION.cff"])
    assert cff["title"].startswith('Bread: "a"') and cff["license"] == "CC-BY-4.0"
    assert (cff["cff-version"], cff["type"], cff["version"]) == ("1.2.0", "dataset", "1.0.0")
    assert cff["authors"] == [{"name": world.team.name}]
    assert f"{cff['date-released']}" == f"{release.created_at:%Y-%m-%d}"
    assert problems_of({**cff, "date-released": f"{cff['date-released']}"}, CITATION) == []
    assert "preferred-citation" not in cff
    assert cff["message"] == "If you use this data, please cite it as below, and: Doe 2026"


def test_a_paper_is_cited_with_its_own_authors_and_never_with_the_team(world: World) -> None:
    study(world)
    text = "Ada Ay, B. Bee, Chi van der Cee. On bread: a study. EMNLP 2024. https://doi.org/10.18653/v1/2024.x-main.1."
    Benchmark.objects.filter(pk=world.benchmark.pk).update(citation=text)
    cff = yaml.safe_load(files_of(world, built(world))["CITATION.cff"])
    chi = {"family-names": "Cee", "name-particle": "van der", "given-names": "Chi"}
    assert cff["preferred-citation"] == {
        "type": "conference-paper", "title": "On bread: a study", "year": 2024, "conference": {"name": "EMNLP 2024"},
        "authors": [{"family-names": "Ay", "given-names": "Ada"}, {"family-names": "Bee", "given-names": "B."}, chi],
        "doi": "10.18653/v1/2024.x-main.1", "url": "https://doi.org/10.18653/v1/2024.x-main.1",
    }  # fmt: skip
    assert cff["authors"] == [{"name": world.team.name}]
    assert problems_of({**cff, "date-released": f"{cff['date-released']}"}, CITATION) == []


def test_citations_of_recipes_and_of_people_are_read_by_their_parts() -> None:
    nayak, paper = cited_paper(CULTURALVQA.citation), cited_paper(CAIRE)
    assert nayak and paper
    for author in [*nayak.authors, *paper.authors]:
        assert author.keys() >= {"family", "given"}
    assert (len(nayak.authors), nayak.venue, nayak.year) == (8, "EMNLP 2024", "2024")
    assert paper.authors[-1] == {"family": "Neubig", "given": "Graham"}
    assert (paper.venue, paper.year, paper.url) == ("arXiv", "2025", "https://arxiv.org/abs/2506.09109")
    assert not paper.at_conference and paper.title.startswith("CAIRE: Cultural")
    unclear = cited_paper("Doe, Jane, Ay, Ada. On bread. Journal of Bread, 2024.")
    assert unclear and unclear.authors == [{"name": "Doe, Jane, Ay, Ada"}], "nobody gets a wrong family name"
    assert (unclear.venue, unclear.year) == ("Journal of Bread", "2024")
    group = cited_paper("The Bread Project. On bread. Bread Letters 2024.")
    assert group and group.authors == [{"name": "The Bread Project"}]
    assert cited_paper("On bread. arXiv, version 3.") is None


def test_croissant_names_files_with_checksums_and_every_column(world: World) -> None:
    study(world)
    release = built(world)
    files = files_of(world, release)
    content = json.loads(files["croissant.json"])
    sums = dict(release.files.values_list("path", "sha256"))
    assert {file["@id"]: file["sha256"] for file in content["distribution"]} == {
        path: digest for path, digest in sums.items() if path.endswith((".parquet", "eligibility.csv"))
    }
    columns = {record["name"]: [field["name"] for field in record["field"]] for record in content["recordSet"]}
    header = files["csv/relevance/ratings.csv"].decode("utf-8-sig").splitlines()[0].split(",")
    assert columns["relevance/ratings"] == header
    assert columns["pictures"] == files["csv/pictures.csv"].decode("utf-8-sig").splitlines()[0].split(",")
    for name in ("name", "description", "license", "creator", "datePublished", "version", "citeAs", "inLanguage"):
        assert content[name], name
    assert content["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert croissant_problems(content) == []
    assert content["rai:annotatorDemographics"] == ["Brazil: 0 people", "Egypt: fewer than 5 people"]


def test_licences_are_known_by_how_people_write_them() -> None:
    assert [spdx_identifier(text) for text in ("CC BY-SA 4.0", "cc-by-4.0 International", "mit", "ours", "")] == [
        "CC-BY-SA-4.0", "CC-BY-4.0", "MIT", "", "",
    ]  # fmt: skip


def test_sections_are_computed_or_written_or_named_as_gaps(world: World) -> None:
    study(world)
    description = f"/b/{world.benchmark.slug}/releases/description/"
    CampaignCohort.objects.filter(cohort=world.brazil).update(target_answers=4)
    release = built(world)
    files = files_of(world, release)
    targets = f"{world.stage.name}: answers wanted of each item: 4 (Brazil), 2 (Egypt)"
    assert f"{targets}; by anyone in the cohort" in files["DATASHEET.md"].decode()
    assert json.loads(files["croissant.json"])["rai:annotationsPerItem"] == targets
    sentence = "?, Brazil: alpha_ordinal: no value. There are no ratings yet."
    assert sentence in files["DATA_STATEMENT.md"].decode()
    sheet, statement = files["DATASHEET.md"].decode(), files["DATA_STATEMENT.md"].decode()
    assert "### How they were paid\n\nNot stated.\n\nSource: gap" in sheet
    assert "Answers were given between 2026-03-01 and 2026-03-01.\n\nSource: computed" in sheet
    assert "## Pay\n\nNot stated." in statement
    assert "Answers of people by language of the interface: en 7." in statement
    assert "\n# {x}" not in statement, "what people wrote begins no heading"
    page = world.client(world.mara).get(address(release)).content.decode()
    assert "Gap: not stated" in page and 'name="pay"' in page
    reply = world.client(world.mara).post(address(release, "gaps/"), {"pay": "12 EUR an hour", "purpose": "no gap"})
    assert reply.status_code == 302
    benchmark = Benchmark.objects.get(pk=world.benchmark.pk)
    assert benchmark.card == {"pay": "12 EUR an hour"}, "only gaps have a box there"
    assert "changed since the build" in act(world, release, "publish")
    act(world, release, "build")
    files = files_of(world, build(release))
    assert "12 EUR an hour\n\nSource: written" in files["DATASHEET.md"].decode()
    assert "12 EUR an hour" in files["README.md"].decode()
    form = {"authors": "Doe, Jane; 0000-0002-1825-0097; Nile Lab\nThe Group", "doi": "https://doi.org/10.5281/z.1",
            "pay": "12 EUR an hour", "limitations": "# Few people"}  # fmt: skip
    assert world.client(world.mara).post(description, form).status_code == 302
    act(world, release, "build")
    files = files_of(world, build(release))
    cff = yaml.safe_load(files["CITATION.cff"])
    assert cff["authors"] == [
        {"family-names": "Doe", "given-names": "Jane", "orcid": "https://orcid.org/0000-0002-1825-0097",
         "affiliation": "Nile Lab"}, {"name": "The Group"},
    ]  # fmt: skip
    assert cff["identifiers"] == [{"type": "doi", "value": "10.5281/z.1"}]
    assert "author = {Doe, Jane and {The Group}}" in files["README.md"].decode()
    croissant = json.loads(files["croissant.json"])
    assert [creator["name"] for creator in croissant["creator"]] == ["Jane Doe", "The Group"]
    assert croissant["rai:dataLimitations"] == "# Few people"
    reply = world.client(world.mara).post(description, form | {"authors": "Doe; 0000-0002-1825-0098"})
    assert (reply.status_code, "Line 1: this ORCID has a wrong digit." in reply.content.decode()) == (400, True)
    for user in (world.reviewer, world.nour, world.stranger, world.rival):
        client = world.client(user)
        assert client.get(description).status_code == client.post(description, form).status_code == 404, user
        assert client.post(address(release, "gaps/"), {"pay": "x"}).status_code == 404, user
    assert Event.objects.filter(verb="benchmark.described").count() == 2


def test_answers_wanted_are_those_of_the_campaigns() -> None:
    bounds = {"Brazil": [1, 2], "Egypt": [1, 2]}
    assert wanted({"wanted": bounds}) == "1 to 2 from each cohort"
    assert wanted({"wanted": {**bounds, "Egypt": [3, 3]}, "wanted_in_all": True}) == "3 in all"
    assert wanted({"wanted": {}}) == "not known, since the release has no campaign of the stage"


def test_every_licence_has_a_file(world: World) -> None:
    study(world)
    ItemImage.objects.filter(item__in=world.items[:3]).update(licence="CC BY 4.0")
    ItemImage.objects.filter(item__in=world.items[3:5]).update(licence="../Ours, 2026")
    files = files_of(world, built(world))
    assert b"https://spdx.org/licenses/CC-BY-4.0.html" in files["LICENSE"]
    [ours] = [path for path in files if path.startswith("LICENSES/Ours")]
    assert b"under it: 1, used 3 times." in files["LICENSES/CC-BY-4.0.txt"] and b"Licence: ../Ours, 2026" in files[ours]
    assert [may_be_shared(text) for text in ("CC0", "", " unknown", "© X. All rights reserved")] == [
        True, False, False, False,
    ]  # fmt: skip


def test_counts_of_the_card_are_those_of_the_rows(world: World) -> None:
    """An answer to a text that was not agreed to is in the rows; what somebody gave who withdrew is in none."""
    study(world)
    late = Annotation.objects.filter(rater__user=world.tarek)[0]
    Annotation.objects.filter(pk=late.pk).update(counted=False, uncounted_because="no_consent")
    theirs = Annotation.objects.filter(rater__user=world.nour)
    gone = Item.objects.create(stage=world.stage, key="gone", text="x" * 999, withdrawn_at=timezone.now())
    ItemSource.objects.create(item=gone, source=world.items[0], annotation=theirs[0])
    ItemImage.objects.create(item=gone, image=world.items[0].images.get().image, licence="Hers", source="Her camera")
    at = timezone.now()
    for answer, decision in ((theirs[0], "accept"), (late, "return")):
        Review.objects.create(annotation=answer, reviewer=world.reviewer, decision=decision, reason=decision, at=at)
    for answer, reason in ((theirs[1], "hers"), (late, "his")):
        skipped = answer.assignment
        unit = Unit.objects.create(item=world.items[-1], target=f"of {reason}")
        skipped.pk, skipped.unit, skipped.state, skipped.skip_reason = None, unit, "skipped", reason
        skipped.save()
    consent.withdraw(world.nour, world.team, at)
    files = files_of(world, built(world, formats=["jsonl"]))
    rows = json_rows(files["jsonl/relevance/ratings.jsonl"])
    assert [row["uncounted_because"] for row in rows].count("no_consent") == 1
    card, sheet = files["README.md"].decode(), files["DATASHEET.md"].decode()
    assert f"Answers: {len(rows)} of people, 0 of models." in card
    assert "- Not counted, with the reason: no_consent 1." in card
    assert "- Skipped, with the reason: his 1." in card
    assert "Left out: 4 answers of fewer than 5 people who withdrew their consent." in card
    assert "Decisions of reviewers: return 1." in sheet
    assert "Items that were withdrawn: 0." in sheet
    assert "999" not in sheet and "Her camera" not in sheet and "No source of a picture is known." in sheet
    assert [path for path in files if path.startswith("LICENSES/Hers")] == []
