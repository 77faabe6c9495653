"""The program's CUDA path on a device that is as unkind as a GPU: the stand-in by its real clock (docs/use/stand_in.md). Here
times are measured, claims are judged, and waits wait."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import only_with_all, record
from cuda_path import PROGRAM, needs_program, on_stand_in, settings_of

pytestmark = needs_program

TINY = ["--shape", "1,10,10,3,3", "--batch", "2", "--repetitions", "1", "--benchmark_min_time=0.0005"]
"""Kernels of a microsecond or two, which are soon executed."""


def unkind(tmp_path: Path, *arguments: object, clock: dict[str, Any] | None = None,
           **settings: Any) -> subprocess.CompletedProcess[str]:
    """Runs the program on the unkind device."""
    return on_stand_in(tmp_path, *arguments, "--output", tmp_path / "out", real_clock=clock or {}, **settings)


def ladder(tmp_path: Path, *arguments: object, variants: str = "global-memory,vectors-of-four", clock: dict[str, Any] | None = None,
           **settings: Any) -> dict[str, dict[str, Any]]:
    """The cases of these variants, by variant."""
    tmp_path.mkdir(exist_ok=True)
    done = unkind(tmp_path, "run", "--device", "cuda", *TINY, *arguments, *(["--variant", variants] if variants else []),
                  clock=clock, **settings)
    assert "crashed" not in done.stdout and done.stderr == "" and done.returncode in (0, 1), done
    return {one["id"].split("/")[1]: one for one in record(tmp_path / "out")["cases"]}


def statuses(found: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Of cases by variant, with the reason."""
    return {variant: f"{one['status']}: {one['reason']}" if one["reason"] else one["status"] for variant, one in found.items()}


@only_with_all
def test_the_whole_ladder_is_measured_and_no_stage_is_refused(tmp_path: Path) -> None:
    found = ladder(tmp_path, variants="")
    stages = {variant: one for variant, one in found.items() if one["rung"] is not None and one["status"] != "unsupported"}
    assert len(stages) >= 21 and set(statuses(stages).values()) == {"ok"}, statuses(stages)
    assert {one["time"]["kind"] for one in stages.values()} == {"measured"}


def test_no_stage_is_refused_because_nvml_is_slow(tmp_path: Path) -> None:
    found = ladder(tmp_path, libraries=["nvml"], clock={"nvml_ms": 2})
    assert set(statuses(found).values()) == {"ok"}, statuses(found)


@only_with_all
def test_a_kernel_takes_the_clock_that_it_runs_at(tmp_path: Path) -> None:
    size = ["--shape", "2,24,24,8,5", "--batch", "8"]
    fast, slow = (ladder(tmp_path / name, *size, variants="local-accumulation", clock={"ramp_ms": 0, "load_mhz": mhz})
                  for name, mhz in (("fast", 1980), ("slow", 495)))
    times = [one["local-accumulation"]["time"]["median"] for one in (fast, slow)]
    assert times[1] > 2 * times[0], times


@pytest.mark.parametrize("clock", [
    pytest.param({"ramp_ms": 40, "fall_ms": 5}, marks=only_with_all),
    {"throttles": [{"after_ms": 5, "every_ms": 30, "lasts_ms": 10, "mhz": 495}]},
    {"sharing": {"every_ms": 20, "slice_ms": 5, "memory_bytes": 1 << 30}},
    pytest.param({"launch_ns": 10_000, "event_ns": 2_000}, marks=only_with_all),
], ids=["ramp", "throttled", "shared", "slow-launches"])
def test_honest_stages_stand_whatever_the_device_does(tmp_path: Path, clock: dict[str, Any]) -> None:
    found = ladder(tmp_path, clock=clock)
    assert set(statuses(found).values()) == {"ok"}, statuses(found)


def test_nvml_says_who_else_is_there_and_what_an_idle_gpu_does(tmp_path: Path) -> None:
    ladder(tmp_path, variants="global-memory", libraries=["nvml"],
           clock={"nvml_ms": 0, "sharing": {"every_ms": 20, "slice_ms": 1}})
    facts = next(one["facts"] for one in record(tmp_path / "out")["context"]["devices"] if one["kind"] == "cuda")
    assert facts["other processes on it"] == "1"
    (one,) = record(tmp_path / "out")["cases"]
    assert one["device_state"]["temperature_celsius"] and "throttle_reasons" not in one["device_state"]


def test_a_throttled_case_says_why(tmp_path: Path) -> None:
    one = ladder(tmp_path, variants="global-memory", libraries=["nvml"],
                 clock={"nvml_ms": 0, "ramp_ms": 0, "throttles": [{"mhz": 495, "reason": 4}]})["global-memory"]
    assert "software power cap" in json.dumps(one["device_state"])


def peaks(tmp_path: Path, **clock: Any) -> list[float]:
    """Samples of the ceiling of multiply-adds, in GFLOP/s."""
    ladder(tmp_path, variants="global-memory", clock=clock)
    (ceilings,) = record(tmp_path / "out")["ceilings"]
    return next(limit["samples"] for limit in ceilings["limits"] if "GFLOP" in limit["unit"])


def test_a_gpu_that_has_rested_is_warm_before_its_first_sample(tmp_path: Path) -> None:
    """So no sample is taken again. NVML is not there: the clock is measured."""
    one = ladder(tmp_path, variants="global-memory", clock={"ramp_ms": 60, "fall_ms": 2000})["global-memory"]
    state = one["device_state"]
    assert state["clock_mhz"] and all(1950 <= mhz <= 2010 for mhz in state["clock_mhz"]), state
    assert "samples_taken_again" not in state
    assert {"launched", "cold"} <= {other.get("cache") for other in one["other_times"]}
    assert "empty kernel" in {other["of"] for other in one["other_times"]}


def test_ceilings_are_those_of_a_warm_gpu(tmp_path: Path) -> None:
    """On a busy host, too."""
    assert min(peaks(tmp_path / "cold", ramp_ms=90)) > 0.9 * min(peaks(tmp_path / "warm", ramp_ms=0))


@pytest.mark.parametrize("variant, clock", [("global-memory", {"launch_ns": 20_000}), ("cudnn", {"library_ns": 40_000})])
def test_a_short_kernel_is_not_published_at_the_rate_of_launches(tmp_path: Path, variant: str, clock: dict[str, Any]) -> None:
    one = ladder(tmp_path, variants=variant, libraries=["cudnn"], clock={"ramp_ms": 0, **clock})[variant]
    assert one["status"] == "ok", one["reason"]
    assert one["time"]["median"] < 0.75 * max(clock.values())


def test_a_network_is_measured(tmp_path: Path) -> None:
    done = unkind(tmp_path, "network", "--network", "lenet28", "--variant", "best", "--device", "cuda", "--batch", "2",
                  "--repetitions", "1")
    assert done.returncode == 0, done
    (one,) = record(tmp_path / "out", "network")["cases"]
    assert one["status"] == "ok", one["reason"]
    assert {step["time"]["kind"] for step in one["steps"]} == {"measured"}


@only_with_all
def test_fused_variants_are_measured(tmp_path: Path) -> None:
    done = unkind(tmp_path, "run", "--problem", "fused-convolution", "--device", "cuda", "--layer", "lenet28.conv1",
                  "--batch", "2", "--repetitions", "1", "--benchmark_min_time=0.0005")
    assert done.returncode == 0, done
    document = record(tmp_path / "out")
    assert [one["status"] for one in document["cases"]] == ["ok", "ok"], document["cases"]


@only_with_all
def test_a_sweep_is_measured(tmp_path: Path) -> None:
    done = unkind(tmp_path, "sweep", "--variant", "vectors-of-four", "--device", "cuda", "--shape", "1,10,10,3,3", "--limit", "2",
                  "--budget", "0.01")
    assert done.returncode == 0, done
    document = json.loads((tmp_path / "out/sweep.json").read_text(encoding="utf-8"))
    assert document["sweeps"][0]["scoring"]["kind"] == "measured"
    assert {one["status"] for one in document["cases"]} == {"ok"}, document["cases"]


def test_a_profile_is_taken(tmp_path: Path) -> None:
    done = on_stand_in(tmp_path, "profile", "--network", "lenet28", "--device", "cuda", "--batch", "2", "--cut", "100",
                       libraries=["cupti"], trace=str(tmp_path / "calls"), trace_calls=True, real_clock={})
    assert done.returncode == 0 and done.stderr == "" and "GPU activities" in done.stdout, done


def small_host(tmp_path: Path, available_kb: int) -> list[str]:
    """A command that runs what follows where /proc/meminfo says that so much is available."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here")
    lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    file = tmp_path / "meminfo"
    file.write_text("".join(f"MemAvailable: {available_kb} kB\n" if line.startswith("MemAvailable") else f"{line}\n" for line in lines),
                    encoding="utf-8")
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", f'mount --bind {file} /proc/meminfo && exec "$0" "$@"']
    if subprocess.run([*command, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    return command


def test_where_memory_is_small_what_fits_is_measured(tmp_path: Path) -> None:
    command = small_host(tmp_path, 1_000_000)
    environment = settings_of(tmp_path, real_clock={})
    done = subprocess.run([*command, str(PROGRAM), "run", "--device", "cuda", "--variant", "global-memory", "--layer", "lenet72.conv1",
                           "--batch", "1,10000", "--repetitions", "1", "--benchmark_min_time=0.0005", "--output", str(tmp_path / "out")],
                          env=environment, check=False, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode in (0, 1), done
    found = {one["id"].rsplit("/", 1)[1]: one for one in record(tmp_path / "out")["cases"]}
    assert (found["1"]["status"], found["10000"]["status"]) == ("ok", "skipped"), found["1"]["reason"]
    assert "batch 10000 needs" in found["10000"]["reason"]
