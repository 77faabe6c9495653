"""Sources for `convladder serve` whose verdicts are known, and clients of it."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Iterator

from conftest import PROGRAM
from submissions import BROKEN, CUDA, source

PLANTED: dict[str, tuple[str, str]] = {
    "right": ("OK", source(1)),
    "wrong": ("WRONG", BROKEN["wrong"][1]),
    "keeper": ("WRONG", BROKEN["keeper"][1]),
    "crasher": ("CRASHED", BROKEN["crasher"][1]),
    "hanger": ("TIMEOUT", BROKEN["hanger"][1]),
    "typo": ("COMPILE_ERROR", BROKEN["typo"][1]),
    "other signature": ("COMPILE_ERROR", 'extern "C" void solve(float* y, int R) {}'),
    "no head": ("COMPILE_ERROR", "// @tilte Tiles\n" + source(1)),
    "past the end": ("MEMORY or CRASHED", """
extern "C" void solve(const float* x, float* y, int R, int C) {
  for (int r = 0; r < R; ++r) {
    y[r] = 0;
    for (int c = 0; c < C; ++c) y[r] += x[r * C + c];
  }
  y[R] = 1;
}"""),
    "late": ("WRONG or CHEAT", """
#include <thread>
extern "C" void solve(const float* x, float* y, int R, int C) {
  std::thread([=] {
    for (int r = 0; r < R; ++r) {
      float sum = 0;
      for (int c = 0; c < C; ++c) sum += x[r * C + c];
      y[r] = sum;
    }
  }).detach();
}"""),
    "needs more": ("UNSUPPORTED", "// @requires mod(C, 4096) == 0\n" + source(1)),
}
"""By name: its status, and its source in C++. A stage that is stopped while it writes late has left nothing, or some of it."""

PLANTED_PYTHON = {
    "right": ("OK", "def solve(x, y, R, C):\n    y[...] = x.sum(axis=1)\n"),
    "wrong": ("WRONG", "def solve(x, y, R, C):\n    y[...] = x[:, 0]\n"),
    "raises": ("CRASHED or LAUNCH_FAILED", "def solve(x, y, R, C):\n    y[...] = x.sum(axis=1)\n    raise ValueError('no')\n"),
    "typo": ("COMPILE_ERROR", "def solve(x, y, R, C)\n    pass\n"),
    "other signature": ("COMPILE_ERROR", "def solve(x):\n    pass\n"),
    "not installed": ("UNAVAILABLE", "import no_such_package\n"),
}
"""As PLANTED, in Python."""

PLANTED_CUDA: dict[str, tuple[str, str]] = {
    "right": ("OK", CUDA),
    "wrong": ("WRONG", CUDA.replace("sum += x", "sum -= x")),
    "racy": ("RACE", """
__global__ void sums(const float* x, float* y, int R, int C) {
  __shared__ float parts[32];
  float sum = 0;
  for (int c = threadIdx.x; c < C; c += 32) sum += x[blockIdx.x * C + c];
  parts[threadIdx.x] = sum;
  if (threadIdx.x == 0) {
    for (int i = 1; i < 32; ++i) sum += parts[i];
    y[blockIdx.x] = sum;
  }
}
extern "C" void solve(const float* x, float* y, int R, int C) { sums<<<R, 32>>>(x, y, R, C); }
"""),
    "past the end": ("MEMORY", CUDA.replace("if (r < R) y[r] = sum;", "if (r < R) y[r + (1 << 20)] = y[r] = sum;")),
    "on the host": ("CHEAT", """
#include <vector>
extern "C" void solve(const float* x, float* y, int R, int C) {
  std::vector<float> values(R * C), sums(R);
  cudaMemcpy(values.data(), x, sizeof(float) * R * C, cudaMemcpyDeviceToHost);
  for (int r = 0; r < R; ++r) for (int c = 0; c < C; ++c) sums[r] += values[r * C + c];
  cudaMemcpy(y, sums.data(), sizeof(float) * R, cudaMemcpyHostToDevice);
}"""),
    "typo": ("COMPILE_ERROR", CUDA.replace("float sum", "flaot sum")),
}
"""The same in CUDA."""


class LineClient:
    """Somebody who writes lines to a server and reads its lines."""

    def __init__(self, path: Path) -> None:
        self.stream = socket.socket(socket.AF_UNIX)
        self.stream.settimeout(120)
        self.stream.connect(str(path))
        self._lines = self.stream.makefile("rb")

    def send(self, *requests: Any) -> None:
        """Requests as JSON; bytes and texts as they are."""
        for one in requests:
            line = one if isinstance(one, bytes) else (one if isinstance(one, str) else json.dumps(one)).encode()
            self.stream.sendall(line + b"\n")

    def answer(self) -> dict[str, Any]:
        """The next one."""
        line = self._lines.readline()
        assert line.endswith(b"\n"), line
        found: dict[str, Any] = json.loads(line)
        return found

    def answers(self, count: int) -> dict[Any, dict[str, Any]]:
        """So many, by id."""
        return {one["id"]: one for one in (self.answer() for _ in range(count))}

    def rest(self) -> bytes:
        """All that comes until the server closes the connection."""
        return self._lines.read()

    def close(self) -> None:
        self._lines.close()
        self.stream.close()


def started(ladder: Path, path: Path, *arguments: object) -> subprocess.Popen[str]:
    """A server that listens."""
    server = subprocess.Popen([str(PROGRAM), "serve", str(ladder), "--socket", str(path), *map(str, arguments)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    assert server.stdout is not None
    line = server.stdout.readline()
    assert line == f"listening at {path}\n", (line, server.stderr and server.poll() is not None and server.stderr.read())
    return server


def submission(number: Any, text: str, language: str = "cpp", **more: Any) -> dict[str, Any]:
    """A request."""
    return {"id": number, "source": text, "language": language, **more}


def facts(process: int) -> dict[str, int]:
    """Its resident memory in kB, its open files and its threads."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    values = {line.split(":")[0]: line.split()[1] for line in status.splitlines() if ":" in line and len(line.split()) > 1}
    return {"rss": int(values["VmRSS"]), "files": sum(1 for _ in Path(f"/proc/{process}/fd").iterdir()), "threads": int(values["Threads"])}


def is_as_planted(status: str, planted: str) -> bool:
    """Whether the status is the planted one, or one of them."""
    return status in planted.split(" or ")


def until(done: Any, seconds: float = 20) -> bool:
    """Whether it comes true in that time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def mixed(names: dict[str, tuple[str, str]], count: int) -> Iterator[tuple[int, str]]:
    """Numbers and names, each name as often as the others."""
    order = list(names)
    yield from ((i, order[i % len(order)]) for i in range(count))
