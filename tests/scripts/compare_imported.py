"""Compares imported folders with their originals: shapes, types and values of inputs, and answers. Run by a Python with torch as
`compare_imported.py FOLDER...`; prints a line of JSON for each. What it knows of the formats it does not have from the importer."""
from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import sys
from pathlib import Path

import numpy
import torch

TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8, "i16": torch.int16,
         "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8}
FUNCTIONS = {"div": lambda a, b: a // b, "mod": lambda a, b: a % b, "min": min, "max": max}


class Differs(Exception):
    pass


def require(condition: object, text: str) -> None:
    if not condition:
        raise Differs(text)


def value(text: object, known: dict[str, int]) -> float:
    return eval(str(text).replace("^", "**"), {"__builtins__": {}} | FUNCTIONS, known)


def sizes_of(problem: dict, text: str) -> dict[str, int]:
    known = {letter: int(number) for letter, number in re.findall(r"([A-Z]+)(\d+)", text)}
    for name, formula in problem.get("derived", {}).items():
        known[name] = int(value(formula, known))
    return known


def shape_of(tensor: dict, known: dict[str, int]) -> list[int]:
    return [int(value(one, known)) for one in tensor["shape"]]


def loaded(path: Path, name: str):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_values(tensor: dict, own: torch.Tensor, known: dict[str, int], each_seed_differs: bool = False) -> None:
    """Whether own values are such as the fill makes. Some tasks draw their range anew for each seed."""
    fill, values = tensor["fill"], own.double().numpy().ravel()
    what = f"{tensor['name']}: {values.min()} to {values.max()}, and the fill is {fill}"
    kind = fill["kind"]
    if each_seed_differs and kind in ("uniform", "normal"):
        width = fill["high"] - fill["low"] if kind == "uniform" else 4 * fill["deviation"]
        middle = (fill["high"] + fill["low"]) / 2 if kind == "uniform" else fill["mean"]
        require(abs(values.mean() - middle) <= 3 * width and values.std() <= 3 * width, what)
    elif kind in ("uniform", "whole"):
        high = value(fill["high"], known) if isinstance(fill["high"], str) else fill["high"]
        # A range that was widened is wider; weights are as at their own size; a factor makes values smaller.
        slack = 4 if "weight" in tensor.get("comment", "") or "bias" in tensor["name"] or "weight" in tensor["name"] else 1
        require(values.min() >= slack * min(fill["low"], 0) - (0 if fill["low"] < 0 else -fill["low"]) - 1e-9, what)
        require(values.max() <= slack * high + 1e-9, what)
    elif kind == "normal" and values.size > 500:
        require(abs(values.mean() - fill["mean"]) < 0.2 * max(fill["deviation"], values.std()), what)
    elif kind == "constant":
        require((values == fill["value"]).all(), what)
    elif kind == "choice":
        require(set(values) <= set(fill["values"]), what)
    elif kind == "shares":
        require(numpy.allclose(own.double().numpy().sum(-1), 1, atol=1e-3), what)


def close(found: numpy.ndarray, expected: torch.Tensor, bound: float, name: str) -> None:
    expected = expected.double().numpy()
    require(found.shape == expected.shape, f"{name} has the shape {found.shape}, its own {expected.shape}")
    scale = numpy.maximum(numpy.abs(expected), numpy.sqrt(numpy.mean(expected**2)))
    error = numpy.max(numpy.abs(found - expected) / numpy.maximum(scale, 1e-30), initial=0)
    require(error <= bound, f"{name} is off by {error:.2e} of its scale")


def listed(result: object) -> list[torch.Tensor]:
    found = list(result) if isinstance(result, (tuple, list)) else list(result.values()) if isinstance(result, dict) else [result]
    return [one if isinstance(one, torch.Tensor) else torch.as_tensor(one) for one in found]


def asked(reference, problem: dict, given: dict, known: dict[str, int]) -> list[numpy.ndarray]:
    """The answer of the folder's reference to tensors of the original."""
    arguments = {}
    for name, tensor in given.items():
        array = tensor.double().numpy() if tensor.is_floating_point() else tensor.to(
            torch.uint8 if tensor.dtype is torch.bool else tensor.dtype).numpy()
        arguments[name] = array
    arguments |= {one["name"]: one["value"] for one in problem.get("scalars", [])}
    arguments |= {letter: known[letter] for letter in problem["dimensions"]}
    result = reference.reference(**arguments)
    return [result[one["name"]] for one in problem["tensors"] if one["role"] == "out"]


def compare_module(folder: Path, problem: dict, reference, known: dict[str, int]) -> None:
    (file,) = (folder / "original").glob("*.py")
    settings = reference.IMPORTED
    space: dict = {"__name__": "own", "__file__": str(file)}
    text = file.read_text(encoding="utf-8")
    values = settings.original.values({name: known[letter] for letter, name in settings.dimensions.items()})
    # The constants, replaced in the text of their lines: not as the importer does it.
    for name, number in values.items():
        base, _, place = name.partition(".")
        lines = [i for i, line in enumerate(text.splitlines()) if re.match(rf"(\w+\s*[,=]\s*)*{base}\b\s*[,=]", line)]
        require(lines, f"{name} was not found in the original")
        found = text.splitlines()
        line = found[lines[-1]]
        left, right = line.rsplit("=", 1)
        if place:
            parts = [one for one in right.split("#")[0].strip().strip("()[]").split(",") if one.strip()]
            parts[int(place)] = str(number)
            right = "(" + ",".join(parts) + ",)"
        elif "," in left:
            names = [one.strip() for one in left.split(",")]
            parts = right.split("#")[0].split(",")
            parts[names.index(base)] = str(number)
            right = ",".join(parts)
        else:
            right = str(number)
        found[lines[-1]] = f"{left}= {right}"
        text = "\n".join(found) + "\n"
    exec(compile(text, str(file), "exec"), space)
    torch.manual_seed(8)
    own = space["get_inputs"]()
    with torch.no_grad():
        model = space["Model"](*space["get_init_inputs"]())
        state = dict(model.named_parameters()) | dict(model.named_buffers())
        import inspect
        names = list(inspect.signature(model.forward).parameters)
        by_name = dict(zip(names, own))
        given = {}
        tensors = {one["name"]: one for one in problem["tensors"]}
        for name, original, kept in settings.inputs:
            if kept == "number":
                continue
            tensor = by_name.get(original) if original in by_name else state[original].detach()
            require(list(tensor.shape) == shape_of(tensors[name], known), f"{name} has the shape {list(tensor.shape)} in the original")
            own_type = torch.uint8 if tensor.dtype is torch.bool else tensor.dtype
            require(own_type == TYPES[tensors[name]["type"]], f"{name} is of {tensor.dtype} in the original")
            check_values(tensors[name], tensor, known)
            given[name] = tensor
        found = asked(reference, problem, given, known)
        single = listed(model(*own))
        torch.set_default_dtype(torch.float64)
        model = model.double()
        expected = listed(model(*(one.double() if isinstance(one, torch.Tensor) and one.is_floating_point() else one for one in own)))
        torch.set_default_dtype(torch.float32)
    for i, (array, right, own_answer) in enumerate(zip(found, expected, single, strict=True)):
        close(array, right, 1e-9, f"output {i}")
        close(array, own_answer, 1e-3, f"output {i} beside its own answer")


def compare_definition(folder: Path, problem: dict, reference, known: dict[str, int]) -> None:
    definition = json.loads((folder / "original/definition.json").read_text(encoding="utf-8"))
    dtypes = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16, "int32": torch.int32, "int64": torch.int64,
              "int8": torch.int8, "uint8": torch.uint8, "bool": torch.bool, "float64": torch.float64}
    axes = {one["name"]: known[letter] for letter, one in problem["dimensions"].items()}
    for _ in range(len(definition["axes"])):
        for name, one in definition["axes"].items():
            with contextlib.suppress(NameError):
                if one["type"] == "const":
                    axes[name] = one["value"]
                elif "expression" in one:
                    axes[name] = eval(one["expression"], {"__builtins__": {}}, axes)
    generator = numpy.random.default_rng(3)
    given, own = {}, {}
    tensors = {one["name"]: one for one in problem["tensors"]}
    settings = reference.IMPORTED
    scalars = {one["name"]: one["value"] for one in problem.get("scalars", [])}
    for name, original, kept in settings.inputs:
        if kept == "number":
            own[original] = scalars[name]
            continue
        said = definition["inputs"][original]
        shape = shape_of(tensors[name], known)
        with contextlib.suppress(NameError):
            require(shape == [eval(str(one), {"__builtins__": {}}, axes) for one in said["shape"]], f"{name} has another shape in the definition")
        dtype = dtypes.get(said["dtype"], TYPES[tensors[name]["type"]])
        require((torch.uint8 if dtype is torch.bool else dtype) == TYPES[tensors[name]["type"]], f"{name} is of {said['dtype']} in the definition")
        fill = tensors[name]["fill"]
        if fill["kind"] == "offsets":
            last = int(value(fill["last"], known))
            array = numpy.linspace(0, last, shape[-1]).astype(numpy.int64)
        elif fill["kind"] == "whole":
            high = value(fill["high"], known) if isinstance(fill["high"], str) else fill["high"]
            array = generator.integers(fill["low"], int(high) + 1, shape)
        elif fill["kind"] == "shares":
            array = generator.dirichlet(numpy.ones(shape[-1]), shape[:-1])
        elif fill["kind"] == "normal":
            array = generator.normal(fill["mean"], fill["deviation"], shape)
        else:
            array = generator.uniform(fill.get("low", 0), fill.get("high", 1), shape)
        own[original] = torch.from_numpy(numpy.asarray(array)).to(dtype)
        given[name] = own[original].clone()
    found = asked(reference, problem, given, known)
    space: dict = {"__name__": "own"}
    exec(compile(definition["reference"], "own", "exec"), space)
    (run,) = [one for name, one in space.items() if callable(one) and (name == "run" or name.endswith("_reference"))]
    ordered = [own[name] for name in definition["inputs"] if name in own]
    import inspect
    known_names = inspect.signature(run).parameters
    answers = [one.detach() for one in listed(run(**own) if all(name in known_names for name in own) else run(*ordered))]
    outputs = [one for one in problem["tensors"] if one["role"] == "out"]
    for one, array, answer in zip(outputs, found, answers, strict=True):
        require(list(answer.shape) == shape_of(one, known), f"{one['name']} has the shape {list(answer.shape)} in the original")
        small = {"bf16": 0.06, "f16": 0.02}.get(one["type"], 0.02 if "bf16" in [t["type"] for t in problem["tensors"]] else 1e-3)
        close(array, answer, small if answer.is_floating_point() else 0, one["name"])


def compare_task(folder: Path, problem: dict, reference, known: dict[str, int]) -> None:
    settings = reference.IMPORTED
    redirected = sys.modules["imported_reference"].redirected
    keywords = settings.fixed | {name: known[letter] for letter, name in settings.dimensions.items()}
    task = settings.original.module
    with redirected("cpu", False):
        data = task.generate_input(**keywords, seed=4)
    data = list(data) if isinstance(data, (tuple, list)) else [data]
    tensors = {one["name"]: one for one in problem["tensors"]}
    given = {}
    for name, place, _kept in settings.inputs:
        tensor = data[int(place)]
        require(list(tensor.shape) == shape_of(tensors[name], known), f"{name} has the shape {list(tensor.shape)} in the original")
        check_values(tensors[name], tensor, known, each_seed_differs=True)
        given[name] = tensor
    found = asked(reference, problem, given, known)
    with redirected("cpu", False):
        answers = listed(task.ref_kernel(tuple(data) if len(data) > 1 else data[0]))
        for array, answer in zip(found, answers, strict=True):
            close(array, answer, 1e-2 if answer.is_floating_point() else 0, "its answer")
        made = [torch.from_numpy(array).to(answer.dtype) for array, answer in zip(found, answers)]
        verdict = task.check_implementation(tuple(data) if len(data) > 1 else data[0], made[0] if len(made) == 1 else tuple(made))
    require(verdict[0] if isinstance(verdict, tuple) else not verdict, f"its own check refuses the reference: {verdict}")


def compare(folder: Path) -> None:
    problem = json.loads((folder / "problem.json").read_text(encoding="utf-8"))
    sys.path.insert(0, str(folder))
    sys.modules.pop("imported_reference", None)
    try:
        reference = loaded(folder / "reference.py", "reference")
        known = sizes_of(problem, problem["sizes"][0])
        kinds = {"KernelBench": compare_module, "Definition": compare_definition, "GpuMode": compare_task}
        kinds[type(reference.IMPORTED.original).__name__](folder, problem, reference, known)
    finally:
        sys.path.remove(str(folder))


def main() -> None:
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        child = os.fork()  # the modules beside an original have the names of those of the next
        if child:
            os.waitpid(child, 0)
            continue
        reason = ""
        try:
            compare(Path(name))
        except Differs as error:
            reason = str(error)
        except Exception as error:  # a folder that does not even load differs, too
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        print(json.dumps({"folder": name, "differs": reason}), flush=True)
        os._exit(0)


if __name__ == "__main__":
    main()
