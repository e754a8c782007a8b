"""Checks of the installed packages, libraries and binaries, and whether torch can use the GPU.

A check belongs here if it examines where a file comes from, its target architecture, or whether it can be loaded. The
checks of torchvision's and torchaudio's own kernels are here too.
"""
