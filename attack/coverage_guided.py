"""The readers under atheris: inputs that coverage guides into every corner of them. A case is one reader.

``python -m attack.coverage_guided READER RUNS CORPUS`` is the process that it starts.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import SkipTest

RUNS = 100_000
SECONDS = 150
LIMIT = 4 * SECONDS
LONGEST_INPUT = 4096  # bytes
LONGEST_MESSAGE = 1000  # characters


def cases() -> list[str]:
    """Names of the readers."""
    from attack.readers import READERS

    return [reader.name for reader in READERS]


def check(case: str) -> int:
    """Run atheris on a reader; return the number of inputs."""
    from attack.readers import READERS

    if importlib.util.find_spec("atheris") is None:
        raise SkipTest("atheris is not installed: pip install 'pldc[attack]', on a Python that it has a wheel for")
    reader = next(reader for reader in READERS if reader.name == case)
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for k, record in enumerate(reader.valid()):
            (corpus / f"{k}.json").write_text(json.dumps(record), encoding="utf-8")
        words = [sys.executable, "-m", "attack.coverage_guided", case, str(RUNS), str(corpus)]
        found = subprocess.run(words, capture_output=True, text=True, cwd=os.getcwd(), timeout=LIMIT, errors="replace")
    told = (found.stdout + found.stderr).strip()
    assert found.returncode == 0, told[-3000:]
    done = [int(line.split()[1]) for line in told.splitlines() if line.startswith("Done ")]
    assert done, told[-3000:]
    return done[0]


def main(name: str, runs: str, corpus: str) -> None:
    """Feed a reader."""
    import atheris

    with atheris.instrument_imports(include=["pldc"]):
        import pldc.function.serialise

        if importlib.util.find_spec("pldc.export") is not None:
            import pldc.export.model_file  # type: ignore[import-not-found]  # noqa: F401
    from attack.readers import READERS

    reader = next(reader for reader in READERS if reader.name == name)

    def once(data: bytes) -> None:
        try:
            reader.parse(data)
        except (ValueError, TypeError) as error:
            if len(str(error)) > LONGEST_MESSAGE:
                raise AssertionError("a message that is too long") from error

    settings = [f"-runs={runs}", f"-max_total_time={SECONDS}", f"-max_len={LONGEST_INPUT}", "-seed=1", "-timeout=10"]
    atheris.Setup([sys.argv[0], *settings, "-rss_limit_mb=3000", "-print_final_stats=0", corpus], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
