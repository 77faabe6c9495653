"""Whole models under torch.compile, forward and backward: Inductor's kernels are simulated, listed and clean, and the results are those of
eager mode on the host."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAM, is_sanitized, run

PYTHON = os.environ.get("CONVLADDER_PYTHON", "/usr/bin/python3")

pytestmark = [pytest.mark.skipif(not (PROGRAM.parent / "stand_in" / "libcudart.so.13").exists(), reason="no stand-in in this build"),
              pytest.mark.skipif(is_sanitized(), reason="a program without sanitizers cannot load a library with them"),
              pytest.mark.skipif(subprocess.run([PYTHON, "-c", "import torch, triton"], capture_output=True, check=False).returncode != 0,
                                 reason="CONVLADDER_PYTHON names no python with torch and Triton")]

MODELS = """
import copy, torch, torch.nn as nn, torch.nn.functional as F
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 32)
    def forward(self, x):
        q, k, v = (one.unflatten(-1, (2, 16)).transpose(1, 2) for one in self.qkv(self.norm(x)).chunk(3, -1))
        return x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2))
MODELS = {
    "mlp": (nn.Sequential(nn.Linear(20, 48), nn.GELU(), nn.Linear(48, 33), nn.SiLU(), nn.Linear(33, 5)), (7, 20)),
    "attention": (Block(), (2, 19, 32)),
    "convolution": (nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 6, 3), nn.ReLU(),
                                  nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4)), (2, 3, 10, 12)),
}
for name, (model, size) in MODELS.items():
    torch.manual_seed(0)
    x = torch.randn(size)
    def trained(device, compiled):
        mine, mine_x = copy.deepcopy(model).to(device), x.to(device).requires_grad_()
        y = (torch.compile(mine) if compiled else mine)(mine_x)
        y.square().mean().backward()
        return [one.detach().cpu() for one in [y, mine_x.grad, *(p.grad for p in mine.parameters()), *mine.buffers()]]
    pairs = list(zip(trained("cuda", True), trained("cpu", False), strict=True))
    print(name, len(pairs), all(torch.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in pairs))
"""


def test_three_models_and_their_gradients(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODELS, encoding="utf-8")
    environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "cache"))
    done = run("simulate", "--output", tmp_path / "report.json", "--", PYTHON, "models.py", cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "mlp 8 True\nattention 8 True\nconvolution 13 True\n", done.stdout + done.stderr
    processes = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["processes"]
    assert [one for process in processes for one in process["findings"] if one["severity"] == "finding"] == []
    kernels = {kernel["name"] for process in processes for kernel in process["kernels"]}
    for part in ("gelu", "native_layer_norm", "native_batch_norm", "max_pool2d", "backward"):
        assert any(name.startswith("triton_") and part in name for name in kernels), (part, sorted(kernels))
