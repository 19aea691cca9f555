"""Which tests run which lines of a room, and how long each takes: ``python -m attack.line_tests OUTPUT TESTS``.

Of the tree that it is started in.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

SOURCE = Path.cwd() / "src" / "pldc"


class Recorder:
    """A plugin of pytest that names the test under way to the measurement of coverage, and times it."""

    def __init__(self, measure: Any) -> None:
        self.measure, self.seconds, self.failed = measure, {}, []

    def pytest_runtest_protocol(self, item: Any) -> None:
        """Begin a test."""
        self.measure.switch_context(item.nodeid)
        self.began = time.process_time()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """End a test, or a part of one."""
        self.seconds[report.nodeid] = time.process_time() - self.began
        if report.failed:
            self.failed.append(report.nodeid)


def main(output: str, *tests: str) -> int:
    """Run tests and write which of them run which lines."""
    import coverage
    import pytest

    measure = coverage.Coverage(data_file=None, source=[str(SOURCE)], config_file=False)
    recorder = Recorder(measure)
    measure.start()
    pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests], plugins=[recorder])
    measure.stop()
    data, lines = measure.get_data(), defaultdict(dict)
    for file in data.measured_files():
        name = str(Path(file).relative_to(SOURCE))
        for line, tests in data.contexts_by_lineno(file).items():
            lines[name][line] = [test for test in tests if test in recorder.seconds]
    found = {"seconds": recorder.seconds, "failed": recorder.failed, "lines": lines}
    Path(output).write_text(json.dumps(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
