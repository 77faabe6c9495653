"""Suites of others. Each is read from a folder that an environment variable names: a checkout of its source. To add one, add a line."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Suite:
    """Files are globs, relative to the folder."""

    name: str
    variable: str
    """Names the folder."""
    source: str
    """Where a user gets it."""
    tests: tuple[str, ...] = ()
    """Files of pytest."""
    programs: tuple[str, ...] = ()
    """Each is run as a program, and is one test. Its benchmarks by triton.testing keep one size each."""
    program_arguments: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By the program's path."""
    python_path: tuple[str, ...] = ()
    """Folders that are put in front of PYTHONPATH."""
    pytest_options: tuple[str, ...] = ()
    """Of the suite's own conftest.py; an option and its value in one word."""
    environment: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Why, by the globs of tests (`FILE::FUNCTION` or `FILE::FUNCTION[PARAMETERS]`; brackets are plain) that are not drawn."""


_TRITON = "a checkout of github.com/triton-lang/triton"

SUITES = (
    Suite("triton-language", "CONVLADDER_TRITON_SOURCE", _TRITON, tests=("python/test/unit/language/test_*.py",)),
    Suite("triton-runtime", "CONVLADDER_TRITON_SOURCE", _TRITON, tests=("python/test/unit/runtime/test_*.py",)),
    Suite("triton-cuda", "CONVLADDER_TRITON_SOURCE", _TRITON, tests=("python/test/unit/cuda/test_*.py",)),
    Suite("triton-gluon", "CONVLADDER_TRITON_SOURCE", _TRITON, tests=("python/test/gluon/test_*.py",)),
    Suite("triton-tutorials", "CONVLADDER_TRITON_SOURCE", _TRITON, programs=("python/tutorials/0[1-9]-*.py",), tests=("python/tutorials/06-*.py",),
          program_arguments={"python/tutorials/09-persistent-matmul.py": ("-K", "64")},
          left_out={"*-cpu.py*": "Triton for CPUs", "*06-fused-attention.py::test_op[*-48-?]": "minutes with 48 heads",
                    "*06-fused-attention.py::test_op[*-4096-2-?]": "minutes with 4096 keys",
                    "*06-fused-attention.py::program": "its benchmark has 32 heads of 1024 keys and more: hours"}),
    Suite("liger", "CONVLADDER_LIGER_SOURCE", "a checkout of github.com/linkedin/Liger-Kernel", tests=("test/transformers/test_*.py",), python_path=("src", "."),
          left_out={"*cute*": "the CuTe DSL", "*cutile*": "cuTile, which has no PTX", "*auto_model*": "downloads models", "*monkey_patch*": "downloads models",
                    "*trainer*": "downloads models", "*test_transformers.py*": "downloads models", "*-32000-*": "minutes with a vocabulary of 32,000",
                    "*-32000]": "minutes with a vocabulary of 32,000"}),
    Suite("fla", "CONVLADDER_FLA_SOURCE", "a checkout of github.com/fla-org/flash-linear-attention", tests=("tests/ops/test_*.py",), python_path=(".",),
          left_out={"*tilelang*": "TileLang"}),
    Suite("mamba", "CONVLADDER_MAMBA_SOURCE", "a checkout of github.com/state-spaces/mamba", tests=("tests/ops/triton/test_*.py",), python_path=(".",)),
    Suite("flaggems", "CONVLADDER_FLAGGEMS_SOURCE", "a checkout of github.com/FlagOpen/FlagGems", tests=("tests/test_*.py",), python_path=("src",),
          pytest_options=("--mode=quick", "--ref=cpu"),
          environment={"GEMS_VENDOR": "nvidia"}),
)
