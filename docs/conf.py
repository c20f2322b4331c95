"""Sphinx settings; the method, design, and measure tables and the page of notes are made from the registry at build time."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from gallery import write_gallery  # noqa: E402
from make_notes import write_notes  # noqa: E402
from make_tables import write_tables  # noqa: E402

import unseen  # noqa: E402

write_tables(HERE / "_generated")
write_notes()
write_gallery()

project = "unseen"
author = "The unseen developers"
copyright = "2026, the unseen developers"
release = version = unseen.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_generated", "tables"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["unseen.css"]
html_theme = "pydata_sphinx_theme"
html_title = "unseen"
html_theme_options = {
    "show_prev_next": False,
    # tables and pairs of scripts need the width
    "secondary_sidebar_items": {"guides/*": ["page-toc"], "index": [], "guides/everyday": [], "guides/gallery": []},
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "guides/everyday": [], "guides/gallery": []}
# the four shelves of the header: folder and title
SHELVES = (("guides", "Guides"), ("reference", "Reference"), ("validation", "Validation"), ("decisions", "Decisions"))
html_context = {"shelves": SHELVES}
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# quotes and ellipses only: two dashes begin an option
smartquotes_action = "qe"
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# methods that scikit-learn adds to every estimator, with references to its own manual
autodoc_default_options = {"exclude-members": "set_fit_request, set_partial_fit_request, set_score_request"}
