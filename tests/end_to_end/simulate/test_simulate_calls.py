"""`convladder simulate` with kernels that print, allocate memory and call functions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from conftest import run

if TYPE_CHECKING:
    from pathlib import Path

PTX = """.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 list);
.extern .func (.param .b64 r) malloc(.param .b64 bytes);
.global .align 1 .b8 format[] = {37, 100, 10, 0};
.func (.param .b32 r) square(.param .b32 n)
{
  .reg .b32 %n; ld.param.b32 %n, [n]; mul.lo.u32 %n, %n, %n; st.param.b32 [r], %n; ret;
}
.visible .entry prints()
{
  .local .align 8 .b8 list[8]; .reg .b64 %a, %b; .reg .b32 %n;
  mov.u32 %n, %ctaid.x;
  { .param .b32 n; .param .b32 r; st.param.b32 [n], %n; call (r), square, (n); ld.param.b32 %n, [r]; }
  st.local.u32 [list], %n; mov.u64 %b, list; cvta.local.u64 %b, %b; mov.u64 %a, format; cvta.global.u64 %a, %a;
  { .param .b64 f; .param .b64 l; .param .b32 r; st.param.b64 [f], %a; st.param.b64 [l], %b;
    call.uni (r), vprintf, (f, l); }
  ret;
}
.visible .entry leaks()
{
  { .param .b64 n; .param .b64 r; st.param.b64 [n], 24; call (r), malloc, (n); }
  ret;
}
"""


def test_what_a_kernel_prints_is_shown_in_the_order_of_blocks(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(PTX, encoding="utf-8")
    done = run("simulate", tmp_path / "k.ptx", "--entry", "prints", "--grid", "5")
    assert done.returncode == 0, done
    assert "printed by the kernel\n0\n1\n4\n9\n16\n" in done.stdout
    done = run("simulate", tmp_path / "k.ptx", "--entry", "prints", "--grid", "3", "--format", "json")
    assert json.loads(done.stdout)["printed"] == "0\n1\n4\n"


def test_memory_that_a_kernel_never_frees_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(PTX, encoding="utf-8")
    done = run("simulate", tmp_path / "k.ptx", "--entry", "leaks", "--block", "2")
    assert done.returncode == 1
    assert done.stdout.count("'malloc in the kernel' (24 bytes) is never freed") == 2
    assert run("simulate", tmp_path / "k.ptx", "--entry", "leaks", "--checkers", "none").returncode == 0
