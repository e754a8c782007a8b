"""Checks of single kernels that compute: products, convolutions, attention, linear algebra, Fourier transforms, Triton.

A check belongs here if it calls one operator in its formats, layouts and variants, forward and backward.
"""
