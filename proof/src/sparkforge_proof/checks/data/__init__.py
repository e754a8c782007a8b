"""Checks of tensors without products: copies, memory, formats, random numbers, layouts, streams and graphs.

A check belongs here if its operations do not round, round only once, or draw random numbers.
"""
