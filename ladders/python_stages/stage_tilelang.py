"""Kernels of TileLang (@T.prim_func): lowered to CUDA C++ for a named architecture, and compiled to PTX by nvcc."""
import os
import shutil
import subprocess

from stage_errors import NotInstalled, StageError
from stage_parameters import field_of, matched

SECONDS = 200


def nvcc():
    home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    found = shutil.which("nvcc") or shutil.which("nvcc", path=os.path.join(home, "bin"))
    if not found:
        raise NotInstalled("nvcc was not found, which compiles what TileLang writes")
    return found


def compiled(source, request, number, place):
    """The PTX of a kernel's source in CUDA C++."""
    from tilelang import env
    written = os.path.join(request["scratch"], f"kernel{number}.cu")
    file = os.path.join(request["scratch"], f"kernel{number}.ptx")
    with open(written, "w", encoding="utf-8") as out:
        out.write(source)
    architecture = request["target"].replace("sm_", "compute_")
    words = [nvcc(), "-ptx", "-lineinfo", "-O3", "-std=c++17", f"-arch={architecture}", "-o", file, written]
    for folder in (env.TILELANG_TEMPLATE_PATH, env.CUTLASS_INCLUDE_DIR):
        words += ["-I", str(folder)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", timeout=SECONDS, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["it says nothing"]
        raise StageError(f"{place}: nvcc refuses what TileLang wrote: {lines[0]}")
    return file


def compile_launch(module, kernel, launch, request, number, place):
    import tilelang
    from tilelang import tvm
    target = tvm.target.Target({"kind": "cuda", "arch": request["target"]})
    with target, tvm.transform.PassContext(config={"tl.emit_line_directives": True}):
        lowered = tilelang.lower(kernel, target=target, enable_device_compile=False, enable_host_codegen=False)
    functions = [one for one in lowered.device_mod.functions.values() if one.attrs and "thread_extent" in one.attrs]
    if len(functions) != 1:
        raise StageError(f"{place}: it becomes {len(functions)} kernels, and a launch has one")
    function = functions[0]
    extents = function.attrs["thread_extent"]
    try:
        block = [str(int(extents[f"threadIdx.{axis}"])) if f"threadIdx.{axis}" in extents else "1" for axis in "xyz"]
        shared = int(function.attrs["dyn_shared_memory_buf"]) if "dyn_shared_memory_buf" in function.attrs else 0
    except TypeError:
        raise StageError(f"{place}: its block depends on the size") from None
    # The tensors in the order of the function that was written; sizes that are open are called as they are.
    written = [str(kernel.buffer_map[one].name) if one in kernel.buffer_map else str(one.name) for one in kernel.params]
    arguments = matched(written, launch, request, place)
    known = {one["text"]: one for one in request["names"]}
    passed = []
    for one in function.params:
        name = str(one.name)
        name = name[: -len("_handle")] if name not in arguments and name.endswith("_handle") else name
        argument = arguments.get(name) or known.get(name)
        if argument is None:
            raise StageError(f"{place}: what is '{name}'? The problem has no such name")
        passed.append(field_of(argument))
    file = compiled(lowered.kernel_source, request, number, place)
    return {"ptx": file, "entry": str(function.attrs["global_symbol"]), "grid": None, "block": block, "shared": str(shared),
            "parameters": [[field] for field in passed]}
