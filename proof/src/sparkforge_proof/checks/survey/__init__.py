"""Checks of the operators, modules and optimisers in torch's own lists, on the inputs with which torch tests them.

A property that holds for every operator belongs here rather than in a check of its own. ``variants`` defines ways to
call an operator, ``conditions`` decides which of them it supports, ``calls`` compares a call with float64, and ``grid``
selects the calls for a day. ``compiled`` compares code that torch.compile generates for the programs of ``panels``.
``rounding`` measures errors, and ``operator_bounds`` contains the bounds.
"""
