"""Disks that are full, and Ctrl-C while the shell is still loading."""

import builtins
import errno
import sys

import numpy as np
import pytest
from tests.cli.test_shell import said

import pldc
from pldc.cli import main

pytest.importorskip("pandas", reason="pandas is not installed")


def test_a_full_disk_names_the_file(tmp_path, capsys, monkeypatch):
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    pldc.DCRegressor(lam=0.1).fit(np.arange(6.0)[:, None], np.arange(6.0)).save_model(tmp_path / "m.json")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pldc.cli.commands.answers", full)
    words = ("predict", tmp_path / "m.json", tmp_path / "t.csv")
    told = said(capsys, *words, "-o", tmp_path / "out.csv", code=1)
    assert told == f"pldc: {tmp_path / 'out.csv'} cannot be written: No space left on device.\n"
    assert "standard output cannot be written" in said(capsys, *words, code=1)


def test_ctrl_c_while_the_shell_is_loading(capsys, monkeypatch):
    plain = builtins.__import__

    def pressed(name, *more):
        if name == "pldc.cli.parser":
            raise KeyboardInterrupt
        return plain(name, *more)

    monkeypatch.delitem(sys.modules, "pldc.cli.parser")
    monkeypatch.setattr(builtins, "__import__", pressed)
    assert main(["--version"]) == 130
    assert capsys.readouterr().err == "pldc: interrupted\n"
