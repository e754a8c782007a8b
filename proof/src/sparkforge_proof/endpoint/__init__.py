"""Check that a server returns its model's results: ``sparkforge-proof endpoint URL --model PATH``.

``client`` sends requests, ``answers`` parses the answers from four engines, and ``texts`` draws the texts.
``reference`` computes the same log-probabilities in float32, and the noise of the served format. ``judge`` finds wrong
ones and their cause, and ``checks`` makes the rows of the report.
"""
