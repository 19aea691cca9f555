"""Mutants that no test can see, each with the reason: (file, line as it is, change) → why."""

from __future__ import annotations

EXPLAINED: dict[tuple[str, str, str], str] = {}
