"""`convladder simulate -- python program.py`: the lines of Python in findings, the environment that Python gets, and, where the python
that CONVLADDER_PYTHON names has torch and Triton, these on a GPU that is not there."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAM, is_sanitized, run

STAND_IN = PROGRAM.parent / "stand_in"
OURS = STAND_IN / "python"
PYTHON = os.environ.get("CONVLADDER_PYTHON", "/usr/bin/python3")

pytestmark = [pytest.mark.skipif(not (STAND_IN / "libcudart.so.13").exists(), reason="no stand-in in this build"),
              pytest.mark.skipif(is_sanitized(), reason="a program without sanitizers cannot load a library with them")]


def has(*packages: str) -> bool:
    """Whether that python has them."""
    return subprocess.run([PYTHON, "-c", f"import {', '.join(packages)}"], capture_output=True, check=False).returncode == 0


needs_torch = pytest.mark.skipif(not has("torch", "triton"), reason="CONVLADDER_PYTHON names no python with torch and Triton")


def simulated(folder: Path, text: str, *options: str, python: str = "/usr/bin/python3", **others: Any) -> subprocess.CompletedProcess[str]:
    """A program of Python, as program.py."""
    (folder / "program.py").write_text(text, encoding="utf-8")
    return run("simulate", *options, "--output", folder / "report.json", "--", python, "program.py", cwd=folder, **others)


def findings(folder: Path) -> list[tuple[str, str, int]]:
    """(checker, host's function, host's line) of each, with the file of the program."""
    found = []
    for process in json.loads((folder / "report.json").read_text(encoding="utf-8"))["processes"]:
        for one in process["findings"]:
            assert one["host"]["file"].endswith("program.py"), one
            found.append((one["checker"], one["host"]["function"], one["host"]["line"]))
    return found


def line_of(text: str, comment: str) -> int:
    """The line that ends in this comment."""
    (number,) = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# " + comment)]
    return number


def test_a_line_of_python_is_named(tmp_path: Path) -> None:
    text = """
import ctypes
cuda = ctypes.CDLL("libcudart.so.13")
def work():
    place = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(place), 64)
    host = ctypes.create_string_buffer(64)
    cuda.cudaMemcpy(host, place, ctypes.c_size_t(64), 2)  # never written
work()
"""
    done = simulated(tmp_path, text)
    assert done.returncode == 1, done.stdout + done.stderr
    assert findings(tmp_path) == [("initcheck", "work", line_of(text, "never written"))]
    assert "in work, program.py line 8" in done.stderr


def test_an_attribute_that_only_newer_drivers_know_is_refused_and_not_listed(tmp_path: Path) -> None:
    text = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cuInit(0); cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0); cuda.cuCtxSetCurrent(context)
cuda.cuModuleLoadData(ctypes.byref(module), b".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { ret; }")
cuda.cuModuleGetFunction(ctypes.byref(function), module, b"k")
print(cuda.cuFuncSetAttribute(function, 999, 1), cuda.cuFuncSetAttribute(function, 8, -1))
"""
    done = simulated(tmp_path, text)
    assert done.stdout == "1 1\n", done.stderr
    assert done.stderr.count("cuFuncSetAttribute answered") == 1 and "(2 times)" not in done.stderr, done.stderr


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_every_process_of_multiprocessing_reports(tmp_path: Path, method: str) -> None:
    text = f"""
import ctypes, multiprocessing
def work(bytes):
    cuda, place = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(place), bytes)
    cuda.cudaMemcpy(ctypes.create_string_buffer(bytes), place, ctypes.c_size_t(bytes), 2)  # never written
if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    processes = [context.Process(target=work, args=(64 + number,)) for number in range(2)]
    for one in processes: one.start()
    for one in processes: one.join()
    print([one.exitcode for one in processes])
"""
    done = simulated(tmp_path, text)
    assert (done.stdout, done.returncode) == ("[0, 0]\n", 1), done.stderr
    assert findings(tmp_path) == [("initcheck", "work", line_of(text, "never written"))] * 2
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["ended_without_report"] == []


def test_processes_without_a_report_are_counted_by_their_shortened_names(tmp_path: Path) -> None:
    text = """
import ctypes, subprocess, sys
code = "import ctypes, os, signal; ctypes.CDLL('libcudart.so.13').cudaFree(None); os.kill(os.getpid(), signal.SIGKILL)" + " " * 500 + "# the end"
for _ in range(3): subprocess.run([sys.executable, "-c", code], check=False)
"""
    done = simulated(tmp_path, text)
    assert done.returncode == 2 and done.stderr.count("ended without a report") == 1, done.stderr
    assert "ended without a report 3 times" in " ".join(done.stderr.split()) and "# the end" not in done.stderr


def test_sitecustomize_of_others_still_runs(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "sitecustomize.py").write_text("import builtins\nbuiltins.theirs = 'ran'\n", encoding="utf-8")
    environment = dict(os.environ, PYTHONPATH=str(theirs), PYTORCH_NO_CUDA_MEMORY_CACHING="0")
    text = "import os\nprint(theirs, os.environ['PYTHONPATH'], os.environ['PYTORCH_NO_CUDA_MEMORY_CACHING'])\n"
    done = simulated(tmp_path, text, env=environment)
    assert done.stdout == f"ran {OURS}:{theirs} 0\n", "what the user has set stays: " + done.stderr


def test_ptxas_hands_ptx_on(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text("// PTX\n", encoding="utf-8")
    real = tmp_path / "real"
    real.write_text('#!/bin/sh\n[ "$1" = --version ] && { echo "release 13.1, V13.1.0"; exit; }\necho "spills: 4" >&2\n'
                    '[ ! -e broken ] || { echo "syntax error" >&2; exit 7; }\necho machine code > "$4"\n', encoding="utf-8")
    real.chmod(0o755)

    def ptxas(*words: str, there: bool = True) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": "/usr/bin:/bin", **({"CONVLADDER_PTXAS": str(real)} if there else {})}
        return subprocess.run([OURS / "ptxas", *words], cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False)

    words = ("--gpu-name=sm_90a", "k.ptx", "-o", "k.cubin")
    for there in (True, False):
        done = ptxas(*words, there=there)
        assert (done.returncode, done.stderr) == (0, "spills: 4\n" if there else "")
        assert (tmp_path / "k.cubin").read_bytes() == b"// PTX\n\0"
    assert ptxas("--version").stdout == "release 13.1, V13.1.0\nconvladder: PTX is handed on\n"
    assert "release 13.0" in ptxas("--version", there=False).stdout
    (tmp_path / "broken").touch()
    done = ptxas(*words)
    assert (done.returncode, done.stderr) == (7, "spills: 4\nsyntax error\n")


def test_a_package_that_is_looked_for_first_is_prepared_and_own_settings_are_told(tmp_path: Path) -> None:
    real = tmp_path / "triton/backends/nvidia/bin/ptxas"
    real.parent.mkdir(parents=True)
    real.write_text("#!/bin/sh\n", encoding="utf-8")
    real.chmod(0o755)
    (tmp_path / "triton/__init__.py").touch()
    text = ("import ctypes, importlib.util, os\nctypes.CDLL('libcudart.so.13').cudaFree(None)\nimportlib.util.find_spec('triton')\nimport triton\n"
            "print(os.environ['CONVLADDER_PTXAS'])\n")
    done = simulated(tmp_path, text, env=dict(os.environ, TRITON_PTXAS_PATH="/other/ptxas"))
    assert (done.stdout, done.returncode) == (f"{real}\n", 0), done.stderr
    assert "TRITON_PTXAS_PATH=/other/ptxas was set before" in done.stderr


@pytest.mark.parametrize("blocking, statuses", [("0", "0 719"), ("1", "719 719")])
def test_a_launch_blocks_where_the_user_wants_it(tmp_path: Path, blocking: str, statuses: str) -> None:
    text = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuModuleLoadData(ctypes.byref(module), b".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry f() { trap; ret; }")
cuda.cuModuleGetFunction(ctypes.byref(function), module, b"f")
print(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, None), cuda.cuCtxSynchronize())
"""
    done = simulated(tmp_path, text, env=dict(os.environ, CUDA_LAUNCH_BLOCKING=blocking))
    assert done.stdout == statuses + "\n", done.stdout + done.stderr


TESTS = """
import ctypes
cuda = ctypes.CDLL("libcudart.so.13")
def read(written):
    place, host = ctypes.c_void_p(), ctypes.create_string_buffer(64)
    cuda.cudaMalloc(ctypes.byref(place), 64)
    cuda.cudaMemset(place, 0, ctypes.c_size_t(written))
    cuda.cudaMemcpy(host, place, ctypes.c_size_t(64), 2)
def test_right(): read(64)
def test_wrong(): read(32)
def test_wrong_again(): read(16)
"""


def test_each_test_of_pytest_has_its_own_findings(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    words = ("/usr/bin/python3", "-m", "pytest", "-q", "-p", "convladder", "-p", "no:cacheprovider", "test_it.py")
    done = run("simulate", "--", *words, cwd=tmp_path)
    assert done.returncode == 1 and "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("convladder: 1 finding on the simulated GPU") == 2
    assert "0 kernels, 0 launches, 2 findings in 2 tests" in done.stdout
    assert re.search(r"initcheck: copy to the host of 48 bytes that nothing has written: .*, in test_it.py line 8", done.stdout), done.stdout
    done = run("simulate", "--error-exitcode", "5", "--", *words, "--convladder-findings", "show", cwd=tmp_path)
    assert done.returncode == 5 and "3 passed" in done.stdout, done.stdout + done.stderr
    alone = subprocess.run([*words[:-1], "--co", "test_it.py"], cwd=tmp_path, env=dict(os.environ, PYTHONPATH=str(OURS), LD_LIBRARY_PATH=str(STAND_IN)),
                           capture_output=True, encoding="utf-8", check=False)
    assert alone.returncode == 0, "without a simulated GPU the plugin does nothing: " + alone.stdout + alone.stderr


@needs_torch
def test_torch_is_prepared_where_pytest_takes_all_files_for_tests(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_files = *.py\n", encoding="utf-8")
    (tmp_path / "it.py").write_text("import torch\ndef test_it(): assert torch.ones(3, device='cuda').sum() == 3\n", encoding="utf-8")
    done = run("simulate", "--", PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "it.py", cwd=tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


KERNELS = """
import torch, triton, triton.language as tl
@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)
@triton.jit
def add_too_far(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n))  # no mask
def call(kernel, x, y):
    o = torch.empty_like(x)
    kernel[(4,)](x, y, o, 1000, B=256)  # launch
    return o
torch.manual_seed(0)
x, y = torch.randn(1000, device="cuda"), torch.randn(1000, device="cuda")
"""


@needs_torch
def test_a_kernel_of_triton_and_a_mask_that_is_missing(tmp_path: Path) -> None:
    text = KERNELS + "print(torch.equal(call(add, x, y), x + y))\n"
    done = simulated(tmp_path, text, python=PYTHON)
    assert (done.stdout, done.returncode, findings(tmp_path)) == ("True\n", 0, []), done.stderr
    text = KERNELS + "call(add_too_far, x, y)\n"
    done = simulated(tmp_path, text, python=PYTHON)
    assert done.returncode == 1 and findings(tmp_path) == [("memcheck", "call", line_of(text, "launch"))], done.stderr
    assert "in add_too_far[B=256, 4 warps, 3 stages], PTX line" in done.stderr and f"program.py line {line_of(text, 'no mask')}" in done.stderr


TUNED = """
import torch, triton, triton.language as tl
configurations = [triton.Config({"B": 64}, num_warps=2), triton.Config({"B": 256}, num_warps=4)]
@triton.jit
def half(x): return x * 0.5
@triton.autotune(configs=configurations, key=["n"])
@triton.jit
def right(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, half(tl.load(x + i, mask=i < n)), mask=i < n)
@triton.autotune(configs=configurations, key=["n"])
@triton.jit
def stale(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, half(tl.load(x + i, mask=i < n)), mask=(i < n) & (i % B < 64))
x = torch.randn(1, 1024, device="cuda").t()  # a column: its last stride is 1024
for kernel in (right, stale): kernel[lambda meta: (triton.cdiv(1024, meta["B"]),)](x, torch.zeros_like(x), 1024)
from triton.tools.tensor_descriptor import TensorDescriptor
@triton.autotune(configs=[triton.Config({"K": 1}), triton.Config({"K": 2})], key=[])
@triton.jit
def scaled(x, y, K: tl.constexpr): y.store([0, 0], x.load([0, 0]) * K)
scaled[(1,)](*(TensorDescriptor.from_tensor(one, [16, 32]) for one in (x[:512].view(16, 32), torch.zeros(16, 32, device="cuda"))))
"""


@needs_torch
def test_configurations_are_told_one_by_one(tmp_path: Path) -> None:
    done = simulated(tmp_path, TUNED, python=PYTHON)
    assert (done.returncode, findings(tmp_path)) == (0, []), done.stderr
    process = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["processes"][0]
    assert {(kernel["name"], kernel["configuration"]) for kernel in process["kernels"] if kernel["name"] != "scaled"} == {
        (name, text) for name in ("right", "stale") for text in ("B=64, 2 warps, 3 stages", "B=256, 4 warps, 3 stages")}
    told = {one["kernel"]: one for one in process["tunings"]}
    assert told["right"]["arguments"] == "n=1024"
    assert [one["result"] for one in told["right"]["tried"]] == ["the first's", "the same"]
    assert "y differs by " in told["stale"]["tried"][1]["result"] and "wrong?" in told["stale"]["tried"][1]["result"]
    assert "y differs by 5.0e-01" in told["scaled"]["tried"][1]["result"]
    assert all(one["predicted_ns"] > 0 for one in told["right"]["tried"])
    assert "autotuned: right for n=1024" in done.stderr


GRAPHS = """
import threading, torch
def make():
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)).cuda()
    return net, torch.optim.Adam(net.parameters(), lr=0.01, capturable=True)
def step(net, opt):
    opt.zero_grad(set_to_none=True)
    loss = (net(x) - t).square().mean(); loss.backward(); opt.step()
    return loss
x = torch.randn(64, 16, device="cuda"); t = x[:, :1].clone()
made = make()
s = torch.cuda.Stream(); s.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(s):
    for _ in range(3): step(*made)
torch.cuda.current_stream().wait_stream(s)
g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g): loss, noise = step(*made), torch.rand(4, device="cuda")
def busy():
    for _ in range(100): torch.ones(10, device="cuda").sum().item()
other = threading.Thread(target=busy); other.start()
replayed, noises = [], []
for _ in range(5):
    g.replay(); replayed.append(loss.item()); noises.append(noise.tolist())
other.join()
made = make()
eager = [step(*made).item() for _ in range(8)][3:]
print(replayed == eager, noises[0] != noises[1])
h = torch.cuda.CUDAGraph()
i, w = torch.zeros(4, dtype=torch.long, device="cuda"), torch.randn(3, device="cuda")
with torch.cuda.graph(h): w[i]
i.fill_(7)
try: h.replay()
except IndexError as error: print(error)
try:
    with torch.cuda.graph(torch.cuda.CUDAGraph()): w.sum().item()
except Exception as error: print("not permitted" in str(error))
"""


@needs_torch
def test_a_graph_computes_operators_again(tmp_path: Path) -> None:
    done = simulated(tmp_path, GRAPHS, python=PYTHON)
    assert done.stdout == "True True\nindex 7 is out of bounds for dimension 0 with size 3\nTrue\n", done.stdout + done.stderr
    assert findings(tmp_path) == [], done.stderr


@needs_torch
def test_triton_finds_the_driver_without_torch(tmp_path: Path) -> None:
    """A linker may leave our libcuda.so.1 out of Triton's extensions: --as-needed."""
    done = simulated(tmp_path, "import ctypes, sys, triton\nprint('torch' in sys.modules, ctypes.CDLL(None).cuInit(0))\n", python=PYTHON)
    assert done.stdout == "False 0\n", done.stdout + done.stderr


TORCH = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def same(name, on_gpu, on_host, tolerance=1e-5):
    if not torch.allclose(on_gpu.cpu().float(), on_host.float(), atol=tolerance, rtol=tolerance): print("wrong:", name)
a, b = torch.randn(33, 65, dtype=torch.float16), torch.randn(65, 17, dtype=torch.float16)
same("mm", a.cuda() @ b.cuda(), (a.float() @ b.float()).half(), 0)
o = torch.empty(33, 17, dtype=torch.float16, device="cuda")
torch.mm(a.cuda(), b.cuda(), out=o)
same("mm, out=", o, (a.float() @ b.float()).half(), 0)
s = torch.zeros(2, dtype=torch.bfloat16, device="cuda")
s.index_add_(0, torch.zeros(1000, dtype=torch.long, device="cuda"), torch.full((1000,), 0.5, dtype=torch.bfloat16, device="cuda"))
same("added up in place", s, torch.tensor([500., 0.]), 0)
same("norm", torch.linalg.vector_norm(a.cuda(), dtype=torch.float16), torch.linalg.vector_norm(a.float()).half(), 0)
same("fft of halves", torch.fft.fft(a[:, :64].cuda()).to(torch.complex64).abs(), torch.fft.fft(a[:, :64].float()).abs(), 1e-2)
p = torch.randn(50, 16, 20).log_softmax(2)
targets = (torch.arange(480).reshape(16, 30) % 19 + 1, torch.full((16,), 50), torch.full((16,), 30))
same("ctc", F.ctc_loss(p.cuda(), targets[0].cuda(), *targets[1:]), F.ctc_loss(p, *targets), 1e-4)
v = torch.arange(24.).reshape(4, 6)
w = v.cuda()[:, 1:5:2]
w += 1
same("view", w, v[:, 1:5:2] + 1)
q = torch.randn(2, 4, 32, 16)
same("attention", F.scaled_dot_product_attention(q.cuda(), q.cuda(), q.cuda()), F.scaled_dot_product_attention(q, q, q))
same("convolution", F.conv2d(q.cuda(), q.cuda()), F.conv2d(q, q), 1e-4)
same("out=", torch.add(v.cuda(), 1, out=torch.empty(0, device="cuda")), v + 1)
same("sort", torch.sort(q.cuda(), descending=True)[0], torch.sort(q, descending=True)[0], 0)
same("svd", torch.linalg.svd(v.cuda())[1], torch.linalg.svd(v)[1], 1e-4)
same("fft", torch.fft.fft(v.cuda()).abs(), torch.fft.fft(v).abs(), 1e-4)
same("index", v.cuda()[torch.tensor([2, 0]).cuda()], v[[2, 0]], 0)
torch.manual_seed(7); first = torch.rand(3, device="cuda")
torch.manual_seed(7); again, other = torch.rand(3, device="cuda"), torch.rand(3, device="cuda")
print(torch.equal(first, again), torch.equal(first, other))
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.LayerNorm(36), nn.Linear(36, 5))
def losses(device):
    import copy
    mine, x, y = copy.deepcopy(net).to(device), torch.linspace(-1, 1, 512).reshape(8, 1, 8, 8).to(device), torch.arange(8).to(device) % 5
    opt = torch.optim.AdamW(mine.parameters(), lr=1e-2)
    for _ in range(3):
        opt.zero_grad(); loss = F.cross_entropy(mine(x), y); loss.backward(); opt.step()
        yield loss.detach()
for on_gpu, on_host in zip(losses("cuda"), losses("cpu")): same("training", on_gpu, on_host, 1e-4)
"""


@needs_torch
def test_operators_of_torch_are_those_of_the_host(tmp_path: Path) -> None:
    done = simulated(tmp_path, TORCH, python=PYTHON)
    assert (done.stdout, done.returncode, findings(tmp_path)) == ("True False\n", 0, []), done.stderr
    assert "calls of torch were computed on the host" in done.stderr.replace("\n  ", " ")


@needs_torch
def test_memory_that_an_operator_reads_unwritten_is_found_and_what_is_missing_is_named(tmp_path: Path) -> None:
    text = "import torch\nx = torch.empty(8, device='cuda')\ny = x + 1  # read\n"
    done = simulated(tmp_path, text, python=PYTHON)
    assert findings(tmp_path) == [("initcheck", "<module>", line_of(text, "read"))], done.stderr
    text = ("import torch\nx = torch.zeros(16, 16, device='cuda')\ntry:\n    torch._efficient_attention_forward(x, x, x, None, None, None, None, None, 0., 0)\n"
            "except (NotImplementedError, RuntimeError) as error:\n    print(type(error).__name__)\n")
    done = simulated(tmp_path, text, python=PYTHON)
    assert done.returncode != 0, "a program that goes on without a result does not end with 0"


@needs_torch
def test_a_gradient_that_nobody_asks_for_reads_nothing(tmp_path: Path) -> None:
    text = """
import torch
x, w, g = (torch.randn(1, 1, n, n, device="cuda") for n in (4, 3, 2))
x_unwritten, w_unwritten = torch.empty_like(x), torch.empty_like(w)
backward = lambda x, w, *mask: torch.ops.aten.convolution_backward(g, x, w, None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1, mask)
backward(x, w_unwritten, False, True, False)
backward(x_unwritten, w, True, False, False)
backward(x, w_unwritten, True, False, False)  # reads it
"""
    done = simulated(tmp_path, text, python=PYTHON)
    assert len(findings(tmp_path)) == 1 and "reads weight, of which nothing has written" in " ".join(done.stderr.split()), done.stderr


@needs_torch
def test_compiled_functions_run_their_kernels(tmp_path: Path) -> None:
    text = """
import torch, torch.nn.functional as F
torch.manual_seed(0)
x, w = torch.randn(16, 32), torch.randn(64, 32)
def f(x, w): return F.layer_norm(F.gelu(F.linear(x, w)), (64,)).sum(1)
g = torch.compile(f)
a, b = x.cuda().requires_grad_(), w.cuda()
y = g(a, b)
y.square().sum().backward()
c = x.clone().requires_grad_()
f(c, w).square().sum().backward()
print(torch.allclose(y.detach().cpu(), f(x, w), atol=1e-5), torch.allclose(a.grad.cpu(), c.grad, atol=1e-4))
"""
    done = simulated(tmp_path, text, python=PYTHON, timeout=300, env=dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "torchinductor_cache")))
    assert (done.stdout, done.returncode, findings(tmp_path)) == ("True True\n", 0, []), done.stderr
    kernels = [kernel["name"] for process in json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["processes"]
               for kernel in process["kernels"]]
    assert any(name.startswith("triton_") for name in kernels), kernels
