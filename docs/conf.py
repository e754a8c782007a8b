# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sphinx's settings for the documentation's site, which `make docs` builds from a copy of the pages (lab/site.py)."""

project = "sparkforge.dgx_spark"
author = "The sparkforge maintainers"
project_copyright = "2026, the sparkforge maintainers"
extensions = ["myst_parser", "sphinx_antsibull_ext"]
html_theme = "furo"
html_title = "sparkforge"
html_show_sphinx = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
# Nothing is loaded from elsewhere, so that the site can be read and searched offline.
html_copy_source = False
# Links to headings are written as a forge makes them: `page.md#a-heading`.
myst_heading_anchors = 4
# Ansible's own variables are documented on its site, which is not queried here.
nitpick_ignore_regex = [("std:envvar", "ANSIBLE_.*")]
