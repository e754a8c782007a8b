"""Packages, sources and local repositories of apt."""
