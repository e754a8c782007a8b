"""The checks, in one package for each kind, and ``bounds``, which compares their results.

A package may import only those listed before it: stack, data, kernels, programs, survey, sizes, speed. A check is a
function with the decorator ``check``, by which the catalogue finds it.
"""
