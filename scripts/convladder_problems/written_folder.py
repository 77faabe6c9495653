"""Writes the folder of an imported problem: problem.json, its reference, and the original beside it."""
from __future__ import annotations

import json
import os
import pprint
import shutil
import tempfile
from pathlib import Path

from .found_problems import Found

C_TYPES = {"f32": "float", "f64": "double", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u8": "uint8_t",
           "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t"}
SMALL_TYPES = {"f16": ("uint16_t", "__half"), "bf16": ("uint16_t", "__nv_bfloat16")}

REFERENCE = '''"""The reference of {name}: its original, which lies in the folder `original`, in float64 by torch on the CPU. It is somebody
else's code; the Python that PYTHON names runs it. Made by 'convladder import-problems'."""
from imported_reference import Imported

IMPORTED = Imported(__file__, **{reference})


def reference(**arguments):
    return IMPORTED.reference(arguments)
'''

README = '''# {title}

Made by `convladder import-problems` of `{file}`, which lies in `original` as it was, under the licence of its authors.

Add a stage, a file such as `01_naive.{suffix}`, with this function:

```cpp
{signature}
```

Then `PYTHON=python convladder run {name}` compiles, verifies and measures it, where `python` is the path of one that has torch.

| | |
|---|---|
| its own sizes | {own} |
| sizes that `run` takes by itself | {sizes} |
| its own check | {check} |
{notes}'''


def signature(problem: dict, is_cuda: bool) -> str:
    """The function of a stage, as docs/extend/problem_json.md has it."""
    words = []
    for one in problem["tensors"]:
        kind = SMALL_TYPES[one["type"]][is_cuda] if one["type"] in SMALL_TYPES else C_TYPES[one["type"]]
        words.append(f"{'const ' if one['role'] == 'in' else ''}{kind}* {one['name']}")
    words += [f"{C_TYPES[one['type']]} {one['name']}" for one in problem.get("scalars", [])]
    words += [f"int {letter}" for letter in problem["dimensions"]]
    return f'extern "C" void solve({", ".join(words)})'


def readme(problem: dict, found: Found) -> str:
    comment = problem["comment"]
    notes = "".join(f"| note | {one} |\n" for one in comment["notes"])
    small = any(one["type"] in SMALL_TYPES for one in problem["tensors"])
    both = "// .cu\n" + signature(problem, True) + "\n// .cpp\n" + signature(problem, False) if small else signature(problem, False)
    return README.format(title=problem["title"], file=found.path.name, suffix="cu", signature=both, name=problem["name"],
                         own=", ".join(comment["its own sizes"]), sizes=", ".join(problem["sizes"]), check=comment["its own check"],
                         notes=notes)


def write_folder(folder: Path, answer: dict, found: Found) -> None:
    """Makes the folder whole or not at all. The original is copied anew: its own code could have changed the copy that was imported."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".import-") as place:
        new = Path(place) / folder.name
        new.mkdir()
        found.stage(new / "original")
        problem = answer["problem"]
        (new / "problem.json").write_text(json.dumps(problem, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        reference = pprint.pformat(answer["reference"], width=120, sort_dicts=False)
        (new / "reference.py").write_text(REFERENCE.format(name=problem["name"], reference=reference), encoding="utf-8")
        shutil.copyfile(Path(__file__).with_name("imported_reference.py"), new / "imported_reference.py")
        (new / "README.md").write_text(readme(problem, found), encoding="utf-8")
        os.rename(new, folder)
