# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of diagnoses, a data file for each topic; no Python is needed to add a rule.

Each file holds one text, in a Python string because Ansible sends a host nothing but .py files. Its order counts: of
the rules that match, the first one is told. A rule is a name in brackets and fields, each ``field = value``; a value
goes on in the lines below it that are indented by four blanks. Backslashes stand for themselves, and a line that begins
with ``#`` is a comment. Fields:

``keys``
    Plain texts, one a line, of which one stands in the line where the pattern begins. They are what a large log is
    searched for.
``pattern``
    Regular expressions, one a line, any of which may match: in a line with a key, or from there into the lines below
    it (``^`` and ``$`` are the ends of a line). A single quote stands for any of the quotes that tools print.
    A line that begins with ``+`` goes on the one above.
``cause``, ``remedy``
    One sentence each. ``{found}`` is the first group that matched, or else all that did, and ``{name}`` the group
    ``name``; the digit of ``name1`` and ``name2`` does not count, for a pattern cannot use a name twice. What stands
    in ``[]`` is left out where a name in it has no value; brackets without a name are text.
``unless``
    Patterns: a line where one matches too does not count, as one in which a tool says that it tries again.
``when``
    The rule counts only where one of these rules, further down, matched as well.
``every``
    ``yes``: {found} lists all that the pattern finds, not only the first.
``notice``
    ``yes``: it is no failure by itself, and is told beside one.
``values``
    Lines ``NAME of GROUP: PATTERN => TEXT``: {NAME} is the text of the first whose pattern matches the value of the
    group from its start on. So a version, an architecture or a name of the log decides what is said. Or ``as in RULE``:
    the lines of a rule of the same file.
``facts``
    The function of ``names.py`` that adds names for cause and remedy.
``source``
    Where the knowledge is public, one a line: ``owner/repository#number`` of GitHub, or a URL.

Each rule has an example, lines that the whole table must know as this rule, in ``lab/diagnoses/<topic>.txt``: what no
host needs. ``python -m lab.troubleshooting`` makes docs/troubleshooting.md of both.
"""
