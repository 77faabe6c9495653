"""The program as a Python package. What needs pandas, or the wheel, runs where CONVLADDER_PYTHON_PACKAGE names a Python with the wheel
installed, and nbclient and ipykernel for the notebook."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, REPOSITORY, run

SMALL = "family='cpu', shape='1,8,8,2,3', batch=4, variant=['memory-accumulation', 'local-accumulation'], repetitions=5"
WITH_WHEEL = os.environ.get("CONVLADDER_PYTHON_PACKAGE", "")
with_wheel = pytest.mark.skipif(not WITH_WHEEL, reason="CONVLADDER_PYTHON_PACKAGE names no Python with the wheel installed")


def python(code: str, folder: Path, *, interpreter: str = sys.executable, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs code that has imported convladder: that of the clone, with the program under test, or that of a wheel with its own."""
    clone = {"PYTHONPATH": str(REPOSITORY / "python"), "CONVLADDER_PROGRAM": str(PROGRAM)}
    own = {name: value for name, value in os.environ.items() if name not in clone} | (clone if interpreter != WITH_WHEEL else {})
    return subprocess.run([interpreter, "-c", f"import convladder\n{code}"], cwd=folder, env=own | variables,
                          capture_output=True, text=True, check=False, timeout=300)


def printed(code: str, folder: Path, **options: str) -> str:
    """What the code prints, where nothing goes wrong."""
    done = python(code, folder, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(code: str, folder: Path, **variables: str) -> str:
    """The one line of the ConvladderError that the code ends with."""
    done = python(f"try:\n    {code}\nexcept convladder.ConvladderError as error:\n    print(error)\n", folder, **variables)
    assert done.returncode == 0 and done.stdout.count("\n") == 1, done
    return done.stdout


def test_importing_it_loads_none_of_what_draws(tmp_path: Path) -> None:
    assert printed("import sys; print([one for one in ('pandas', 'matplotlib', 'numpy') if one in sys.modules])", tmp_path) == "[]\n"


def test_as_a_module_it_is_the_program(tmp_path: Path) -> None:
    own = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python"), "CONVLADDER_PROGRAM": str(PROGRAM)}
    for words in (["--version"], ["compare", "nope.json", "nope.json"], ["run", "--layer", "nope"]):
        done = subprocess.run([sys.executable, "-m", "convladder", *words], cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
        plain = run(*words, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert printed("print(convladder.version())", tmp_path) == run("--version").stdout


@pytest.mark.parametrize("code, says", [
    ("convladder.load('nope.json')", "nope.json: No such file or directory"),
    ("convladder.load('.')", "run.json: No such file or directory"),
    ("convladder.load('text.json')", "text.json: no JSON: "),
    ("convladder.load('other.json')", "other.json: no record of convladder"),
    ("convladder.load('half.json')", "half.json: no cases in this record"),
    ("convladder.run(layer='nope')", "unknown layer 'nope'; known: "),
    ("convladder.run('nope')", "nope"),
    ("convladder.run(batch='x')", "--batch"),
    ("convladder.compare('nope.json', 'other.json')", "nope.json"),
    ("convladder.duel(base_command='true')", "--new-command"),
    ("convladder.simulate('./nope')", "nope"),
    ("convladder.simulate(['true'], gpu='nope')", "unknown GPU 'nope'; known: k80, "),
])
def test_what_is_refused_is_one_line(tmp_path: Path, code: str, says: str) -> None:
    (tmp_path / "text.json").write_text("no record\n", encoding="utf-8")
    (tmp_path / "other.json").write_text('{"kind": "else"}', encoding="utf-8")
    (tmp_path / "half.json").write_text('{"schema_version": "1.1", "ladders": []}', encoding="utf-8")
    assert says in refused(code, tmp_path)


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert refused("convladder.version()", tmp_path, CONVLADDER_PROGRAM="/nope") == "CONVLADDER_PROGRAM: no program /nope\n"
    script = tmp_path / "convladder"
    script.write_text("#!/bin/sh\nexec python3 -m convladder\n", encoding="utf-8")
    script.chmod(0o755)
    for other in (script, tmp_path):
        assert "is a script or a folder" in refused("convladder.version()", tmp_path, CONVLADDER_PROGRAM=str(other))


def test_a_refusal_is_said_once(tmp_path: Path) -> None:
    done = python("convladder.run(layer='nope')", tmp_path)
    assert done.returncode == 1 and done.stderr.count("unknown layer 'nope'") == 1, done.stderr


def test_at_a_terminal_progress_moves_on_in_a_line(tmp_path: Path) -> None:
    own = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python"), "CONVLADDER_PROGRAM": str(PROGRAM)}
    reading, writing = pty.openpty()
    code = f"import convladder\nassert convladder.run({SMALL}).exit_code == 0"
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=own, stderr=writing) as process:
        os.close(writing)
        said = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while some := os.read(reading, 65536):
                said += some
    os.close(reading)
    assert process.returncode == 0 and b"\r\x1b[K" in said and b"0/2" in said, said


def test_programs_of_others_get_the_environment_of_the_caller(tmp_path: Path) -> None:
    code = "print(convladder.simulate(['sh', '-c', 'echo <$PYTHON>'.replace('<', '[').replace('>', ']')], progress=False).output, end='')"
    own = {name: value for name, value in os.environ.items() if name != "PYTHON"}
    done = subprocess.run([sys.executable, "-c", f"import convladder\n{code}"], cwd=tmp_path, check=False, capture_output=True, text=True,
                          env=own | {"PYTHONPATH": str(REPOSITORY / "python"), "CONVLADDER_PROGRAM": str(PROGRAM)})
    assert done.stdout == "[]\n", done.stderr


def test_a_run_is_what_the_program_records(tmp_path: Path) -> None:
    told: dict[str, Any] = json.loads(printed(f"""
import json
run = convladder.run({SMALL}, output="kept", progress=False)
print(json.dumps([run.exit_code, run.kind, str(run.path), run.document == convladder.load("kept").document,
                  [case["status"] for case in run.document["cases"]]]))""", tmp_path))
    assert told == [0, "run", "kept/run.json", True, ["ok", "ok"]]
    written = json.loads((tmp_path / "kept/run.json").read_text(encoding="utf-8"))
    assert written["context"]["options"]["repetitions"] == 5 and len(written["cases"]) == 2


def test_comparing_takes_runs_and_paths_and_keeps_the_exit_code(tmp_path: Path) -> None:
    told = json.loads(printed(f"""
import json
run = convladder.run({SMALL}, output="kept", progress=False)
found = [convladder.compare(run, "kept/run.json"), convladder.compare("kept/run.json", run), run.compare(run)]
print(json.dumps([[one.exit_code, one.counts["pass"], len(one.document["cases"])] for one in found]))""", tmp_path))
    plain = run("compare", "kept/run.json", "kept/run.json", "--format", "json", cwd=tmp_path)
    assert told == [[plain.returncode, json.loads(plain.stdout)["counts"]["pass"], 2]] * 3


def test_a_simulated_programs_output_and_exit_code_are_its_own(tmp_path: Path) -> None:
    for code in (0, 3, 130):
        told = printed(f"""
found = convladder.simulate(["sh", "-c", "echo it says; exit {code}"], progress=False)
print([found.output, found.exit_code, found.document["exit_code"]])""", tmp_path)
        assert told == f"['it says\\n', {code or 2}, {code}]\n", "2: no CUDA was seen"


def test_progress_is_for_who_asks(tmp_path: Path) -> None:
    code = "convladder.simulate(['sh', '-c', 'echo a warning >&2'], progress={})"
    assert python(code.format(False), tmp_path).stderr == ""
    shown = python(code.format(True), tmp_path)
    assert shown.returncode == 0 and "a warning\n" in shown.stderr and "nothing of it has called CUDA" in shown.stderr


def test_an_interrupt_ends_the_program_and_keeps_what_was_measured(tmp_path: Path) -> None:
    own = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python"), "CONVLADDER_PROGRAM": str(PROGRAM)}
    code = "import convladder\nconvladder.run(family='cpu', layer='lenet28.conv1', batch=10, budget=20, output='kept', progress=False)"
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=own, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("kept/*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in said and process.returncode != 0
    assert json.loads((tmp_path / "kept/run.json").read_text(encoding="utf-8"))["complete"] is False


@with_wheel
def test_cases_and_ladders_are_the_records_figures(tmp_path: Path) -> None:
    (tmp_path / "charts.py").write_text("raise SystemExit('a module of the user')\n", encoding="utf-8")
    printed(f"""
import pandas
run = convladder.run({SMALL}, output="kept", progress=False)
cases, ladder, samples = run.cases, run.ladder(), run.samples()
first, second = run.document["cases"]
by_id = cases.set_index("id")
for case in run.document["cases"]:
    row = by_id.loc[case["id"]]
    assert row["median_ns"] == case["time"]["median"] and row["low_ns"] == case["time"]["interval"]["low"]
    assert row["time"] == "measured" and row["samples"] == 5 and row["status"] == "ok"
    assert list(samples[samples.id == case["id"]].ns) == case["time"]["samples"]
rows = run.document["ladders"][0]["rows"]
assert list(ladder.index) == [row["variant"] for row in rows] == ["memory-accumulation", "local-accumulation"]
assert ladder.x_baseline.iloc[1] == rows[1]["x_baseline"]["value"] and ladder.x_baseline_low.iloc[1] == rows[1]["x_baseline"]["low"]
assert pandas.isna(cases.predicted_low_ns).all()
try:
    run.ladder("nope")
except convladder.ConvladderError as error:
    assert "no ladder of nope; the record has " in str(error), error
assert run.pictures["ladder"].svg.lstrip().startswith("<?xml") and "<svg" in run.pictures["ladder"].svg
run.pictures["ladder"].save("ladder.png")
assert "2 Accumulate in a reg" in run.table
assert "<table" in run._repr_html_()
""", tmp_path, interpreter=WITH_WHEEL)
    assert (tmp_path / "ladder.png").read_bytes()[:4] == b"\x89PNG"


@with_wheel
def test_counted_cases_have_counters_and_predictions(tmp_path: Path) -> None:
    printed("""
run = convladder.run(family="cuda", device="simulated", layer="lenet28.conv1", batch=2, variant=["global-memory", "shared-memory"],
                     progress=False)
(first, second) = run.document["cases"]
counters = run.counters().set_index("id")
name = "smsp__inst_executed.sum"
assert counters.loc[first["id"], name] == first["counters"]["totals"][name]
assert "dram__bytes_read.sum" in run.counters(modelled=True) and "dram__bytes_read.sum" not in counters
row = run.cases.set_index("id").loc[first["id"]]
gpu = next(one for one in first["prediction"]["gpus"] if one["gpu"] == "h100")
assert (row["predicted_low_ns"], row["predicted_high_ns"], row["predicted_for"], row["time"]) == (gpu["low"], gpu["high"], "h100", None)
assert len(run.predictions()) == sum(len(case["prediction"]["gpus"]) for case in run.document["cases"]) > 2
assert list(run.ladder().index) == ["global-memory", "shared-memory"]
""", tmp_path, interpreter=WITH_WHEEL)


@with_wheel
def test_the_notebook_runs_from_its_first_cell_to_its_last(tmp_path: Path) -> None:
    told = printed(f"""
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read({str(REPOSITORY / "docs/examples/first_steps.ipynb")!r}, 4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
print(sum("image/svg+xml" in output.get("data", {{}}) for output in outputs),
      sum("text/html" in output.get("data", {{}}) for output in outputs),
      [output.text for output in outputs if output.output_type == "stream" and output.name == "stdout"])
""", tmp_path, interpreter=WITH_WHEEL)
    assert told.startswith("1 ") and int(told.split()[1]) >= 6 and "unknown layer 'conv9'" in told


@with_wheel
def test_a_wheels_program_simulates_for_a_python_without_the_wheel(tmp_path: Path) -> None:
    code = "from convladder.simulated import native; print(native.__file__, (native.folder / 'ptxas').exists())"
    told = printed(f"print(convladder.simulate([{sys.executable!r}, '-c', {code!r}], progress=False).output, end='')", tmp_path,
                   interpreter=WITH_WHEEL)
    assert told.endswith("/site-packages/convladder/simulated/native.py True\n")
