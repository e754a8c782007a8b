"""The table of diagnoses, a data file for each topic; adding a rule takes no Python code.

Each file holds one text, in a Python string because Ansible sends only .py files to a host. The order matters: of the
rules that match, the first one is reported. A rule is a name in brackets, followed by fields of the form ``field =
value``; a value continues on the following lines if they are indented by four spaces. Backslashes have no special
meaning, and a line that begins with ``#`` is a comment. Fields:

``keys`` Plain texts, one per line; the line where the pattern begins contains one of them. Large logs are searched for
these. ``pattern`` Regular expressions, one per line, any of which may match, in a line with a key or from there into
the lines below it (``^`` and ``$`` are the ends of a line). A single quote matches any of the quotes that tools print.
A line that begins with ``+`` continues the previous one. ``cause``, ``remedy`` One sentence each. ``{found}`` is the
first group that matched, or else the complete match, and ``{name}`` is the group ``name``; ``name1`` and ``name2`` also
fill ``{name}``, because a pattern cannot use a name twice. A part in ``[]`` is left out if a name in it has no value;
brackets without a name are text. ``unless`` Patterns that exclude a line, such as one in which a tool reports that it
will try again. ``when`` The rule counts only if one of these rules, which come later in the table, matched as well.
``uncertain`` ``yes``: the message has several causes, and the log does not decide between them, so that ``explain``
exits with 3, as it does for a rule of ``consequences.py`` without ``no`` there. ``every`` ``yes``: {found} lists all
matches of the pattern, not only the first. ``notice`` ``yes``: the rule does not describe a failure by itself, and is
reported in addition to one. ``values`` Lines of the form ``NAME of GROUP: PATTERN => TEXT``: {NAME} is the text of the
first line whose pattern matches the start of the group's value. This adapts a sentence to a version, an architecture or
a name in the log. A line ``as in NAME`` stands for the lines of another rule in the same file, or of a section that
has only ``values`` and is not a rule. ``library`` ``yes``: {hint} and {ways} tell who provides the library {found}.
``source`` The public sources of the rule, one per line: ``owner/repository#number`` on GitHub, or a URL.

The rules in ``evidence.py`` have no cause: they are facts in other lines of the log. Their values are available to all
rules, and their names to ``when``. The patterns in ``signs.py`` tell which other lines report an error, and the rules
in ``subjects.py`` what an error concerns that no other rule knows; each has an example that only it recognises.

Each rule has an example in ``lab/diagnoses/<topic>.txt``, because no host needs it: lines that the whole table must
recognise as this rule. ``python -m lab.troubleshooting`` makes docs/troubleshooting.md from the rules and examples.
"""
