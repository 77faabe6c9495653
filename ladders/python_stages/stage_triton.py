"""Kernels of Triton and Gluon: compiled to PTX for a named target, without a driver."""
import inspect

from stage_errors import StageError
from stage_parameters import field_of, matched
from stage_ptx import capability, kept

TYPES = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64"}
# Compiler options that a @parameter of this name sets; elsewhere they are keywords of the launch.
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
THREADS_OF_WARP = 32


def unwrapped(kernel, parameters, place):
    """The kernel below its decorators, and the values that the configuration of an autotuner gives."""
    from triton.runtime.autotuner import Autotuner, Heuristics
    values, options = {}, {}
    while not hasattr(kernel, "arg_names") or isinstance(kernel, (Autotuner, Heuristics)):
        if isinstance(kernel, Autotuner):
            which = parameters.get("CONFIG", 0)
            if not 0 <= which < len(kernel.configs):
                raise StageError(f"{place}: CONFIG is {which}, but @triton.autotune has {len(kernel.configs)} configurations, from 0")
            config = kernel.configs[which]
            values.update(config.kwargs)
            for name in OPTIONS:
                if getattr(config, name, None) is not None:
                    options[name] = getattr(config, name)
        elif isinstance(kernel, Heuristics):
            missing = [name for name in kernel.values if name not in parameters]
            if missing:
                raise StageError(f"{place}: @triton.heuristics chooses {missing[0]} at each launch: give a @parameter {missing[0]}")
        kernel = kernel.fn
    return kernel, values, options


def type_of(argument):
    name = argument["type"]
    text = TYPES.get(name, name)
    return "*" + text if argument["kind"] == "tensor" else text


def compile_launch(module, kernel, launch, request, number, place):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    parameters = request["parameters"]
    kernel, values, options = unwrapped(kernel, parameters, place)
    names = list(kernel.arg_names)
    values.update({name: value for name, value in parameters.items() if name in names})
    options.update({name: parameters[name] for name in OPTIONS if name in parameters})
    defaults = {one.name: one.default for one in inspect.signature(kernel.fn).parameters.values() if one.default is not one.empty}
    known = {one["text"] for one in request["names"]}
    fixed = {one.name for one in kernel.params if one.is_constexpr}
    for name, default in defaults.items():
        if name not in values and (name in fixed or (name not in known and launch["arguments"] is None)):
            values[name] = default
    missing = sorted(name for name in fixed if name not in values and launch["arguments"] is None)
    if missing:
        raise StageError(f"{place}: '{missing[0]}' is a tl.constexpr: give it values by @parameter {missing[0]} …")
    arguments = matched(names, launch, request, place, given=values)
    signature, constants, attributes, passed = {}, {}, {}, []
    for at, name in enumerate(names):
        argument = arguments.get(name)
        if argument is None or (argument["kind"] == "value" and argument["text"] == "1") or name in fixed:
            value = values[name] if argument is None else number_of(argument, name, parameters, place)
            signature[name] = "constexpr"
            constants[(at,)] = value
            continue
        signature[name] = type_of(argument)
        if argument["kind"] == "tensor" or argument["divisible"]:
            attributes[(at,)] = [["tt.divisibility", 16]]
        passed.append(field_of(argument))
    source_type = ASTSource
    if "gluon" in type(kernel).__module__:
        from triton.experimental.gluon._runtime import GluonASTSource
        source_type = GluonASTSource
    source = source_type(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
    target = GPUTarget("cuda", capability(request), THREADS_OF_WARP)
    compiled = triton.compile(source, target=target, options=options)
    metadata = compiled.metadata
    if getattr(metadata, "num_ctas", 1) != 1:
        raise StageError(f"{place}: num_ctas is {metadata.num_ctas}: clusters cannot be launched from a folder")
    if getattr(metadata, "tensordesc_meta", None):
        raise StageError(f"{place}: a tensor descriptor is made by the host: make it in the kernel (tl.make_tensor_descriptor)")
    tail = [{"type": "ptr", "scratch": getattr(metadata, "global_scratch_size", 0) or 0},
            {"type": "ptr", "scratch": getattr(metadata, "profile_scratch_size", 0) or 0}]
    threads = threads_of(compiled.asm["ptx"]) or THREADS_OF_WARP * metadata.num_warps
    return {"ptx": kept(compiled.asm["ptx"], number, request), "entry": metadata.name, "grid": None, "block": [str(threads)], "shared": str(metadata.shared),
            "parameters": [[field] for field in passed + tail]}


def number_of(argument, name, parameters, place):
    try:
        return parameters[argument["text"]] if argument["text"] in parameters else int(argument["text"])
    except ValueError:
        raise StageError(f"{place}: '{name}' is a tl.constexpr and gets {argument['text']}, which depends on the size: give it values by "
                         f"@parameter {name} …") from None


def threads_of(ptx):
    """The threads of a block as the PTX requires them: with warp specialisation there are more than num_warps says."""
    for line in ptx.splitlines():
        if line.startswith(".reqntid"):
            return int(line.split()[1].rstrip(","))
    return None
