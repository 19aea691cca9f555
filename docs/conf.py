"""Sphinx configuration: everything is built from the clone, nothing is fetched."""

import os

from pldc import __version__

# The plots must not depend on the machine's display.
os.environ.setdefault("MPLBACKEND", "agg")

project = "pldc"
author = "The pldc developers"
project_copyright = author
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas are set without a network
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "decisions"]
default_role = "literal"
nitpicky = False

autosummary_generate = True
autodoc_member_order = "bysource"
# Methods that scikit-learn generates; their docstrings refer to scikit-learn's own pages.
autodoc_default_options = {"exclude-members": "set_fit_request, set_score_request, get_metadata_routing"}
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False  # the class template lists them

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "doc_module": ("pldc",),
    "reference_url": {"pldc": None},
}

# Nothing of a page is fetched: fonts, icons and the search come with the theme.
html_theme = "pydata_sphinx_theme"
html_title = "pldc"
html_static_path = ["_static"]
html_css_files = ["pldc.css"]
html_theme_options = {
    "logo": {"text": "pldc"},
    "navbar_center": [],  # the sections are beside the page
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_version_warning_banner": False,
}
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system has it
html_sidebars = {"**": ["sections.html"]}
html_show_sourcelink = False
