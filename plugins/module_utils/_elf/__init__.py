"""Shared libraries: their headers, embedded GPU code, the loader's search, and their providers."""
