# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.show.figures import Figure as Figure
from unseen.show.figures import draw as draw
from unseen.show.figures import figures_for as figures_for
from unseen.show.figures import info as info
from unseen.show.inline_svg import responsive_svg as responsive_svg
from unseen.show.inline_svg import svg as svg
from unseen.show.page import fragment as fragment
from unseen.show.page import render as render
from unseen.show.page import write as write
from unseen.show.sections import build as build
