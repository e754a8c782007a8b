"""Checks of users' programs: networks that are trained or distributed over GPUs.

A check belongs here if its result depends on many operators, such as the loss after thirty steps.
"""
