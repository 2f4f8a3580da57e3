"""Every tool that files are written for, with what is lost on the way."""

from django.utils.translation import gettext_lazy as _

from releases.writers import argilla, doccano
from releases.writers.argilla import write_argilla
from releases.writers.coco import write_coco
from releases.writers.contract import ToolWriter, takes_boxes
from releases.writers.doccano import write_doccano
from releases.writers.label_studio import write_label_studio
from releases.writers.potato import write_potato

WRITERS: tuple[ToolWriter, ...] = (
    ToolWriter(
        "label_studio", "Label Studio",
        _("Cultures asked about, versions, reviews, skips. Raters become the account that imports, unless their"
          " accounts are named; their pseudonyms are in the column emic_raters."),
        tried=False, write=write_label_studio,
        note=_("Import tasks.json into a project with label-config.xml. Pictures have to be served to Label Studio."),
    ),
    ToolWriter(
        "coco", _("CVAT (COCO, one file for each rater)"),  # type: ignore[arg-type]
        _("Everything but boxes and their labels."), tried=False, write=write_coco, takes=takes_boxes,
        note=_("Import each file into a task of its own, as COCO 1.0. The names of the pictures must be the same."),
    ),
    ToolWriter(
        "doccano", "doccano",
        _("Boxes, pictures, cultures asked about, versions, reviews. Raters are names of files only."), tried=False,
        write=write_doccano, takes=doccano.takes,
        note=_("One file for each question and rater. A project takes one question."),
    ),
    ToolWriter(
        "argilla", "Argilla",
        _("Boxes, cultures asked about, versions, reviews, skips. Raters are numbers that their pseudonyms give."),
        tried=False, write=write_argilla, takes=argilla.takes,
        note=_("Users with these numbers must be created there first."),
    ),
    ToolWriter(
        "potato", "Potato", _("Cultures asked about, versions, reviews, skips."), tried=False,
        write=write_potato,
        note=_("Import with: potato import -f label_studio -i tasks.json --ls-config label-config.xml"
               " --keep-annotators. completed_by is the number of the rater. Or start the project of config.yaml and"
               " items.json, which has no answers; put the pictures into the folder media."),
    ),
)  # fmt: skip
BY_KEY = {writer.key: writer for writer in WRITERS}
