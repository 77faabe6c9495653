"""Compiles a stage that is written in Python: `python3 THIS_FOLDER REQUEST RESULT`, both files of JSON.

ladders/python_stages.cpp asks, and its header describes both files. A stage with @launch lines becomes PTX; the package that its kernels
are written for does that, without a driver and without a GPU. One with a function `solve` stays Python and is only looked at.
"""
import json
import os
import sys

sys.dont_write_bytecode = True

from stage_errors import NotInstalled, StageError, place_of_error
from stage_module import files_read, interpreter, load


def front_end_of(kernel):
    """The module that compiles a kernel, by where its type comes from; None for a kernel of no package that is known."""
    packages = {one.__module__.partition(".")[0] for one in type(kernel).__mro__}
    if "triton" in packages:
        import stage_triton
        return stage_triton
    if "numba" in packages or "numba_cuda" in packages:
        import stage_numba
        return stage_numba
    if "warp" in packages:
        import stage_warp
        return stage_warp
    if "tvm" in packages or "tilelang" in packages:
        import stage_tilelang
        return stage_tilelang
    if "nvidia_cutlass_dsl" in packages or "cutlass" in packages or hasattr(kernel, "_dsl_cls"):
        import stage_cute
        return stage_cute
    return None


def prepare_front_ends(request):
    """Sets what packages read when they are imported: their caches and what they leave behind lie in the scratch folder."""
    scratch = request["scratch"]
    os.environ.update({"TRITON_CACHE_DIR": os.path.join(scratch, "triton"), "NUMBA_CACHE_DIR": os.path.join(scratch, "numba"),
                       "CUTE_DSL_KEEP": "ptx", "CUTE_DSL_DUMP_DIR": scratch, "CUTE_DSL_CACHE_DIR": scratch, "CUTE_DSL_LINEINFO": "1",
                       "CUTE_DSL_ARCH": request["target"], "TILELANG_CACHE_DIR": os.path.join(scratch, "tilelang"),
                       "TVM_FFI_CACHE_DIR": os.path.join(scratch, "tvm")})
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # its default, without its warning


def compiled_launches(module, request):
    launches = []
    for number, launch in enumerate(request["launches"]):
        kernel = getattr(module, launch["kernel"], None)
        place = f"{os.path.basename(request['source'])}:{launch['line']}: @launch {launch['kernel']}"
        if kernel is None:
            raise StageError(f"{place}: the module has nothing of that name")
        front_end = front_end_of(kernel)
        if front_end is None:
            raise StageError(f"{place}: it is a {type(kernel).__name__}, no kernel of Triton, Gluon, Numba, Warp, CuTe DSL or TileLang")
        launches.append(front_end.compile_launch(module, kernel, launch, request, number, place))
    return launches


def result_of(request):
    prepare_front_ends(request)
    module = load(request)
    result = {}
    if request["launches"]:
        result["launches"] = compiled_launches(module, request)
    else:
        from stage_solve import check_solve
        check_solve(module, request)
        result["interpreter"] = interpreter(request)
    result["read"] = files_read(request)
    return result


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    request["scratch"] = os.path.dirname(os.path.abspath(sys.argv[1]))
    try:
        result = result_of(request)
    except NotInstalled as error:
        result = {"missing": str(error)}
    except StageError as error:
        result = {"error": str(error)}
    except BaseException as error:  # whatever a module or a compiler does
        result = {"error": place_of_error(error, request)}
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(result, file)


main()
