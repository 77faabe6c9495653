"""Torch's own operators on the simulated GPU. Its packages hold them as machine code of GPUs, which nothing here executes, so each is
computed by torch's operator for the host, on the same memory. They are registered at the dispatcher, below autograd and beside
torch.compile, which see no difference."""

from __future__ import annotations

import os
import sys
import warnings
from types import ModuleType
from typing import Any, Callable, Iterable

import torch
from torch.utils._pytree import tree_map

from convladder.simulated import native, torch_graphs
from convladder.simulated.device_memory import Uses, copy, extent, missing, on_host

_HALVES = (torch.float16, torch.bfloat16)
# Sums and products of many values: a GPU adds them up in float, and rounds once at the end.
_IN_FLOAT = frozenset("""
mm bmm addmm baddbmm addmv dot mv addbmm addr sum mean prod cumsum cumprod var std var_mean std_mean logsumexp linalg_vector_norm norm
_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data native_layer_norm native_layer_norm_backward native_group_norm
native_group_norm_backward native_batch_norm native_batch_norm_backward _fused_rms_norm _fused_rms_norm_backward convolution
convolution_backward avg_pool2d avg_pool2d_backward _adaptive_avg_pool2d _adaptive_avg_pool2d_backward upsample_bilinear2d embedding_dense_backward
index_add scatter_add""".split())
_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm")
# They make or change tensors and compute nothing.
_LEFT_ALONE = frozenset("""
empty empty_strided set_ resize_ resize_as_ _resize_output_ record_stream is_pinned _pin_memory pin_memory is_set_to
_has_same_storage_numel _sparse_coo_tensor_with_dims storage _lazy_clone _cudnn_init_dropout_state
_sparse_coo_tensor_with_dims_and_tensors""".split())


def _is_left_alone(name: str, schema: Any) -> bool:
    base = name.partition("::")[2].partition(".")[0]
    is_view = any(one.alias_info is not None and not one.alias_info.is_write for one in schema.returns)
    return is_view or base in _LEFT_ALONE or base.startswith(("cudnn_", "_cudnn", "miopen_"))


def _is_device_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "cuda"


def _is_device_generator(value: Any) -> bool:
    return isinstance(value, torch.Generator) and value.device.type == "cuda"


def _products(base: str, arguments: Iterable[Any]) -> tuple[float, float]:
    """Additions and multiplications on float and on half factors, of products of matrices; (0, 0) for anything else."""
    if base not in _PRODUCTS:
        return 0.0, 0.0
    left, right = [one for one in arguments if isinstance(one, torch.Tensor)][-2:]
    count = 2.0 * left.numel() * right.size(-1)
    return (0.0, count) if left.dtype in _HALVES else (count, 0.0)


def _generator_on_host(of_gpu: torch.Generator) -> torch.Generator:
    """The host's generator in the place of a GPU's. The same seed gives the same numbers in every run; they are not those of a GPU."""
    generator = torch.Generator()
    offset = of_gpu.get_offset()
    generator.manual_seed((of_gpu.initial_seed() * 1_000_003 + offset * 7_919) % 2**63)
    of_gpu.set_offset(offset + 4)
    return generator


def _default_generator(device: torch.device) -> torch.Generator:
    torch.cuda.init()
    return torch.cuda.default_generators[torch.cuda.current_device() if device.index is None else device.index]


class _HostOperator:
    """An overload of an operator: called by the dispatcher with tensors of the GPU."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.base = name.partition("::")[2].partition(".")[0]
        self._overload: Any = None

    def _resolve(self) -> None:
        overload = self.name.partition(".")[2] or "default"
        self.packet = getattr(torch.ops.aten, self.base)
        self._overload = getattr(self.packet, overload)
        arguments = self._overload._schema.arguments
        self.names = [one.name for one in arguments]
        self.written = {one.name for one in arguments if one.alias_info is not None and one.alias_info.is_write}
        self.is_random = torch.Tag.nondeterministic_seeded in self._overload.tags
        self.has_generator = "generator" in self.names

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self._overload is None:
            self._resolve()
        return _Call(self, arguments, named).result()

    def on_host(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Calls it with tensors of the host."""
        try:
            return self._overload(*arguments, **named)
        except RuntimeError as error:
            # A number where a tensor is declared: the overload that takes one is chosen by the types.
            if "Expected a value of type 'Tensor" not in str(error):
                raise
            return self.packet(*arguments, **named)


    def unread(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> set[str]:
        """The arguments of which this call reads no element."""
        return set()


class _ConvolutionBackward(_HostOperator):
    """aten::convolution_backward, which computes the gradients that its mask asks for: of the input, the weight and the bias."""

    def unread(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> set[str]:
        """The weight is a factor of the input's gradient only, and the input of the weight's."""
        of_input, of_weight, _ = {**dict(zip(self.names, arguments)), **named}["output_mask"]
        return {name for name, is_read in (("weight", of_input), ("input", of_weight)) if not is_read}


class _ProductInType(_HostOperator):
    """aten::mm.dtype and its like, which only GPUs have: the product is computed in float, and rounded to the type that is asked for."""

    def on_host(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        given = {**dict(zip(self.names, arguments)), **named}
        kind, out = given.pop("out_dtype"), given.pop("out", None)
        wide = {name: value.float() if isinstance(value, torch.Tensor) else value for name, value in given.items()}
        result = self.packet.default(**wide).to(kind)
        if out is None:
            return result
        return out.resize_(result.size()).copy_(result) if out.size() != result.size() else out.copy_(result)


class _Call:
    """One call: its tensors as views of the host, and what has to be given back."""

    def __init__(self, operator: _HostOperator, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.operator = operator
        self.uses = Uses()
        self.views: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # by the tensor's id
        self.resized: set[int] = set()
        self.device: torch.device | None = None
        self.arguments = arguments
        self.named = named

    def _down(self, value: Any) -> Any:
        if _is_device_tensor(value):
            self.device = self.device or value.device
            if id(value) not in self.views:
                self.views[id(value)] = (value, on_host(value))
            return self.views[id(value)][1]
        if isinstance(value, torch.device) and value.type == "cuda":
            self.device = self.device or torch.device("cuda", torch.cuda.current_device() if value.index is None else value.index)
            return torch.device("cpu")
        return value

    def _up(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.device.type != "cpu":
            return value
        for given, view in self.views.values():
            if view is value:
                return given
        if self.device is None:
            return value
        return _on_device(value, self.device, self.uses)

    def _note_arguments(self) -> None:
        """After it was computed: what it wrote may have got another size."""
        unread = self.operator.unread(self.arguments, self.named)
        for name, value in [*zip(self.operator.names, self.arguments), *self.named.items()]:
            is_written = name in self.operator.written
            is_read = not is_written or name == "self" and not self.operator.is_random and not self.operator.base.startswith(("fill", "zero"))
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if _is_device_tensor(one):
                    self.uses.add(name, one, is_read and name not in unread and id(one) not in self.resized, is_written)

    def result(self) -> Any:
        """Computes it; in a stream that is captured, makes it a part of the graph."""
        operator = self.operator
        arguments, named = tree_map(self._down, (self.arguments, self.named))
        if named.get("pin_memory"):
            named["pin_memory"] = None
        try:
            if torch_graphs.is_capturing():
                return self._captured(arguments, named)
            before = {key: (view.data_ptr(), view.size()) for key, (_, view) in self.views.items()}
            result = self._computed(arguments, named)
        except NotImplementedError:
            missing(operator.name)
            raise NotImplementedError(f"{operator.name} has no implementation for the host, and torch's for a GPU is machine code, which "
                                      f"the simulated GPU does not execute") from None
        for key, (tensor, view) in self.views.items():
            if (view.data_ptr(), view.size()) != before[key]:  # out= of another size
                tensor.resize_(view.size())
                on_host(tensor).copy_(view)
                self.resized.add(key)
        self._note_arguments()
        given = tree_map(self._up, result)
        self.uses.note(operator.name, _products(operator.base, self.arguments))
        return given

    def _captured(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The graph computes it on the same memory, each time. Now it is computed on zeros, which says what its results look like."""
        zeros = {id(view): torch.zeros_like(view) for _, view in self.views.values()}
        outlines = self._computed(*tree_map(lambda one: zeros.get(id(one), one), (arguments, named)), lambda _: torch.Generator())
        given_back = {id(zero): self.views[key][0] for key, zero in zip(self.views, zeros.values())}
        self._note_arguments()
        made: list[torch.Tensor | None] = []  # the host's views of new results, in their order

        def on_device(outline: Any) -> Any:
            is_new = isinstance(outline, torch.Tensor) and outline.device.type == "cpu" and id(outline) not in given_back
            if is_new and self.device is not None:
                result = _new_on_device(outline, self.device, self.uses)
                made.append(on_host(result))
                return result
            made.append(None)
            return given_back.get(id(outline), outline)

        given = tree_map(on_device, outlines)

        def compute() -> None:
            results: list[Any] = []
            tree_map(results.append, self._computed(arguments, dict(named)))
            for view, result in zip(made, results):
                if view is not None:
                    view.copy_(result)

        torch_graphs.add(self.operator.name, self.uses, _products(self.operator.base, self.arguments), compute)
        return given

    def _computed(self, arguments: tuple[Any, ...], named: dict[str, Any],
                  generator_on_host: Callable[[torch.Generator], torch.Generator] = _generator_on_host) -> Any:
        with torch.utils._python_dispatch._disable_current_modes():
            if not self.operator.is_random:
                return self._in_float(arguments, named)
            arguments, named = tree_map(lambda one: generator_on_host(one) if _is_device_generator(one) else one, (arguments, named))
            device = self.device or torch.device("cuda", torch.cuda.current_device())
            if self.operator.has_generator:
                index = self.operator.names.index("generator")
                is_given = named.get("generator") is not None or index < len(arguments) and arguments[index] is not None
                if not is_given:
                    named["generator"] = generator_on_host(_default_generator(device))
                return self.operator.on_host(arguments, named)
            state = torch.get_rng_state()
            torch.default_generator.set_state(generator_on_host(_default_generator(device)).get_state())
            try:
                return self.operator.on_host(arguments, named)
            finally:
                torch.set_rng_state(state)

    def _in_float(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Half factors and terms are added up in float where a GPU does so, and where the host has nothing for halves."""
        leaves: list[Any] = []
        tree_map(leaves.append, (arguments, named))
        if not any(isinstance(one, torch.Tensor) and one.dtype in _HALVES for one in leaves):
            return self.operator.on_host(arguments, named)
        if self.operator.base.removesuffix("_") in _IN_FLOAT:
            return self._widened(arguments, named)
        try:
            return self.operator.on_host(arguments, named)
        except NotImplementedError:
            return self._widened(arguments, named)

    def _widened(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Computes in float; the results are of the types that torch gives them."""
        operator = self.operator
        wide_of: dict[int, torch.Tensor] = {}

        def wide(one: Any) -> Any:
            if isinstance(one, torch.Tensor) and one.dtype in _HALVES:
                return wide_of.setdefault(id(one), one.float())
            return torch.float32 if isinstance(one, torch.dtype) and one in _HALVES else one

        wide_arguments, wide_named = tree_map(wide, (arguments, named))
        if operator.base in ("_softmax", "_log_softmax") and wide_of:
            wide_arguments = (*wide_arguments[:2], False)  # half_to_float
        result = operator.on_host(wide_arguments, wide_named)
        if not operator.written:
            return self._rounded(result, arguments, named)
        narrow_of: dict[int, torch.Tensor] = {}
        for name, value in [*zip(operator.names, arguments), *named.items()]:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if name in operator.written and id(one) in wide_of:
                    written = wide_of[id(one)]
                    if written.size() != one.size():  # out= of another size
                        one.resize_(written.size())
                    one.copy_(written)
                    narrow_of[id(written)] = one
        return tree_map(lambda one: narrow_of.get(id(one), one), result)

    def _rounded(self, result: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Results in float as those of the types that torch gives them."""
        meta = tree_map(lambda one: one.to("meta") if isinstance(one, torch.Tensor) else one, (arguments, named))
        types = self.operator.on_host(*tree_map(lambda one: torch.device("meta") if isinstance(one, torch.device) else one, meta))
        return tree_map(lambda one, like: one.to(like.dtype) if isinstance(one, torch.Tensor) else one, result, types)


def _new_on_device(like: torch.Tensor, device: torch.device, uses: Uses) -> torch.Tensor:
    """A new tensor of the GPU for a result of the host."""
    if like.layout != torch.strided:
        raise NotImplementedError("a sparse result on the simulated GPU")
    if extent(like) != like.numel():
        like = torch.empty_like(like, memory_format=torch.contiguous_format)
    made = torch.empty_strided(like.size(), like.stride(), dtype=like.dtype, device=device)
    uses.add("the result", made, False, True)
    return made


def _on_device(value: torch.Tensor, device: torch.device, uses: Uses) -> torch.Tensor:
    """A result of the host as a new tensor of the GPU."""
    made = _new_on_device(value, device, uses)
    if made.numel() > 0:
        on_host(made).copy_(value)
    return made


def _have_one_layout(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether both are the same bytes for the same values, without gaps."""
    return (one.dtype == other.dtype and one.size() == other.size() and one.stride() == other.stride() and extent(one) == one.numel()
            and one.is_conj() == other.is_conj() and one.is_neg() == other.is_neg())


def _copy(self: torch.Tensor, source: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """aten::copy_ between any two places."""
    del non_blocking
    if self.numel() == 0:
        return self
    if _is_device_tensor(self) and _is_device_tensor(source) and _have_one_layout(self, source):
        copy(self, source)
        return self
    uses = Uses()
    to, source_view = self, source
    if _is_device_tensor(source):
        uses.add("src", source, True, False)
        source_view = on_host(source)
    if _is_device_tensor(self):
        uses.add("self", self, False, True)
        to = on_host(self)

    def compute() -> None:
        with torch.utils._python_dispatch._disable_current_modes():
            to.copy_(source_view)

    if torch_graphs.is_capturing():
        torch_graphs.add("aten::copy_", uses, (0.0, 0.0), compute)
    else:
        compute()
        uses.note("aten::copy_", (0.0, 0.0))
    return self


def _number(self: torch.Tensor) -> Any:
    """aten::_local_scalar_dense"""
    if torch_graphs.is_capturing():
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing: aten::_local_scalar_dense")
    uses = Uses()
    uses.add("self", self, True, False)
    value = on_host(self).item()
    uses.note("aten::_local_scalar_dense", (0.0, 0.0))
    return value


def _no_library(*arguments: Any, **named: Any) -> bool:
    """aten::_use_cudnn_ctc_loss and its like, which ask whether another library computes a layer."""
    del arguments, named
    return False


_LIBRARY: torch.library.Library | None = None


def prepare(package: ModuleType) -> None:
    """`package`: torch. Registers all operators for the dispatcher's key CUDA."""
    global _LIBRARY
    if package.version.cuda is None:
        print("convladder: this torch was built without CUDA, so nothing of it runs on the simulated GPU", file=sys.stderr)
        return
    caching = os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING")
    if caching != "1":
        native.remark(f"PYTORCH_NO_CUDA_MEMORY_CACHING={caching} was set before: with torch's own allocator, accesses that leave a tensor and "
                      f"stay in one of its large blocks are not found")
    torch_graphs.prepare(package.cuda.graphs)
    _LIBRARY = library = torch.library.Library("aten", "IMPL")
    # Torch computes a layer by cuDNN, by a fused kernel or by several operators; only these can be computed here.
    torch.backends.cudnn.enabled = False
    for attention in ("flash_sdp", "mem_efficient_sdp", "cudnn_sdp"):
        getattr(torch.backends.cuda, "enable_" + attention, lambda _: None)(False)
    own: dict[str, Callable[..., Any]] = {"aten::copy_": _copy, "aten::_local_scalar_dense": _number}
    names = [name for name in torch._C._dispatch_get_all_op_names()
             if name.startswith("aten::") and torch._C._dispatch_has_kernel_for_dispatch_key(name, "CUDA")]
    own |= {name: _no_library for name in names if name.startswith("aten::_use_")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an operator is replaced
        for name, function in own.items():
            library.impl(name, function, "CUDA", allow_override=True)
        for name in [*names, "aten::convolution", "aten::convolution_backward"]:
            base, _, overload = name.partition(".")
            if name not in own and not _is_left_alone(name, torch._C._get_schema(base, overload)):
                of_type = base.removeprefix("aten::") in _PRODUCTS and overload.startswith("dtype")
                kind = (_ProductInType if of_type else
                        _ConvolutionBackward if base == "aten::convolution_backward" else _HostOperator)
                library.impl(name, kind(name), "CUDA", allow_override=True)
