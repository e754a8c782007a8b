"""Checks of users' programs: networks that are trained, distributed over GPUs, or generate text.

A check belongs here if its result depends on many operators, such as the loss after a hundred steps.
"""
