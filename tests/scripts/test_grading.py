"""The rules that other tools decide by, on samples whose answer is known, and the tables of grade_comparators.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from calls import call
from conftest import SCRIPTS

sys.path.insert(0, str(SCRIPTS))

import grading_rules as rules  # noqa: E402  (found through the line above)

FEW, OTHERS = [1, 2, 4, 7], [3, 5, 6, 8, 9]


def test_p_values_are_those_of_scipy() -> None:
    assert rules.welch_p(FEW, OTHERS) == pytest.approx(0.161692920321795, rel=1e-9)
    assert rules.rank_sum_p(FEW, OTHERS) == pytest.approx(0.190476190476190, rel=1e-9), "exact: 24 of 126 orders"
    tied = [1, 2, 2, 3, 4, 5, 6, 7, 7, 8], [2, 3, 3, 4, 9, 10, 10, 11, 12, 13]
    assert rules.rank_sum_p(*tied) == pytest.approx(0.08083331192996937, rel=1e-9)
    assert rules.welch_p([1, 1], [1, 1]) == 1 and rules.welch_p([1, 1], [2, 2]) == 0 and rules.rank_sum_p([1] * 9, [1] * 9) == 1


def test_bounds_are_those_of_clopper_and_pearson() -> None:
    assert rules.exact_bounds(0, 299) == (0, pytest.approx(1 - 0.05 ** (1 / 299)))
    low, high = rules.exact_bounds(56, 59)
    assert (low, high) == (pytest.approx(0.87379344), pytest.approx(0.98599912))
    assert rules.exact_bounds(3, 3) == (pytest.approx(0.05 ** (1 / 3)), 1)


@pytest.mark.parametrize("shift, colour", [(1.051, "slower"), (1.049, "same"), (0.935, "same"), (0.925, "faster")])
def test_the_printed_ratio_is_red_above_5_and_cyan_below_7(shift: float, colour: str) -> None:
    assert rules.printed_ratio([10, 20], [10 * shift, 20 * shift]).verdict == colour


def test_the_smaller_noise_decides_and_the_number_of_samples_does_not() -> None:
    steady, loose = [99, 99.5, 100, 100.5, 101], [90, 96, 102, 108, 114]  # means 100 and 102, noise 0.8 and 9.3 %
    assert rules.smaller_noise(steady, loose) == ("slower", pytest.approx(0.02)), "2 % is well within the larger noise"
    assert rules.smaller_noise(loose, steady).verdict == "faster"
    wide = [90, 95, 100, 105, 110] * 200
    assert rules.smaller_noise(wide, [value * 1.05 for value in wide]).verdict == "same", "1000 samples do not help"
    assert rules.welch(wide, [value * 1.05 for value in wide]).verdict == "slower"
    assert rules.smaller_noise(steady[:4], loose).verdict == "unknown" and rules.smaller_noise([1] * 5, [2] * 5).verdict == "unknown"


def test_a_gap_between_fastest_and_third_quartile_decides() -> None:
    base = [100, 101, 102, 103, 200]  # from 100 to 103: one that is late does not count
    assert rules.clear_gap(base, [103.6] * 5) == ("slower", pytest.approx(103.6 / 102 - 1))
    assert rules.clear_gap(base, [103.4] * 5).verdict == "same", "apart by less than 0.5 %"
    assert rules.clear_gap(base, [99, 99.1, 99.2, 99.3, 300]).verdict == "faster"
    assert rules.clear_gap(base, [102, 110, 111, 112, 113]).verdict == "same", "one fast sample hides 9 %"


def trial(level: int, verdict: str, change: float) -> str:
    """A line of a file: equal samples, and an answer of the duel."""
    samples = [[10, 11, 12, 13, 14]] * 2
    return json.dumps({"kernel": "spin", "level": level, "samples": {"in turns": samples},
                       "answers": {"in turns": {"convladder duel": [verdict, change]}}})


def test_the_table_counts_what_is_wrong_and_what_is_found(tmp_path: Path) -> None:
    lines = [trial(0, "same", 0.01), trial(0, "slower", 0.03), trial(0, "unknown", 0.0), trial(5, "slower", 0.06),
             trial(5, "faster", -0.06), trial(5, "slower", 0.05)]
    (tmp_path / "trials.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = call("grade_comparators.py", "table", tmp_path / "trials.jsonl")
    assert done.returncode == 0, done.stderr
    errors, power = [line for line in done.stdout.splitlines() if "convladder duel" in line]
    assert " ".join(errors.split()) == "convladder duel 1 of 3 (2-86 %) 1 +0.5 +0.0 to +1.0"
    assert " ".join(power.split()) == "convladder duel 2 of 3 (14-98 %)"
    assert done.stdout.startswith("trials: spin 6\n")
    assert "0 of 3 (0-63 %)" in [line for line in done.stdout.splitlines() if "Welch" in line][0]


def test_what_is_no_trial_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text(trial(0, "same", 0) + '\n{"kernel": 1}\n', encoding="utf-8")
    done = call("grade_comparators.py", "table", tmp_path / "bad.jsonl")
    assert (done.returncode, done.stdout) == (3, "") and done.stderr.endswith("bad.jsonl: line 2 is no trial\n")
    assert call("grade_comparators.py", "table", tmp_path / "none.jsonl").returncode == 3
