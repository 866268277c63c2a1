"""Settings of the manual: `make docs` builds it, offline, and a warning is an error."""

from __future__ import annotations

import runpy
import sys
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from docutils.nodes import literal_block

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import families_page  # noqa: E402
import items_page  # noqa: E402
from docstrings import escaped, own_name  # noqa: E402

(HERE / "reference" / "families.md").write_text(families_page.page(), "utf-8")
(HERE / "lectures" / "items.md").write_text(items_page.page(), "utf-8")

project = "posterior"
author = "the posterior developers"
copyright = author
release = version = installed("posterior")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["results/*"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # they are in words, under Parameters
autodoc_member_order = "bysource"
templates_path = ["templates"]
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]  # "a, b : arrays" are two names

html_theme = "pydata_sphinx_theme"
html_title = "posterior"
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_show_sourcelink = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "posterior"},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_nav_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
}


def prepare(app: Any) -> None:
    """What pages show and no file of the repository holds: pictures, and changes to come."""
    runpy.run_path(str(HERE / "pictures.py"))["main"]()
    gather = runpy.run_path(str(HERE.parent / "changelog.d" / "gather.py"))
    text = gather["gathered"]("Not released yet")
    (HERE.parent / "build" / "unreleased.md").write_text(text, "utf-8")


def colored(app: Any, doctree: Any) -> None:
    """Examples are indented text to Markdown, and a Python session to us."""
    for block in doctree.findall(literal_block):
        if block.astext().startswith(">>>"):
            block["language"] = "pycon"


def setup(app: Any) -> None:
    app.connect("builder-inited", prepare)
    app.connect("doctree-read", colored)
    app.connect("autodoc-process-docstring", escaped, priority=100)  # before napoleon, at 500
    app.connect("autodoc-skip-member", own_name)
