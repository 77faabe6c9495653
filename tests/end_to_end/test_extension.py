"""A variant is one file: one that only a test knows is listed, planned, run and drawn."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from conftest import PROGRAM, REPOSITORY, SCRIPTS, SEEDED, SMALL, cases, record, run

NAME, TITLE = "seeded-correct", "Seeded: correct"
BASE = "memory-accumulation"
HYPOTHESIS = "It appears everywhere without being named anywhere."
FOLDERS = ["cmake", "datasets", "devices", "harness", "network", "scripts", "variants"]


def test_no_other_file_knows_it() -> None:
    holders = [str(path) for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*")
               if path.is_file() and (NAME in (text := path.read_text(errors="replace")) or TITLE in text)]
    assert holders == []
    assert NAME not in run("list", program=PROGRAM).stdout


def test_it_is_listed_in_its_place() -> None:
    listed = run("list", program=SEEDED).stdout
    assert NAME in listed and TITLE in listed and HYPOTHESIS in listed
    variants = [one for one in json.loads(run("list", "--format", "json", program=SEEDED).stdout)["variants"]
                if one["family"] == "cpu"]
    one = next(one for one in variants if one["name"] == NAME)
    assert one == {"family": "cpu", "rung": 120, "name": NAME, "title": TITLE, "builds_on": BASE,
                   "hypothesis": HYPOTHESIS}
    rungs = [one["rung"] for one in variants if one["rung"] is not None]
    assert rungs == sorted(rungs) and 120 in rungs, "by rung, and libraries last"
    assert [one["rung"] for one in variants[:len(rungs)]] == rungs


def test_it_can_be_named_and_is_proposed() -> None:
    assert f"/{NAME}/" in run("run", *SMALL, "--variant", NAME, "--dry-run", program=SEEDED).stdout
    refused = run("run", "--variant", "seeded-corect", program=SEEDED)
    assert f"known: {NAME}," in refused.stderr


def test_it_is_run_and_drawn(tmp_path: Path) -> None:
    done = run("run", *SMALL, "--variant", f"{BASE},{NAME}", "--batch", "4", "--output", tmp_path, program=SEEDED)
    assert (done.returncode, done.stderr) == (0, "")
    document = record(tmp_path)
    assert [one["name"] for one in document["variants"]] == [BASE, NAME]
    one = cases(document)[f"cpu/{NAME}/shape.C1H8W8M2K3/4"]
    assert (one["status"], one["rung"]) == ("ok", 120) and one["time"]["median"] > 0
    row = document["ladders"][0]["rows"][1]
    assert row["variant"] == NAME and row["x_previous"]["value"] > 0 and row["x_baseline"]["value"] > 0

    charts = subprocess.run([str(SCRIPTS / "charts.py"), str(tmp_path / "run.json"), "--format", "svg", "--table"],
                            capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert (charts.returncode, charts.stderr) == (0, "")
    assert TITLE in charts.stdout and TITLE in (tmp_path / "table.md").read_text(encoding="utf-8")
    texts = [element.text or "" for element in ElementTree.parse(tmp_path / "ladder.svg").iter()]
    assert any(TITLE in text for text in texts)
