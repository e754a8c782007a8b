"""Stacks: their files and schemas (``load``), and the facts computed from them (``facts``)."""
