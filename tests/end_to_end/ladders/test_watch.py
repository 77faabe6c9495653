"""`run FOLDER --watch`: a stage that is saved has a line, with what became of it."""

from __future__ import annotations

import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Iterator

import pytest

from conftest import assert_refused, is_sanitized, run, start

PLAIN = "for (int c = 0; c < C; ++c) sum += x[static_cast<long>(r) * C + c];"

pytestmark = pytest.mark.skipif(is_sanitized(), reason="a program that is built slowly says nothing of seconds")


@pytest.fixture(scope="module", name="ladder")
def _ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watched") / "my-softmax"
    assert run("new", folder).returncode == 0
    return folder


class Watching:
    """The command, and its lines as they come."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.process = start("run", folder, "--watch", *words, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.lines: Iterator[str] = iter(self.process.stdout)

    def line(self) -> str:
        return next(self.lines).rstrip("\n")

    def end(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        return self.process.wait(timeout=30), said


def test_every_save_has_a_verdict(ladder: Path) -> None:
    stage = ladder / "02_threads.cpp"
    text = stage.read_text(encoding="utf-8")
    watching = Watching(ladder, "--family", "cpu")
    try:
        assert watching.line().startswith(f"watching {ladder}: ")
        stage.write_text(text.replace("#include", "// another comment\n#include", 1), encoding="utf-8")
        begin = time.monotonic()
        line = watching.line()
        took = time.monotonic() - begin
        assert " 02_threads.cpp: right on R" in line and "before" in line, line
        assert took < 20, "seconds, not minutes"

        stage.write_text(text.replace("{", "{ not a word of C++;", 1), encoding="utf-8")
        line = watching.line()
        assert "does not compile: 02_threads.cpp:" in line and "error" in line, line

        stage.write_text(text.replace("/= sum;", "/= sum + 1;"), encoding="utf-8")
        line = watching.line()
        assert "02_threads.cpp: incorrect: " in line, line

        stage.write_text(text, encoding="utf-8")
        line = watching.line()
        assert "right on R" in line and ("faster" in line or "as long as" in line or "cannot be told from before" in line), line

        (ladder / "notes.txt").write_text("nothing", encoding="utf-8")
        (ladder / "shared.hpp").write_text("// a header\n", encoding="utf-8")
        assert "shared.hpp changed: all stages again" in watching.line()
        assert "01_naive.cpp: right on R" in watching.line()
    finally:
        stage.write_text(text, encoding="utf-8")
        code, said = watching.end()
    assert (code, said) == (130, "")
    assert not list(Path(tempfile.gettempdir()).glob("convladder-duel-*/*_before.*")), "nothing is left behind"


def test_the_last_right_version_finds_the_headers_of_the_folder(ladder: Path) -> None:
    stage = ladder / "02_threads.cpp"
    text = stage.read_text(encoding="utf-8")
    (ladder / "shared.hpp").write_text("#pragma once\n", encoding="utf-8")
    stage.write_text('#include "shared.hpp"\n' + text, encoding="utf-8")
    watching = Watching(ladder, "--family", "cpu")
    try:
        watching.line()
        stage.write_text('#include "shared.hpp"\n// the same\n' + text, encoding="utf-8")
        line = watching.line()
        assert "right on R" in line and "before (" in line, line
        (ladder / "01_naive.cu").write_text((ladder / "01_naive.cu").read_text(encoding="utf-8") + "\n", encoding="utf-8")
        assert "01_naive.cu: not of --family" in watching.line()
    finally:
        stage.write_text(text, encoding="utf-8")
        watching.end()


def test_it_watches_a_folder_of_ones_own() -> None:
    assert_refused(run("run", "--watch"), "--watch: expected a folder of yours")
    assert_refused(run("run", "--watch", "x", "--batch", "3"), "--batch: not with --watch")
    assert_refused(run("run", "--watch", "x", "--output", "y"), "--output: not with --watch")
    assert_refused(run("run", "--watch", "matrix-multiplication"), "--watch: expected a folder of yours")
