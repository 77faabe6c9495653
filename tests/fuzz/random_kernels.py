#!/usr/bin/python3
"""Random CUDA kernels, on the simulated device and on a CPU emulation of a GPU that shares nothing with it.

Each source has some kernels and is ordinary CUDA. g++ compiles it too, with random_kernels/emulated_device.hpp in front,
which defines CUDA's names for the CPU: warps lane by lane, rounding by exact arithmetic. nvcc compiles it at -O0, at -O3
and with -use_fast_math for sm_75 to sm_120; a kernel compiled once is a compilation. Integers and rounded operations have
to agree to the bit, approximations to stay within the bounds of the PTX ISA, and no checker may find anything.

    tests/fuzz/random_kernels.py --count 1000
    tests/fuzz/random_kernels.py --seed 7 --count 100 --keep /tmp/differences

Exit status: 0 all agree, 1 there are differences, 3 it could not run, 77 nvcc is missing, 130 interrupted.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

from random_kernels.generator import SHARED_WORDS, SLOTS, Generator, Kernel, input_words, source_text
from random_kernels.operations import EMULATION

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]

KERNELS = 20
"""Of a source."""
OPTIONS = 5
"""With which a source is compiled."""
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)


class Options(NamedTuple):
    """How nvcc is called."""

    mode: str
    architecture: int

    @property
    def flags(self) -> list[str]:
        how = {"O0": ["-Xcicc", "-O0"], "G": ["-G"], "O3": ["-O3"], "fast": ["-use_fast_math", "-DFAST"]}[self.mode]
        return [f"-arch=compute_{self.architecture}", *how]

    def __str__(self) -> str:
        return f"{self.mode}, sm_{self.architecture}"


class Failed(Exception):
    """Something that has to work does not, with what it printed."""


class NotCompiled(Failed):
    """A source that a compiler refuses: the generator is wrong, or a reduction went too far."""


@dataclass
class Difference:
    kernel: str
    options: Options
    text: str


@dataclass
class Bench:
    """One source in a folder, and what is done with it."""

    folder: Path
    program: Path
    nvcc: str
    threads: int
    blocks: int = 2

    @property
    def words(self) -> int:
        return (4 + SLOTS) * self.threads * self.blocks + SHARED_WORDS

    def call(self, kind: type[Failed], *words: object) -> None:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", check=False,
                              timeout=900)
        if done.returncode != 0:
            raise kind(f"{' '.join(map(str, words))}\n{done.stdout[-1000:]}{done.stderr[-3000:]}")

    def write(self, text: str, data: bytes) -> None:
        (self.folder / "kernels.cu").write_text(text, encoding="utf-8")
        (self.folder / "input.bin").write_bytes(data)

    def compile_emulation(self) -> None:
        self.call(NotCompiled, "g++", "-std=c++20", "-O0", "-w", "-frounding-math", "-ffp-contract=off", "-fno-strict-aliasing",
                  "-include", EMULATION / "emulated_device.hpp", "-x", "c++", self.folder / "kernels.cu", "-o",
                  self.folder / "emulation")

    def emulate(self, options: Options) -> Path:
        expected = self.folder / f"expected_{options.mode}_{options.architecture}"
        expected.mkdir(exist_ok=True)
        self.call(Failed, self.folder / "emulation", options.architecture, int(options.mode == "fast"), self.blocks,
                  self.threads, self.words, self.folder / "input.bin", expected)
        return expected

    def simulate(self, options: Options, names: list[str]) -> list[dict]:
        ptx = self.folder / f"{options.mode}_{options.architecture}.ptx"
        self.call(NotCompiled, self.nvcc, "-w", "-ptx", *options.flags, self.folder / "kernels.cu", "-o", ptx)
        report = ptx.with_suffix(".json")
        report.unlink(missing_ok=True)
        done = subprocess.run(
            [str(self.program), "simulate", str(ptx), "--output", str(report), "--no-counters", "--threads", "1",
             *(word for name in names for word in ("--entry", name)), "--grid", str(self.blocks), "--block", str(self.threads),
             "--arg", f"in=in:u32:@{self.folder / 'input.bin'}", "--arg", f"out=inout:u32:fill:{self.words}:0",
             "--limit", "60s"], capture_output=True, text=True, errors="replace", check=False, timeout=900)
        if not report.exists():
            raise Failed(f"the simulated device refused it ({options}):\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
        document = json.loads(report.read_text(encoding="utf-8"))
        return document.get("simulations", [document])

    def differences(self, options: Options, names: list[str]) -> list[Difference]:
        expected = self.emulate(options)
        found = []
        for result in self.simulate(options, names):
            name = result["kernel"]
            text = None
            if result["fault"] or result["stopped"]:
                text = f"did not end: {result['fault'] or result['stopped']}"
            elif result["findings"]:
                text = f"a finding: {json.dumps(result['findings'][0])[:600]}"
            else:
                wrong = self.compared(result["outputs"][0]["values"], (expected / f"{name}.expected").read_bytes())
                text = f"{len(wrong)} words; {wrong[0]}" if wrong else None
            if text:
                found.append(Difference(name, options, text))
        shutil.rmtree(expected)
        return found

    def compared(self, values: list[int], expected: bytes) -> list[str]:
        everyone = self.threads * self.blocks
        wrong = []
        for index, (word, low, high) in enumerate(struct.iter_unpack("<QQQ", expected)):
            if word == 0:
                right = values[index] == low
                told = f"{low:#x}"
            elif word == 2:
                continue
            else:
                if word == 1:
                    value = struct.unpack("<f", struct.pack("<I", values[index]))[0]
                else:
                    value = struct.unpack("<d", struct.pack("<II", values[index], values[index + everyone]))[0]
                least, most = struct.unpack("<dd", struct.pack("<QQ", low, high))
                # Bounds the wrong way round: there is none.
                right = value != value if least != least else least > most or least <= value <= most
                told = f"{least!r} to {most!r}, found {value!r}"
            if not right:
                slot, thread = divmod(index, everyone)
                place = f"OUT({slot - 4})" if 4 <= slot < 4 + SLOTS else "a vector" if slot < 4 else \
                    f"accumulator {index - (4 + SLOTS) * everyone}"
                wrong.append(f"{place}, thread {thread}: {values[index]:#x} instead of {told}")
        return wrong


class Run:
    """All sources of a run."""

    def __init__(self, arguments: argparse.Namespace, nvcc: str) -> None:
        self.arguments = arguments
        self.nvcc = nvcc
        self.lock = threading.Lock()
        self.kernels = 0
        self.compilations = 0
        self.differences = 0
        self.begin = time.monotonic()

    def say(self, text: str) -> None:
        with self.lock:
            print(text, flush=True)

    def source(self, index: int, count: int, options: list[Options]) -> None:
        if self.arguments.seconds and time.monotonic() - self.begin > self.arguments.seconds:
            return
        draw = random.Random(f"{self.arguments.seed}/{index}")
        threads = draw.choice((32, 64, 96, 64, 40, 33))
        generator = Generator(draw, threads)
        kernels = [generator.make(f"k{i}") for i in range(count)]
        data = input_words(draw)
        with tempfile.TemporaryDirectory(prefix="random_kernels.") as folder:
            bench = Bench(Path(folder), self.arguments.program, self.nvcc, threads)
            bench.write(source_text(kernels, set()), data)
            differences = []
            names = [kernel.name for kernel in kernels]
            try:
                bench.compile_emulation()
                with self.lock:
                    self.kernels += len(kernels)
                for one in options:
                    differences += bench.differences(one, names)
                    with self.lock:
                        self.compilations += len(names)
            except (Failed, subprocess.TimeoutExpired) as failure:
                with self.lock:
                    self.differences += 1
                self.say(f"source {index}: {failure}")
                self.keep(bench, f"source_{index}", str(failure))
                return
            for difference in differences:
                with self.lock:
                    self.differences += 1
                self.say(f"source {index}, {difference.kernel}, {difference.options}: {difference.text}")
            if differences and self.arguments.keep:
                self.keep(bench, f"source_{index}", "\n".join(f"{one.kernel}, {one.options}: {one.text}" for one in differences))
                if self.arguments.reduce:
                    self.reduce(index, kernels, differences[0], data, bench)
        self.say(f"{self.compilations} of {self.arguments.count} compilations, {self.differences} differences, "
                 f"{time.monotonic() - self.begin:.0f} s")

    def keep(self, bench: Bench, name: str, text: str) -> None:
        if not self.arguments.keep:
            return
        folder = self.arguments.keep / name
        folder.mkdir(parents=True, exist_ok=True)
        for file in ("kernels.cu", "input.bin"):
            shutil.copy(bench.folder / file, folder)
        (folder / "differences.txt").write_text(text + "\n", encoding="utf-8")

    def reduce(self, index: int, kernels: list[Kernel], difference: Difference, data: bytes, bench: Bench) -> None:
        """Leaves out statements, many at first, for as long as the kernel still differs."""
        kernel = next(one for one in kernels if one.name == difference.kernel)
        left_out: set[int] = set()
        end = time.monotonic() + self.arguments.reduce
        last = difference

        def differs(tried: set[int]) -> Optional[Difference]:
            bench.write(source_text([kernel], tried), data)
            try:
                bench.compile_emulation()
                found = bench.differences(difference.options, [kernel.name])
            except (Failed, subprocess.TimeoutExpired):
                return None
            return found[0] if found else None

        nodes = [node for top in (*kernel.body, *kernel.globals) for node in top.every()]
        size = len(nodes)
        while size > 1 and time.monotonic() < end:
            size = (size + 1) // 2
            candidates = [node for node in reversed(nodes) if id(node) not in left_out]
            for start in range(0, len(candidates), size):
                if time.monotonic() > end:
                    break
                tried = left_out | {id(node) for node in candidates[start:start + size]}
                now = differs(tried)
                if now:
                    left_out, last = tried, now
        bench.write(source_text([kernel], left_out), data)
        self.keep(bench, f"source_{index}_{kernel.name}_reduced", f"{last.kernel}, {last.options}: {last.text}")

    def all(self) -> int:
        draw = random.Random(self.arguments.seed)
        whole = [Options(mode, architecture) for mode in ("O0", "G", "O3", "O3", "fast", "fast")
                 for architecture in ARCHITECTURES]

        def endless() -> Iterator[Options]:
            while True:
                draw.shuffle(whole)
                yield from whole
        ways = endless()
        left = self.arguments.count
        sources = []
        while left > 0:
            kernels = min(KERNELS, left)
            chosen = list(dict.fromkeys(itertools.islice(ways, min(OPTIONS, left // kernels))))
            sources.append((len(sources), kernels, chosen))
            left -= kernels * len(chosen)
        if self.arguments.source is not None:
            sources = [sources[self.arguments.source]]
        with ThreadPoolExecutor(self.arguments.jobs) as pool:
            try:
                list(pool.map(lambda one: self.source(*one), sources))
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                return 130
        print(f"{self.compilations} compilations of {self.kernels} kernels in "
              f"{time.monotonic() - self.begin:.0f} s, seed {self.arguments.seed}: {self.differences} differences")
        return 1 if self.differences else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="compilations (1000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same kernels")
    parser.add_argument("--source", type=int, help="only this one of them, as messages number it")
    parser.add_argument("--seconds", type=int, default=0, help="begin no further source after so long")
    parser.add_argument("--program", type=Path, help="default: build/release/convladder, or build/dev/convladder")
    parser.add_argument("--keep", type=Path, help="a folder for what differs: its source, its input, and that reduced")
    parser.add_argument("--reduce", type=int, default=120, help="seconds for reducing the first kernel of a source that differs (120)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not Path(nvcc).exists():
        print("random_kernels: skipped: nvcc is missing")
        return 77
    built = [REPOSITORY / "build" / preset / "convladder" for preset in ("release", "dev")]
    arguments.program = arguments.program or next((one for one in built if one.exists()), None)
    if arguments.program is None or not arguments.program.exists():
        print("random_kernels: convladder is not built: ninja -C build/release convladder, or --program", file=sys.stderr)
        return 3
    if arguments.count < 1:
        parser.error("--count: at least 1")
    return Run(arguments, nvcc).all()


if __name__ == "__main__":
    sys.exit(main())
