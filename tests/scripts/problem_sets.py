"""Small problems in the formats of KernelBench, FlashInfer-Trace and GPU MODE, written for these tests."""
from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path

import pytest

PYTHON = os.environ.get("CONVLADDER_PYTHON", "/usr/bin/python3")

MODULE = '''
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, features, width, slope):
        super().__init__()
        self.linear = nn.Linear(features, width)
        self.unused = nn.Parameter(torch.ones(3))
        self.slope = slope

    def forward(self, x, mask, gain):
        y = self.linear(x) * mask.unsqueeze(-1) * gain
        return torch.where(y > 0, y, self.slope * y)

rows = 64 * 4
features, width = 40, 3
slope = 0.25

def get_inputs():
    return [torch.randn(rows, features), torch.randint(0, 2, (rows,)).bool(), 1.5]

def get_init_inputs():
    return [features, width, slope]
'''

CONVOLUTION = '''
import torch

class Model(torch.nn.Module):
    def __init__(self, channels, size, stride, groups):
        super().__init__()
        self.conv = torch.nn.Conv1d(channels, channels, size, stride=stride, padding=1, groups=groups, bias=False)

    def forward(self, x):
        return self.conv(x)

batch = 6
channels = 8
length = 50
size = 3
stride = 2
groups = 4

def get_inputs():
    return [torch.rand(batch, channels, length)]

def get_init_inputs():
    return [channels, size, stride, groups]
'''

RELU = MODULE.split("class Model")[0] + '''
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)

n = 300

def get_inputs():
    return [torch.rand(n)]

def get_init_inputs():
    return []
'''

TIED = RELU.replace("def forward(self, x):\n        return torch.relu(x)", "def forward(self, x, z):\n        return x * z").replace(
    "n = 300", "n = 300\nshape = (300,)").replace("torch.rand(n)", "torch.rand(n), torch.rand(*shape)")


def module(forward: str, made: str) -> str:
    return RELU.replace("return torch.relu(x)", forward).replace("torch.rand(n)", made)


REFUSED_MODULES = {
    "random": (module("return x + torch.rand_like(x)", "torch.rand(n)"), "its answer is random"),
    "zeros": (module("return x - x", "torch.rand(n)"), "an answer of zeros is right for it"),
    "same": (module("return x * 0 + 3", "torch.rand(n)"), "the answer to another input is right for it"),
    "triangle": (module("return x @ x", "torch.triu(torch.rand(n, n))"), "no fill makes x: it is a triangle or symmetric"),
    "infinite": (module("return x / 0", "torch.rand(n)"), "its answer is not finite"),
    "complex": (module("return x.real", "torch.rand(n) + 0j"), "x is of complex64"),
    "raises": (module("raise RuntimeError('no\\nGPU here')", "torch.rand(n)"), "its shapes cannot be asked for: RuntimeError: no GPU here"),
    "exits": (module("import os; os._exit(7)", "torch.rand(n)"), "its process ended with exit code 7"),
    "greedy": ("held = bytearray(8 << 30)\n" + RELU, "it takes more than the 1 GiB that --memory allows"),
    "no sizes": (RELU.replace("torch.rand(n)", "torch.rand(30)"), "its sizes depend on no constant"),
}

ENDLESS = module("while True: pass", "torch.rand(n)")

SEGMENTS = {
    "name": "segment_means", "op_type": "reduce", "description": "means of parts of rows that a table picks",
    "axes": {"num_rows": {"type": "var"}, "num_parts": {"type": "var"}, "len_indptr": {"type": "var"}, "num_picked": {"type": "var"},
             "width": {"type": "const", "value": 24}, "half": {"type": "expr", "expression": "width // 2"}},
    "constraints": ["len_indptr == num_parts + 1", "num_picked == indptr[-1].item()"],
    "inputs": {"table": {"shape": ["num_rows", "width"], "dtype": "bfloat16"}, "indptr": {"shape": ["len_indptr"], "dtype": "int32"},
               "indices": {"shape": ["num_picked"], "dtype": "int64"}, "gain": {"shape": None, "dtype": "float32"}},
    "outputs": {"means": {"shape": ["num_parts", "half"], "dtype": "float32"}, "largest": {"shape": ["num_parts"], "dtype": "bfloat16"}},
    "reference": """
import torch

def run(table, indptr, indices, gain):
    means = torch.zeros(indptr.shape[0] - 1, table.shape[1] // 2, dtype=torch.float32, device=table.device)
    largest = torch.zeros(means.shape[0], dtype=torch.bfloat16)
    for i in range(means.shape[0]):
        part = table[indices[int(indptr[i]):int(indptr[i + 1])]].to(torch.float32)
        means[i] = part.mean(0)[:means.shape[1]] * gain
        largest[i] = part.max().to(torch.bfloat16)
    return means, largest
"""}
WORKLOADS = [{"uuid": "a", "axes": {"num_rows": 40, "num_parts": 5, "len_indptr": 6, "num_picked": 60},
              "inputs": {"table": {"type": "random"}, "indptr": {"type": "safetensors", "path": "x", "tensor_key": "indptr"},
                         "indices": {"type": "safetensors", "path": "x", "tensor_key": "indices"}, "gain": {"type": "scalar", "value": 0.75}},
              "tolerance": {"max_atol": 0.02, "max_rtol": 0.02, "required_matched_ratio": 0.75}},
             {"uuid": "b", "axes": {"num_rows": 7, "num_parts": 2, "len_indptr": 3, "num_picked": 2},
              "inputs": {"gain": {"type": "scalar", "value": 0.75}}}]

TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "shared.py", "source": "../shared.py"}
  - {"name": "reference.py", "source": "reference.py"}
lang: "py"
tests:
  - {"size": 96, "groups": 3, "seed": 17}
  - {"size": 200, "groups": 2, "seed": 5}
benchmarks:
  - {"size": 5000, "groups": 2, "seed": 1}
"""
TASK_SHARED = """
def near(a, b):
    return bool(((a - b).abs() <= 1e-3).all())
"""
TASK_REFERENCE = """
import torch
from shared import near

def generate_input(size: int, groups: int, seed: int):
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    x = torch.randn(groups, size, device="cuda", dtype=torch.float32, generator=generator).contiguous()
    picked = torch.randint(0, size, (groups,), device="cuda", generator=generator)
    return x, picked, torch.empty(groups, size, device="cuda", dtype=torch.float32)

def ref_kernel(data):
    x, picked, out = data
    torch.cuda.synchronize()
    out[...] = x + torch.gather(x, 1, picked[:, None])
    return out

def check_implementation(data, output):
    expected = ref_kernel(data)
    return (True, "") if near(output, expected) else (False, "it differs")
"""


@functools.cache
def has_torch() -> bool:
    return subprocess.run([PYTHON, "-c", "import torch, numpy, yaml"], capture_output=True, check=False).returncode == 0


needs_torch = pytest.mark.skipif(not has_torch(), reason="CONVLADDER_PYTHON names no python with torch and PyYAML")


def write_module(folder: Path, text: str = MODULE, name: str = "7_Gated_Rows_.py") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def write_definition(folder: Path, definition: dict = SEGMENTS, workloads: list = WORKLOADS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "definition.json").write_text(json.dumps(definition), encoding="utf-8")
    if workloads:
        (folder / "workload.jsonl").write_text("".join(json.dumps(one) + "\n" for one in workloads), encoding="utf-8")
    return folder / "definition.json"


def write_task(folder: Path, reference: str = TASK_REFERENCE, task: str = TASK) -> Path:
    (folder / "picked").mkdir(parents=True, exist_ok=True)
    (folder / "shared.py").write_text(TASK_SHARED, encoding="utf-8")
    (folder / "picked/reference.py").write_text(reference, encoding="utf-8")
    (folder / "picked/task.yml").write_text(task, encoding="utf-8")
    return folder / "picked/task.yml"
