"""The test bench: simulated Sparks in containers, and a local mirror of the vendor's artefacts.

Data flows one way: ``host`` (packages, cache) -> ``emulator`` -> ``image`` -> ``mirror`` -> ``bench``.
Nothing in the collection imports this package; `python -m lab --help` documents its whole interface.
"""
