"""Every kind of sheet and the annotator's home: at 200 % and 400 %, in forced colours, after dark."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from annotation.models import Campaign
from annotation.services.sheets.sheet_versions import sheet_of
from people.models import User
from tests.browser.conftest import until_sheet_ready
from tests.browser.test_rating import find_violations, wait_for_images
from tests.personas import World
from tests.workflows import every_workflow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OpenAs = Callable[..., Page]
Shot = Callable[..., None]
ZOOMED = {200: (640, 512), 400: (320, 256)}  # a window of 1280 x 1024
# What is asked and lies outside the window sideways, or cannot be scrolled to; and Submit, if it is not in view.
CUT = """() => {
  const cut = [], [frame, asked] = ['.acts, .bar, .stage',
    '.panel :is(legend, label, input:not([type=hidden]), textarea, select, button), .acts .btn, .page h1, .job .btn'];
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) cut.push(`the page is ${wide} wide`);
  for (const part of document.querySelectorAll(asked)) {
    const seen = part.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    if (!seen || part.closest('.vh, dialog')) continue;
    part.scrollIntoView({ block: 'center' });
    const { left, right, top, bottom, width } = part.getBoundingClientRect();
    if (width <= 1) continue;
    const text = (part.textContent || part.outerHTML).trim().slice(0, 40);
    const middle = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2;
    const over = document.elementFromPoint((left + right) / 2, middle)?.closest(frame);
    if (left < -1 || right > innerWidth + 1) cut.push(`${text}: from ${left} to ${right}`);
    else if (bottom <= 0 || top >= innerHeight) cut.push(`${text}: out of reach at ${top}`);
    else if (over && !part.closest(frame)) cut.push(`${text}: below ${over.className}`);
  }
  for (const part of document.querySelectorAll('.panel > .body, .scale, .seg, .tools'))
    if (part.offsetWidth && part.scrollWidth > part.clientWidth + 1) cut.push(`${part.className} scrolls sideways`);
  const submit = document.querySelector('.acts .go')?.getBoundingClientRect();
  if (submit && (submit.top < 0 || submit.bottom > innerHeight + 1)) cut.push(`Submit at ${submit.top}`);
  return cut;
}"""
SUBMIT_IN_VIEW = "document.querySelector('.acts .go').getBoundingClientRect().bottom <= innerHeight + 1"
# In forced colours only outlines, borders and system colours remain: what is chosen and what has the focus differ.
CHOSEN = """() => {
  const options = [...document.querySelectorAll('.panel :is(.opt, .seg label)')].filter(option => option.offsetHeight);
  if (!options.length) return true;
  const [option, input] = [options[0], options[0].querySelector('input')];
  const mark = () => {
    const style = getComputedStyle(option);
    return style.outlineStyle === 'none' ? '' : style.outlineStyle + style.outlineWidth + style.outlineColor;
  };
  const marks = [false, true].map(checked => (input.checked = checked, mark()));
  input.checked = false;
  input.focus({ focusVisible: true });
  return marks[0] === '' && marks[1] !== '' && mark() !== '';
}"""


def kind_of(campaign: Campaign) -> tuple[str, frozenset[str]]:
    """Sheets with the same display and the same kinds of questions look the same."""
    return campaign.stage.display, frozenset(field.kind for field in sheet_of(campaign.sheet_version).fields)


def test_every_sheet_at_two_zooms_in_forced_colours_and_after_dark(
    open_as: OpenAs, world: World, media: None, nour: User, shot: Shot
) -> None:
    page = open_as(nour)
    kinds = {kind_of(campaign): (key, f"/work/{campaign.pk}/") for key, campaign in every_workflow(world).items()}
    sheets = dict(kinds.values())
    faults: list[tuple[str, int | str, str]] = []
    for key, path in {**sheets, "home": "/work/"}.items():
        page.emulate_media(forced_colors="none", color_scheme="light", reduced_motion="reduce")
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(path)
        if key in sheets:
            until_sheet_ready(page)
            wait_for_images(page)
        for zoom, (width, height) in ZOOMED.items():
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate("scrollTo(0, 0)")
            shot(page, f"zoom-{zoom}-{key}")
            if key in sheets and not page.evaluate(SUBMIT_IN_VIEW):
                faults.append((key, zoom, "Submit is not in view as the sheet opens"))
            faults += [(key, zoom, fault) for fault in page.evaluate(CUT)]
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        shot(page, f"dark-{key}")
        if violations := find_violations(page):
            faults.append((key, "dark", violations))
        page.emulate_media(forced_colors="active", color_scheme="light", reduced_motion="reduce")
        if not page.evaluate(CHOSEN):
            faults.append((key, "forced colours", "nothing shows the choice or the focus"))
        shot(page, f"forced-{key}")
    assert not faults, "\n".join(map(str, faults))
