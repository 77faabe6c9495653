"""Counters of the simulated device beside those of a report of Nsight Compute, by metric."""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path

from conftest import LAYERS, SCRIPTS, RecordMaker

INSTRUCTIONS = "smsp__thread_inst_executed_pred_on.sum"
LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"


def report(folder: Path, name: str, *launches: tuple[str, str]) -> Path:
    """As ncu writes it: messages, a header, units, launches."""
    lines = ["==PROF== Connected to process 1", f'"ID","Kernel Name","{INSTRUCTIONS}","{LOADS}","other__metric.avg"',
             '"","","inst","sector","%"',
             *(f'"{index}","conv(float *, int)","{first}","{second}","1"' for index, (first, second) in
               enumerate(launches))]
    path = folder / f"{name}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def against(run: Path, *reports: Path) -> subprocess.CompletedProcess[str]:
    """Calls the program as a user does."""
    return subprocess.run([str(SCRIPTS / "against_ncu.py"), str(run), *map(str, reports)], capture_output=True,
                          encoding="utf-8", check=False, timeout=60)


def test_launches_are_summed_and_divided_by_what_was_counted(tmp_path: Path) -> None:
    document = copy.deepcopy(RecordMaker(layers=LAYERS[2:], batches=[8]).add_counted().record())
    run = tmp_path / "run.json"
    run.write_text(json.dumps(document), encoding="utf-8")
    totals = next(case for case in document["cases"] if case["variant"] == "shared-memory")["counters"]["totals"]
    half = f"{int(totals[INSTRUCTIONS] / 4):,}"
    done = against(run, report(tmp_path, "shared-memory.lenet72.conv2.8", (half, "0"), (half, "0")))
    assert (done.returncode, done.stderr) == (0, "")
    assert "## simulated/shared-memory/lenet72.conv2/8" in done.stdout
    lines = {line.split(" | ")[0].strip("| ").replace("\\", ""): line.split(" | ") for line in done.stdout.splitlines()}
    assert lines[INSTRUCTIONS][-1].strip(" |") == "0.500" and lines[LOADS][-1].strip(" |") == "0"
    assert not any("other" in name for name in lines)

    for name, text, expected in (("block-remap.lenet72.conv2.9", None, "has no \"simulated/block-remap/"),
                                 ("global-memory.lenet72.conv2.8", "no csv\n", "no line that begins with \"ID\""),
                                 ("local-accumulation.lenet72.conv2.8", f'"ID","{LOADS}"\n"0","many"\n',
                                  "expected a number, found many")):
        bad = report(tmp_path, name)
        if text:
            bad.write_text(text, encoding="utf-8")
        done = against(run, bad)
        assert done.returncode == 3 and expected in done.stderr and done.stderr.count("\n") == 1, done.stderr
