"""The forecast of an upgrade: the ledger of earlier breakage, and its rules that apply to a host."""

from __future__ import annotations
