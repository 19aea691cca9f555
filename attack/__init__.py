"""Machines that attack the package: ``make attack``. Each part has cases, and a check that raises where it fails."""
