"""`--lines` and its page as users type them: of a PTX file, of two kernels, and of a program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import PROGRAM, REPOSITORY, run
from two_orders import LAUNCH, compiled_kernels, compiled_program, needs_nvcc, needs_stand_in, not_sanitized, simulated


@pytest.fixture(scope="module", name="ptx")
def _ptx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_kernels(tmp_path_factory.mktemp("unsteady"))


@pytest.fixture(scope="module", name="program")
def _program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_program(tmp_path_factory.mktemp("two_orders"))


@needs_nvcc
def test_lines_sum_up_to_the_counters(ptx: Path, tmp_path: Path) -> None:
    document = tmp_path / "all.json"
    code, said = simulated(ptx, "a_mean_of_a_sum_by_atomics", "--lines", "--output", str(document))
    assert code == 0, said
    assert "lines of a_mean_of_a_sum_by_atomics" in said and "atomicAdd(&sums[0]" in said, said
    made = json.loads(document.read_text(encoding="utf-8"))
    for figures in (made["lines"][0]["lines"], made["lines"][0]["instructions"]):
        sums: dict[str, float] = {}
        for line in figures:
            for name, value in line["counters"].items():
                sums[name] = sums.get(name, 0) + value
        for name, value in sums.items():
            assert made["counters"][name] == value, name
    assert abs(sum(line["share"] for line in made["lines"][0]["lines"]) - 1) < 1e-9


@needs_nvcc
def test_two_kernels_are_compared_by_line(ptx: Path, tmp_path: Path) -> None:
    page = tmp_path / "lines.html"
    done = run("simulate", ptx, "--entry", "the_first_block_takes_all", "--entry", "the_last_block_writes", *LAUNCH, "--lines", "--html",
               page)
    assert done.returncode == 0, done
    assert "lines that differ from A to B" in done.stdout, done.stdout
    text = page.read_text(encoding="utf-8")
    assert "From A to B" in text and "is_last" in text and "{{" not in text


@needs_nvcc
@needs_stand_in
@not_sanitized
def test_a_program_has_lines(program: Path, tmp_path: Path) -> None:
    page = tmp_path / "lines.html"
    done = run("simulate", "--lines", "--html", page, "--", program)
    assert done.returncode == 0, done
    assert "lines of places" in done.stderr and "if (threadIdx.x == 0) out[" in done.stderr, done.stderr
    assert "lines of steady" in done.stderr
    assert page.read_text(encoding="utf-8").count("<h2>") == 2


@needs_nvcc
def test_a_page_needs_lines(ptx: Path, tmp_path: Path) -> None:
    code, said = simulated(ptx, "the_last_block_writes", "--html", str(tmp_path / "page.html"))
    assert code == 3 and "--lines" in said, said


@needs_nvcc
@needs_stand_in
@not_sanitized
def test_the_document_of_a_program_is_as_its_schema_says(program: Path, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = tmp_path / "all.json"
    run("simulate", "--lines", "--schedules", "4", "--output", document, "--", program)
    schema = json.loads((REPOSITORY / "results/simulated_program.schema.json").read_text(encoding="utf-8"))
    made = json.loads(document.read_text(encoding="utf-8"))
    jsonschema.validate(made, schema)
    for kernel in made["processes"][0]["kernels"]:
        sums: dict[str, float] = {}
        for line in kernel["lines"]["lines"]:
            for name, value in line["counters"].items():
                sums[name] = sums.get(name, 0) + value
        assert sums["smsp__inst_executed.sum"] == kernel["counters"]["smsp__inst_executed.sum"]
        assert {name: kernel["counters"][name] for name in sums} == sums


@needs_nvcc
@needs_stand_in
@not_sanitized
def test_python_has_tables_of_orders_and_lines(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(str(REPOSITORY / "python"))
    monkeypatch.setenv("CONVLADDER_PROGRAM", str(PROGRAM))
    import convladder
    done = convladder.simulate([str(program)], schedules=30, lines=True, progress=False)
    assert dict(zip(done.orders["kernel"], done.orders["orders"])) == {"places": 30, "steady": 90}
    assert set(done.lines["kernel"]) == {"places", "steady"} and (done.lines["share"] > 0).any()


@needs_nvcc
@needs_stand_in
@pytest.mark.parametrize("words", [("--env",), ("--estimate", "--", "PROGRAM")])
def test_lines_that_nobody_would_see_are_refused(words: tuple[str, ...], program: Path) -> None:
    done = run("simulate", "--lines", *(program if word == "PROGRAM" else word for word in words))
    assert done.returncode == 3 and "--lines" in done.stderr, done
