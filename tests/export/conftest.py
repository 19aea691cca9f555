"""A connection to PostgreSQL, where PLDC_POSTGRESQL says how: "host=/tmp/x dbname=postgres", say."""

import os

import pytest

from pldc.export import to_sql


class PostgreSQL:
    """A database in which everything is temporary."""

    def __init__(self, base):
        self.base = base

    def fill(self, table, columns, rows):
        """Make a table of columns, given with their types, and of rows, which are numbered."""
        quoted = {name.replace('"', '""'): kind for name, kind in columns.items()}
        listed = ", ".join(f'"{name}" {kind}' for name, kind in quoted.items())
        self.base.execute(f'CREATE TEMPORARY TABLE "{table}" (id INTEGER, {listed})')
        with self.base.cursor().copy(f'COPY "{table}" FROM STDIN') as copy:
            for number, row in enumerate(rows):
                copy.write_row((number, *row))

    def ask(self, model, table):
        """Return number, prediction and whatever follows, of each row."""
        return self.base.execute(to_sql(model, table, "postgresql", ["id"]) + " ORDER BY id").fetchall()

    def of_cells(self, model, kind, cells):
        """Return the predictions of cells in a column c, whose type is given."""
        self.base.execute("DROP TABLE IF EXISTS cells")
        self.fill("cells", {"c": kind}, [(cell,) for cell in cells])
        return [row[1] for row in self.ask(model, "cells")]


def connected():
    """Return a connection to the database that is named. Where one is named, its tests run: none is skipped."""
    try:
        import psycopg
    except ImportError:
        pytest.fail("PLDC_POSTGRESQL names a database, and psycopg is not installed: pip install 'psycopg[binary]'")
    return psycopg.connect(os.environ["PLDC_POSTGRESQL"])


@pytest.fixture
def postgresql():
    if "PLDC_POSTGRESQL" not in os.environ:
        pytest.skip("PLDC_POSTGRESQL names no database to connect to")
    base = connected()
    yield PostgreSQL(base)
    base.close()  # without a commit: settings and types are gone, too
