"""Duels on a device that is as unkind as a GPU: test_unkind_device.py."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import only_with_all
from cuda_path import needs_program, on_stand_in

pytestmark = needs_program


@only_with_all
def test_a_duel_is_measured(tmp_path: Path) -> None:
    done = on_stand_in(tmp_path, "duel", "--base-variant", "global-memory", "--new-variant", "global-memory", "--device", "cuda",
                       "--shape", "1,10,10,3,3", "--batch", "2", "--rounds", "13", "--output", tmp_path / "duel.json",
                       real_clock={"launch_ns": 20_000})
    document = json.loads((tmp_path / "duel.json").read_text(encoding="utf-8"))
    assert "measured in turns" in done.stdout and done.returncode in (0, 1), done
    (one,) = document["cases"]
    assert one["verdict"] != "failed", one["reason"]
    assert one["replayed"] and max(one["base_median"], one["new_median"]) < 5_000, "less than a launch takes"
