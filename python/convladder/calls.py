"""The program's commands as calls: `run`, `compare`, `duel` and `simulate`. Each returns what the program has recorded."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, TypeVar, Union

from convladder.program import ConvladderError, call, show, started, why
from convladder.records import Comparison, Duel, Record, Run, Simulation, load, of_document

PathLike = Union[str, "os.PathLike[str]"]
Several = Union[str, Iterable[str], None]
"""A name, or several."""
Numbers = Union[int, Iterable[int], None]
_Kind = TypeVar("_Kind", bound=Record)


def run(ladder: Optional[PathLike] = None, *, problem: Optional[str] = None, size: Several = None, family: Several = None,
        variant: Several = None, network: Several = None, layer: Several = None, device: Several = None, batch: Numbers = None,
        shape: Several = None, budget: Optional[float] = None, repetitions: Optional[int] = None, precision: Optional[float] = None,
        output: Optional[PathLike] = None, arguments: Sequence[str] = (), progress: bool = True) -> Run:
    """Verifies and measures cases, as `convladder run`.

    ladder: a folder with a problem.json, or the name of a problem; without it the convolution.
    size: of another problem, such as "C6H60W60K2S2". shape: a layer of the convolution, "C,H,W,M,K[,stride[,padding]]".
    batch: images a call. budget: seconds of measuring for each case. repetitions: exactly so many samples.
    precision: stop when half of the interval is below this fraction of the median.
    output: a folder for run.json; without it the record is only in what is returned.
    arguments: further words of the command line. progress: show the program's progress on the standard error.

    Cases that failed, are wrong or unsafe are in the result: see `Run.exit_code` and the column `status`.
    Raises ConvladderError where the program refuses.
    """
    words = ["run", *([os.fspath(ladder)] if ladder is not None else []), "--no-table"]
    for name, value in (("problem", problem), ("size", size), ("family", family), ("variant", variant), ("network", network),
                        ("layer", layer), ("device", device), ("batch", batch), ("shape", shape), ("budget", budget),
                        ("repetitions", repetitions), ("precision", precision)):
        words += _option(name, value)
    with tempfile.TemporaryDirectory(prefix="convladder-") as temporary:
        folder = Path(output) if output is not None else Path(temporary) / "run"
        done = call([*words, "--output", str(folder), *(["--no-report"] if ladder is not None and output is None else []), *arguments],
                    progress=progress, live=True)
        record = load(folder / "run.json")
    assert isinstance(record, Run)
    if output is None:
        record.path = None
    record.exit_code = done.returncode
    return record


def compare(base: Union[PathLike, Run], new: Union[PathLike, Run], *, tau: Optional[float] = None, delta: Optional[float] = None,
            alpha: Optional[float] = None, case: Optional[str] = None, arguments: Sequence[str] = ()) -> Comparison:
    """Did it get slower? Two recorded runs, case by case, as `convladder compare`.

    base, new: a Run or the path of a run.json. tau, delta: fractions above which a regression is shown and below which a pass is.
    alpha: how often a bound may be wrong. case: a regular expression; only cases whose id it matches.
    """
    words = ["compare"]
    with tempfile.TemporaryDirectory(prefix="convladder-") as temporary:
        for name, side in (("base", base), ("new", new)):
            if isinstance(side, Run):
                path = Path(temporary) / name / "run.json"
                path.parent.mkdir()
                path.write_text(json.dumps(side.document), encoding="utf-8")
                words.append(str(path))
            else:
                words.append(os.fspath(side))
        for name, value in (("tau", tau), ("delta", delta), ("alpha", alpha), ("case", case)):
            words += _option(name, value)
        done = call([*words, "--format", "json", *arguments], progress=False)
    return _of_output(done.stdout, done.returncode, Comparison)


def duel(ladder: Optional[PathLike] = None, *, base: Optional[PathLike] = None, new: Optional[PathLike] = None,
         base_command: Optional[str] = None, new_command: Optional[str] = None, base_variant: Optional[str] = None,
         new_variant: Optional[str] = None, metric: Several = None, variant: Several = None, layer: Several = None,
         size: Several = None, batch: Numbers = None, tau: Optional[float] = None, delta: Optional[float] = None,
         alpha: Optional[float] = None, rounds: Optional[int] = None, budget: Optional[float] = None,
         arguments: Sequence[str] = (), progress: bool = True) -> Duel:
    """Did it get slower? Two sides measured in turns, as `convladder duel`: two builds, two variants, or any two commands.

    base, new: builds or folders. base_command, new_command: shell commands; metric: what of them is compared (default wall time).
    tau, delta: fractions above which a regression is shown and below which a pass is. alpha: how often a verdict may be wrong.
    rounds: at most so many for a case. budget: seconds for the confirmation.
    """
    words = ["duel", *([os.fspath(ladder)] if ladder is not None else [])]
    for name, value in (("base", base), ("new", new), ("base-command", base_command), ("new-command", new_command),
                        ("base-variant", base_variant), ("new-variant", new_variant), ("metric", metric), ("variant", variant),
                        ("layer", layer), ("size", size), ("batch", batch), ("tau", tau), ("delta", delta), ("alpha", alpha),
                        ("rounds", rounds), ("budget", budget)):
        words += _option(name, value)
    done = call([*words, "--format", "json", *arguments], progress=progress, live=True)
    return _of_output(done.stdout, done.returncode, Duel)


def simulate(command: Union[str, PathLike, Sequence[str]], *, gpu: Optional[str] = None, checkers: Union[str, Iterable[str], None] = None,
             limit: Several = None, sample: Optional[int] = None, leak_check: bool = False, schedules: Optional[int] = None,
             seed: Optional[int] = None, lines: bool = False, folder: Optional[PathLike] = None,
             arguments: Sequence[str] = (), progress: bool = True) -> Simulation:
    """Runs a whole CUDA program on the simulated GPU, as `convladder simulate -- command`.

    command: the program and its words, such as ["python", "train.py"]; a single text is a program without words.
    gpu: as `--gpu` in `convladder simulate --help` (default h100). checkers: of memory, initialization, race, synchronization (default all), or none.
    limit: of a kernel: instructions ("10G") or time ("30s"). sample: only so many blocks of a launch run, and results are wrong.
    leak_check: memory that is never freed is a finding. folder: where the program runs.
    schedules: run each launch in so many other orders as well, from this seed on (`Simulation.orders`). lines: count by line (`Simulation.lines`).
    progress: show what the program prints on the standard error, and the report at its end.

    `Simulation.output` is what the program printed, `Simulation.exit_code` as docs/use/stand_in.md says: 1 where something was found.
    """
    program = [os.fspath(command)] if isinstance(command, (str, os.PathLike)) else [os.fspath(word) for word in command]
    words = ["simulate"]
    chosen = checkers if checkers is None or isinstance(checkers, str) else ",".join(checkers)
    for name, value in (("gpu", gpu), ("checkers", chosen), ("limit", limit), ("sample", sample), ("leak-check", leak_check),
                        ("schedules", schedules), ("seed", seed), ("lines", lines)):
        words += _option(name, value)
    with tempfile.TemporaryDirectory(prefix="convladder-") as temporary:
        record = Path(temporary) / "simulated.json"
        done = started([*words, "--output", str(record), *arguments, "--", *program], echo=show if progress else None, folder=folder)
        if not record.exists():
            raise ConvladderError(why(done))
        found = load(record)
    assert isinstance(found, Simulation)
    found.path, found.exit_code, found.output = None, done.returncode, done.stdout
    return found


def _option(name: str, value: Any) -> list[str]:
    """The words for an option that may have been left out, and may be there several times."""
    if value is None or value is False:
        return []
    if value is True:
        return [f"--{name}"]
    if isinstance(value, (str, int, float, os.PathLike)):
        return [f"--{name}", os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return [word for one in value for word in (f"--{name}", str(one))]


def _of_output(text: str, exit_code: int, kind: type[_Kind]) -> _Kind:
    record = of_document(json.loads(text))
    assert isinstance(record, kind)
    record.exit_code = exit_code
    return record
