"""Locks: archives and commits (``upstream``), wheels (``resolve``), the file (``write``) and changes (``diff``)."""

from __future__ import annotations
