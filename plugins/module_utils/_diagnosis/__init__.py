"""Causes and remedies for failing tools, from one table.

``rules`` is the table, with a data file for each topic. ``table`` reads it and explains the output of one tool, such as
apt or pip; ``scan`` diagnoses logs of any size. This file imports nothing, so that importing a module of this package
loads only that module.
"""
