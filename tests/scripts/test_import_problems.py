"""scripts/import_problems.py on small problems of the three formats: what of them becomes what, which are refused, and the audit."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from problem_sets import (CONVOLUTION, ENDLESS, MODULE, PYTHON, REFUSED_MODULES, RELU, SEGMENTS, TASK_REFERENCE, TIED, WORKLOADS, has_torch, needs_torch,
                          write_definition, write_module, write_task)

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

from convladder_problems import fills, shape_fit  # noqa: E402
from convladder_problems.found_problems import BadSource, found_problems, problem_name  # noqa: E402


def imported(*words: object, python: str = PYTHON) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-B", SCRIPTS / "import_problems.py", *map(str, words)], capture_output=True, text=True, timeout=600,
                          check=False, env=os.environ | {"PYTHON": python})


def problem_of(folder: Path) -> dict:
    return json.loads((folder / "problem.json").read_text(encoding="utf-8"))


def tensor(problem: dict, name: str) -> dict:
    return next(one for one in problem["tensors"] if one["name"] == name)


def answer(folder: Path, arguments: dict) -> dict:
    """What the folder's reference.py returns, as the program calls it."""
    code = ("import json, sys, numpy; sys.path.insert(0, sys.argv[1]); import reference\n"
            "a = {k: numpy.array(v[0], dtype=v[1]) if isinstance(v, list) else v for k, v in json.load(sys.stdin).items()}\n"
            "print(json.dumps({k: v.tolist() for k, v in reference.reference(**a).items()}))")
    given = {name: [one.tolist(), str(one.dtype)] if isinstance(one, numpy.ndarray) else one for name, one in arguments.items()}
    done = subprocess.run([PYTHON, "-B", "-c", code, folder], input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: numpy.array(one) for name, one in json.loads(done.stdout).items()}


# Without torch: what is found, which expressions and which fills.

def test_what_is_found(tmp_path: Path) -> None:
    write_module(tmp_path / "set/level1")
    write_definition(tmp_path / "set/definitions/reduce", workloads=[])
    write_task(tmp_path / "set/tasks")
    (tmp_path / "set/other.py").write_text("class Model: pass\n", encoding="utf-8")
    (tmp_path / "set/other.json").write_text("[1]", encoding="utf-8")
    found = found_problems([str(tmp_path / "set")])
    assert [(one.kind, one.name) for one in found] == [("definition", "segment-means"), ("kernelbench", "level1-7-gated-rows"),
                                                       ("gpu-mode", "tasks-picked")]
    assert sorted(name for _path, name in found[2].copied) == ["reference.py", "shared.py", "task.yml"]
    assert found[2].more["sizes"] == [{"size": 96, "groups": 3, "seed": 17}, {"size": 200, "groups": 2, "seed": 5},
                                      {"size": 5000, "groups": 2, "seed": 1}]


def test_workloads_lie_beside_a_definition_or_in_a_tree_of_their_own(tmp_path: Path) -> None:
    write_definition(tmp_path / "a")
    assert len(found_problems([str(tmp_path / "a")])[0].more["workloads"]) == 2
    write_definition(tmp_path / "definitions/reduce", workloads=[])
    (tmp_path / "workloads/reduce").mkdir(parents=True)
    (tmp_path / "workloads/reduce/definition.jsonl").write_text(json.dumps({"definition": "x", "workload": WORKLOADS[1]}) + "\n", encoding="utf-8")
    assert found_problems([str(tmp_path / "definitions")])[0].more["workloads"] == [WORKLOADS[1]]


def test_a_task_takes_no_file_from_far_away(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("x = 1\n", encoding="utf-8")
    task = 'files:\n  - {"name": "secret.py", "source": "../../../secret.py"}\ntests: []\n'
    path = write_task(tmp_path / "a/b", task=task)
    assert [name for _path, name in found_problems([str(path)])[0].copied] == ["reference.py", "task.yml"]


def test_names_are_problems_names_and_differ(tmp_path: Path) -> None:
    assert problem_name("7_Ünïcode") == "p7-n-code"
    assert len(problem_name("x" * 100)) == 60
    write_module(tmp_path / "a/level1")
    write_module(tmp_path / "b/level1")
    assert [one.name for one in found_problems([str(tmp_path)])] == ["level1-7-gated-rows", "level1-7-gated-rows-2"]


def test_sources_that_are_none(tmp_path: Path) -> None:
    for source, words in ((tmp_path / "none", "is not there"), (tmp_path, "expected a KernelBench module")):
        with pytest.raises(BadSource, match=words):
            found_problems([str(source)])


def fitted(number, own: dict[str, int], names: list[str] | None = None) -> str | None:
    """The expression for `number`, which throws for constants that do not go together."""

    def probe(values: dict[str, int]) -> dict | None:
        try:
            return {("out",): number(**values)}
        except ValueError:
            return None

    fit = shape_fit.Fit(probe, own)
    fit.letters = shape_fit.letters_of(list(own))
    return fit.expression(("out",), names or list(own))


def only_multiples(channels: int) -> int:
    if channels % 4:
        raise ValueError
    return channels // 4


@pytest.mark.parametrize("number, own, text", [
    (lambda h: h, {"h": 30}, "H"),
    (lambda h, k: h - k + 1, {"h": 30, "k": 3}, "H - K + 1"),
    (lambda h: (h + 2 - 3) // 2 + 1, {"h": 30}, "div(H + 1, 2)"),
    (lambda h: (h - 1) * 5 + 7, {"h": 9}, "5 * H + 2"),
    (lambda dim1, dim2: dim1 * dim2 * 3, {"dim1": 4, "dim2": 6}, "3 * DIMA * DIMB"),
    (only_multiples, {"channels": 16}, "div(CHANNELS, 4)"),
    (lambda n: n * n, {"n": 5}, "N * N"),
    (lambda n: n ^ 5, {"n": 9}, None),
    (lambda n, m: n % m, {"n": 900, "m": 7}, None),
])
def test_expressions(number, own: dict[str, int], text: str | None) -> None:
    assert fitted(number, own) == text


def test_letters_are_capitals_and_differ() -> None:
    assert shape_fit.letters_of(["dim1", "dim_2", "DIM1", "input_shape.0"]) == {
        "dim1": "DIMA", "dim_2": "DIMB", "DIM1": "DIMAX", "input_shape.0": "INPUTSHAPEJ"}


RANDOM = numpy.random.default_rng(4)


@pytest.mark.parametrize("make, kind", [
    (lambda: RANDOM.uniform(0, 1, (50, 40)), {"kind": "uniform", "low": 0.0, "high": 1.0}),
    (lambda: RANDOM.uniform(-0.25, 0.25, 4000), {"kind": "uniform", "low": -0.25, "high": 0.25}),
    (lambda: RANDOM.normal(0, 1, (50, 80)), {"kind": "normal", "mean": 0.0, "deviation": 1.0}),
    (lambda: numpy.ones((3, 5)), {"kind": "constant", "value": 1.0}),
    (lambda: RANDOM.integers(0, 2, (30, 30)) * 2.0 - 1, {"kind": "choice", "values": [-1.0, 1.0]}),
    (lambda: numpy.exp(x := RANDOM.normal(size=(40, 30))) / numpy.exp(x).sum(-1, keepdims=True), {"kind": "shares"}),
])
def test_fills_of_values(make, kind: dict) -> None:
    assert fills.float_fill([make(), make()]) == kind


@pytest.mark.parametrize("make, words", [
    (lambda: numpy.triu(RANDOM.uniform(0, 1, (60, 60))), "triangle"),
    (lambda: (x := RANDOM.normal(size=(60, 60))) + x.T, "symmetric"),
    (lambda: RANDOM.exponential(1, 4000), "neither uniform nor normal"),
    (lambda: numpy.array([1.0, numpy.inf]), "not finite"),
])
def test_values_that_no_fill_makes(make, words: str) -> None:
    with pytest.raises(fills.NoFill, match=words):
        fills.float_fill([make(), make()])


def test_what_fills_draw_is_found_again() -> None:
    for fill in ({"kind": "uniform", "low": -2.0, "high": 3.0}, {"kind": "choice", "values": [0.5, 2.0]}, {"kind": "shares"}):
        drawn = [fills.drawn(fill, (60, 50), numpy.random.default_rng(seed), None) for seed in (1, 2)]
        assert fills.float_fill(drawn) == fill
    offsets = fills.drawn({"kind": "offsets"}, (9,), RANDOM, 40)
    assert offsets[0] == 0 and offsets[-1] == 40 and (numpy.diff(offsets) >= 1).all()
    assert fills.drawn({"kind": "whole", "low": 0}, (1000,), RANDOM, 3).max() == 3


def test_python_without_torch_gets_one_line(tmp_path: Path) -> None:
    write_module(tmp_path)
    done = imported(tmp_path, "--output", tmp_path / "out", python="/bin/false")
    assert done.returncode == 3 and "/bin/false has no torch that works" in done.stderr and done.stderr.count("\n") == 1
    done = imported(tmp_path, "--output", tmp_path / "out", python="/none")
    assert done.returncode == 3 and "cannot start /none" in done.stderr


@pytest.mark.parametrize("words, said", [
    (["--seconds", "0"], "expected a number from 1 to 86400"), (["--memory", "much"], "expected a size such as 4GiB"),
    (["--small-bytes", "0"], "expected a size such as 4GiB"), (["--jobs", "-1"], "expected a number from 1 to 256"), (["--nothing"], "unrecognized")])
def test_bad_options_get_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    done = imported(tmp_path, *words)
    assert done.returncode == 3 and said in done.stderr and done.stderr.count("\n") == 1


# With torch.

@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One problem of each format, imported."""
    if not has_torch():
        pytest.skip("CONVLADDER_PYTHON names no python with torch")
    folder = tmp_path_factory.mktemp("three")
    write_module(folder / "sources/level1")
    write_definition(folder / "sources/segments")
    write_task(folder / "sources/tasks")
    done = imported(folder / "sources", "--output", folder / "out", "--audit")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "imported 3 of 3 problems" in done.stdout
    return folder / "out"


def test_a_module(three: Path) -> None:
    problem = problem_of(three / "level1-7-gated-rows")
    assert {letter: one["name"] for letter, one in problem["dimensions"].items()} == {"ROWS": "rows", "FEATURES": "features", "WIDTH": "width"}
    assert [(one["name"], one["role"], one["type"], one["shape"]) for one in problem["tensors"]] == [
        ("x", "in", "f32", ["ROWS", "FEATURES"]), ("mask", "in", "u8", ["ROWS"]), ("linear_weight", "in", "f32", ["WIDTH", "FEATURES"]),
        ("linear_bias", "in", "f32", ["WIDTH"]), ("y", "out", "f32", ["ROWS", "WIDTH"])]
    assert tensor(problem, "x")["fill"] == {"kind": "normal", "mean": 0.0, "deviation": 1.0}
    weight = tensor(problem, "linear_weight")["fill"]
    assert weight["kind"] == "uniform" and weight["high"] == pytest.approx(40**-0.5, rel=0.05)
    assert problem["scalars"] == [{"name": "gain", "type": "f32", "value": 1.5}]
    assert problem["comment"]["its own sizes"] == ["ROWS256FEATURES40WIDTH3"]
    assert "unused is left out: no answer depends on it" in problem["comment"]["notes"]
    assert problem["work"]["flop"] == "2 * ROWS * FEATURES * WIDTH"
    assert 1e-7 < tensor(problem, "y")["compare"]["tolerance"] <= 1e-4


def test_a_modules_reference(three: Path) -> None:
    random = numpy.random.default_rng(1)
    x, weight, bias = random.normal(size=(5, 4)), random.normal(size=(3, 4)), random.normal(size=3)
    mask = numpy.array([1, 0, 1, 1, 0], dtype=numpy.uint8)
    found = answer(three / "level1-7-gated-rows", {"x": x, "mask": mask, "linear_weight": weight, "linear_bias": bias, "gain": 1.25,
                                                   "ROWS": 5, "FEATURES": 4, "WIDTH": 3})["y"]
    y = (x @ weight.T + bias) * mask[:, None] * 1.25
    numpy.testing.assert_allclose(found, numpy.where(y > 0, y, 0.25 * y), rtol=1e-14)


def test_a_definition(three: Path) -> None:
    problem = problem_of(three / "segment-means")
    assert list(problem["dimensions"]) == ["NUMROWS", "NUMPARTS", "NUMPICKED"]
    assert problem["derived"] == {"LENINDPTR": "NUMPARTS + 1", "WIDTH": "24", "HALF": "div(WIDTH, 2)"}
    assert tensor(problem, "indptr")["fill"] == {"kind": "offsets", "last": "NUMPICKED"}
    assert tensor(problem, "indices")["fill"] == {"kind": "whole", "low": 0, "high": "NUMROWS - 1"}
    assert [(one["name"], one["type"]) for one in problem["tensors"] if one["role"] == "out"] == [("means", "f32"), ("largest", "bf16")]
    assert problem["comment"]["its own sizes"] == ["NUMROWS40NUMPARTS5NUMPICKED60", "NUMROWS7NUMPARTS2NUMPICKED2"]
    assert set(problem["comment"]["its own sizes"]) <= set(problem["sizes"])


def test_a_definitions_reference_is_in_float64(three: Path) -> None:
    table = numpy.random.default_rng(2).normal(size=(4, 24))
    found = answer(three / "segment-means", {"table": table, "indptr": numpy.array([0, 1, 4], dtype=numpy.int32),
                                             "indices": numpy.array([3, 0, 1, 1]), "gain": 0.75, "NUMROWS": 4, "NUMPARTS": 2, "NUMPICKED": 4})
    numpy.testing.assert_allclose(found["means"][1], 0.75 * table[[0, 1, 1]].mean(0)[:12], rtol=1e-14)
    assert found["largest"][0] == table[3].max()  # not rounded to bf16


def test_a_task(three: Path) -> None:
    problem = problem_of(three / "tasks-picked")
    assert list(problem["dimensions"]) == ["SIZE", "GROUPS"]
    assert [(one["name"], one["type"], one["shape"]) for one in problem["tensors"]] == [
        ("data0", "f32", ["GROUPS", "SIZE"]), ("data1", "i64", ["GROUPS"]), ("y", "f32", ["GROUPS", "SIZE"])]
    assert tensor(problem, "data1")["fill"] == {"kind": "whole", "low": 0, "high": "SIZE - 1"}
    assert problem["sizes"] == ["SIZE96GROUPS3", "SIZE200GROUPS2", "SIZE5000GROUPS2"]
    x = numpy.random.default_rng(3).normal(size=(2, 3))
    found = answer(three / "tasks-picked", {"data0": x, "data1": numpy.array([2, 0]), "SIZE": 3, "GROUPS": 2})["y"]
    numpy.testing.assert_allclose(found, x + x[[0, 1], [2, 0]][:, None], rtol=1e-15)


def test_the_audit_of_the_three(three: Path) -> None:
    audits = {one["problem"]: one["accepted"] for one in json.loads((three / "audit.json").read_text(encoding="utf-8"))}
    for audit in audits.values():
        assert all(audit["its own answer"].values())
        assert not any(verdicts["convladder"] for name, verdicts in audit.items() if name != "its own answer")
    # 1e-3 is what the task grants: half a place of bf16 is more, of half precision for numbers below 2 less.
    assert audits["tasks-picked"]["truncated to bf16"] == {"GPU MODE": False, "convladder": False}
    # 75 % of the elements are enough for the workload, and one of five is missing.
    assert audits["segment-means"]["right in 99 %"] == {"FlashInfer-Bench": False, "SOL-ExecBench": True, "convladder": False}
    assert audits["level1-7-gated-rows"]["half precision"]["KernelBench 0.1"]


def test_the_folder_tells_how_to_go_on(three: Path) -> None:
    text = (three / "segment-means/README.md").read_text(encoding="utf-8")
    assert ('extern "C" void solve(const __nv_bfloat16* table, const int32_t* indptr, const int64_t* indices, float* means, '
            '__nv_bfloat16* largest, float gain, int NUMROWS, int NUMPARTS, int NUMPICKED)') in text
    assert (three / "tasks-picked/original/task.yml").is_file()


@needs_torch
def test_shapes_with_strides_and_groups(tmp_path: Path) -> None:
    write_module(tmp_path / "a", CONVOLUTION)
    assert imported(tmp_path / "a", "--output", tmp_path / "out").returncode == 0
    problem = problem_of(tmp_path / "out/a-7-gated-rows")
    assert list(problem["dimensions"]) == ["BATCH", "CHANNELS", "LENGTH", "SIZE"]
    assert tensor(problem, "conv_weight")["shape"] == ["CHANNELS", "div(CHANNELS, 4)", "SIZE"]
    assert tensor(problem, "y")["shape"] == ["BATCH", "CHANNELS", "div(LENGTH - SIZE + 4, 2)"]


@needs_torch
def test_inputs_with_which_a_copy_is_right_are_widened(tmp_path: Path) -> None:
    write_module(tmp_path / "a", RELU)
    assert imported(tmp_path / "a", "--output", tmp_path / "out").returncode == 0
    x = tensor(problem_of(tmp_path / "out/a-7-gated-rows"), "x")
    assert x["fill"] == {"kind": "uniform", "low": -1.0, "high": 1.0} and "a copy of an input is right" in x["comment"]


@needs_torch
def test_constants_that_have_to_be_equal_are_one_dimension(tmp_path: Path) -> None:
    write_module(tmp_path / "a", TIED)
    assert imported(tmp_path / "a", "--output", tmp_path / "out").returncode == 0
    folder = tmp_path / "out/a-7-gated-rows"
    assert list(problem_of(folder)["dimensions"]) == ["N"]
    assert answer(folder, {"x": numpy.array([2.0, 3.0]), "z": numpy.array([4.0, 5.0]), "N": 2})["y"].tolist() == [8.0, 15.0]


@needs_torch
def test_what_cannot_be_imported_gets_a_line_each(tmp_path: Path) -> None:
    for name, (text, _) in REFUSED_MODULES.items():
        write_module(tmp_path / "set", text, f"{name.replace(' ', '_')}.py")
    write_module(tmp_path / "set", RELU, "good.py")
    done = imported(tmp_path / "set", "--output", tmp_path / "out", "--memory", "1GiB")
    assert done.returncode == 2
    assert f"imported 1 of {len(REFUSED_MODULES) + 1} problems" in done.stdout
    assert done.stderr.count("\n") == len(REFUSED_MODULES)
    for name, (_, reason) in REFUSED_MODULES.items():
        line = next(one for one in done.stderr.splitlines() if f"/{name.replace(' ', '_')}.py: " in one)
        assert f"not imported: {reason}" in line, line
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["set-good"]


@needs_torch
def test_a_problem_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    write_module(tmp_path / "a", ENDLESS)
    done = imported(tmp_path / "a", "--output", tmp_path / "out", "--seconds", "2")
    assert done.returncode == 3 and "not imported: it takes longer than the 2 s that --seconds allows" in done.stderr


@needs_torch
@pytest.mark.parametrize("change, reason", [
    ({"inputs": {**SEGMENTS["inputs"], "table": {"shape": ["num_rows", "width"], "dtype": "float8_e4m3fn"}}}, "table is of float8_e4m3fn"),
    ({"reference": ""}, "the definition has no reference"),
    ({"reference": "def other(): pass"}, "its reference has no function run"),
    ({"constraints": SEGMENTS["constraints"][:1]}, "nothing says where the offsets indptr end"),
    ({"outputs": {"means": SEGMENTS["outputs"]["means"]}}, "its reference returns 2 tensors, and it has 1 outputs"),
    ({"outputs": {**SEGMENTS["outputs"], "means": {"shape": ["num_parts", "width"], "dtype": "float32"}}},
     "its reference returns means with the shape [5, 12], and its definition says [5, 24]"),
    ({"axes": {**SEGMENTS["axes"], "half": {"type": "expr", "expression": "widest // 2"}}}, "its axis half depends on what is no axis"),
])
def test_definitions_that_are_refused(tmp_path: Path, change: dict, reason: str) -> None:
    write_definition(tmp_path / "a", SEGMENTS | change)
    done = imported(tmp_path / "a", "--output", tmp_path / "out")
    assert done.returncode == 3 and reason in done.stderr and done.stderr.count("\n") == 1, done.stderr


@needs_torch
@pytest.mark.parametrize("old, new, reason", [
    ("def ref_kernel", "def kernel", "its reference.py has no ref_kernel"),
    ("return x, picked, torch", "return {'x': x}, picked, torch", "its generate_input fails"),
    ("torch.randn(groups, size", "3 + torch.randn(groups, 40", "the shapes of its inputs depend on none"),
])
def test_tasks_that_are_refused(tmp_path: Path, old: str, new: str, reason: str) -> None:
    changed = TASK_REFERENCE.replace(old, new)
    if "40" in new:
        changed = changed.replace("(groups,)", "(3,)").replace("(groups, 40", "(3, 40").replace("torch.empty(groups, size", "torch.empty(3, 40")
    write_task(tmp_path / "a", changed)
    done = imported(tmp_path / "a", "--output", tmp_path / "out")
    assert done.returncode == 3 and reason in done.stderr and done.stderr.count("\n") == 1, done.stderr


@needs_torch
def test_a_folder_is_never_overwritten(tmp_path: Path) -> None:
    write_module(tmp_path / "a", RELU)
    assert imported(tmp_path / "a", "--output", tmp_path / "out").returncode == 0
    (tmp_path / "out/a-7-gated-rows/01_mine.cpp").write_text("// mine\n", encoding="utf-8")
    done = imported(tmp_path / "a", "--output", tmp_path / "out")
    assert done.returncode == 3 and "is there already" in done.stderr
    assert (tmp_path / "out/a-7-gated-rows/01_mine.cpp").is_file()


def test_the_module_of_these_tests_is_one() -> None:
    compile(MODULE, "module", "exec")
