#include "devices/cuda/own_kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "devices/cuda/cuda_device.hpp"
#include "support/element_type.hpp"

namespace convladder {
namespace {

constexpr int kThreads = 256;               // threads of a block
constexpr std::int64_t kMostBlocks = 4096;  // more blocks would wait for these: a thread takes several elements instead

/// Conversions equal to from_double and to_double, by the GPU's own instructions.
struct GpuNumbers {
  template <typename T>
  __device__ static T from(double value) {
    if constexpr (std::is_same_v<T, Half>) {
      return {__half_as_ushort(__double2half(value))};
    } else if constexpr (std::is_same_v<T, Bfloat16>) {
      return {__bfloat16_as_ushort(__double2bfloat16(value))};
    } else {
      return static_cast<T>(value);
    }
  }
  template <typename T>
  __device__ static double to(T element) {
    if constexpr (std::is_same_v<T, Half>) {
      return __half2float(__ushort_as_half(element.bits));
    } else if constexpr (std::is_same_v<T, Bfloat16>) {
      return __uint_as_float(static_cast<unsigned>(element.bits) << 16U);
    } else {
      return static_cast<double>(element);
    }
  }
};

__device__ std::int64_t first_of_thread() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::int64_t all_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

template <typename T>
__global__ void fill_elements(T* to, std::int64_t elements, FillFormula fill) {
  for (std::int64_t i = first_of_thread(); i < elements; i += all_threads()) {
    if (fill.writes_piece(i / FillFormula::kPiece)) to[i] = fill.element<T>(i, GpuNumbers{});
  }
}

template <typename T>
__global__ void fill_elements_in_range(T* to, std::int64_t all, std::int64_t of_item, std::uint64_t seed, double low,
                                       double high) {
  for (std::int64_t i = first_of_thread(); i < all; i += all_threads()) {
    const auto item = static_cast<std::uint64_t>(i / of_item);
    const std::uint64_t bits = random_bits(random_state(seed, item), static_cast<std::uint64_t>(i % of_item));
    const double value = value_in_range(bits, low, high);
    to[i] = GpuNumbers::from<T>(std::is_integral_v<T> ? round(value) : value);
  }
}

/// Forgets a standing change, which nothing else looks at meanwhile.
__device__ void forget(StandingChange* standing) {
  if (standing != nullptr && first_of_thread() == 0) standing->replaced.rows = 0;
}

template <typename T>
__global__ void copy_changed(ChangedTensor tensor, StandingChange* standing) {
  forget(standing);
  const std::int64_t all = tensor.items * tensor.elements;
  for (std::int64_t i = first_of_thread(); i < all; i += all_threads()) {
    static_cast<T*>(tensor.to)[i] =
        static_cast<const T*>(tensor.from)[tensor.source(i / tensor.elements, i % tensor.elements)];
  }
}

__global__ void multiply_changed(ChangedTensor tensor, StandingChange* standing) {
  forget(standing);
  const std::int64_t all = tensor.items * tensor.elements;
  for (std::int64_t i = first_of_thread(); i < all; i += all_threads()) {
    static_cast<float*>(tensor.to)[i] =
        tensor.factor * static_cast<const float*>(tensor.from)[tensor.source(i / tensor.elements, i % tensor.elements)];
  }
}

template <typename T>
__device__ T unchanged_element(const ChangedTensor& tensor, std::int64_t item, std::int64_t element) {
  const T value = static_cast<const T*>(tensor.from)[tensor.source(item, element)];
  if constexpr (std::is_same_v<T, float>) return tensor.factor * value;
  return value;
}

/// Reads a number by halves: an address is never read that way, and as long as no address comes from memory it is known
/// what a launch may write (simulator/checkers/written_allocations.hpp).
__device__ std::int64_t number_at(const std::int64_t& place) {
  const uint2 halves = __ldcg(reinterpret_cast<const uint2*>(&place));
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(halves.y) << 32U | halves.x);
}

/// The elements that stand replaced, without their replacements.
__device__ ReplacedElements replaced_elements(const StandingChange* standing) {
  ReplacedElements replaced;
  if (standing == nullptr) return replaced;
  replaced.first = number_at(standing->replaced.first);
  replaced.row_step = number_at(standing->replaced.row_step);
  replaced.column_step = number_at(standing->replaced.column_step);
  replaced.rows = standing->replaced.rows;
  replaced.columns = standing->replaced.columns;
  return replaced;
}

template <typename T>
__global__ void replace_elements(ChangedTensor tensor, StandingChange* standing, ReplacedElements now) {
  T* const to = static_cast<T*>(tensor.to);
  const ReplacedElements before = replaced_elements(standing);
  const std::int64_t taken_out = before.count();
  const std::int64_t of_item = taken_out + now.count();
  for (std::int64_t i = first_of_thread(); i < of_item * tensor.items; i += all_threads()) {
    const std::int64_t item = i / of_item;
    const std::int64_t number = i % of_item;
    if (number < taken_out) {
      const std::int64_t element = before.element(number);
      // An element that is replaced again is left to the thread that replaces it.
      if (!now.contains(element)) {
        to[item * tensor.elements + element] = unchanged_element<T>(tensor, item, element);
      }
      continue;
    }
    const std::int64_t element = now.element(number - taken_out);
    T value = GpuNumbers::from<T>(now.by.of(item));
    if (now.by.has_range) {
      const double wanted = GpuNumbers::to(value);
      const double own = GpuNumbers::to(unchanged_element<T>(tensor, item, element));
      if (const double other = now.by.instead_of(own, wanted); other != wanted) value = GpuNumbers::from<T>(other);
    }
    to[item * tensor.elements + element] = value;
  }
  if (standing == nullptr) return;
  __syncthreads();  // all threads of the block have read what stood there
  if (threadIdx.x != 0 || atomicAdd(&standing->blocks_done, 1U) + 1 < gridDim.x) return;
  standing->replaced = now;  // all blocks of the grid have
  standing->blocks_done = 0;
}

template <typename T>
__global__ void fill_chosen_elements(T* to, ChosenElements chosen, FillFormula fill) {
  const auto number = static_cast<std::int32_t>(first_of_thread());
  if (number >= chosen.count) return;
  const std::int64_t element = chosen.element(number);
  to[element] = fill.element<T>(element, GpuNumbers{});
}

template <typename T>
__global__ void copy_chosen_elements(T* to, const T* from, ChosenElements chosen) {
  const auto number = static_cast<std::int32_t>(first_of_thread());
  if (number < chosen.count) to[number] = from[chosen.element(number)];
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((threads - 1) / kThreads + 1, 1, kMostBlocks));
}

/// Throws DeviceError; `what` names the work.
template <typename... Parameters>
void launch(const char* what, cudaStream_t stream, void (*kernel)(Parameters...), unsigned blocks,
            std::type_identity_t<Parameters>... arguments) {
  require_cuda(launch_own(kernel, blocks, kThreads, stream, arguments...), what);
}

/// Calls `use` with a value of an unsigned type of the elements' size, for elements that are only moved.
template <typename Use>
void with_element_size(ElementType type, const Use& use) {
  switch (element_bytes(type)) {
    case 1:
      return use(std::uint8_t{});
    case 2:
      return use(std::uint16_t{});
    case 4:
      return use(std::uint32_t{});
    default:
      return use(std::uint64_t{});
  }
}

class CudaFilling final : public DeviceFilling {
 public:
  explicit CudaFilling(const cudaStream_t& current) : current_(current) {}

  void fill(void* to, ElementType type, std::int64_t elements, const FillFormula& fill) override {
    if (elements == 0) return;
    with_element_type(type, [&]<typename T>(T) {
      launch("filling a tensor", current_, fill_elements<T>, blocks_for(elements), static_cast<T*>(to), elements, fill);
    });
  }

  void fill_in_range(const ChangedTensor& tensor, std::uint64_t seed, double low, double high) override {
    const std::int64_t all = tensor.items * tensor.elements;
    with_element_type(tensor.type, [&]<typename T>(T) {
      launch("filling an input", current_, fill_elements_in_range<T>, blocks_for(all), static_cast<T*>(tensor.to), all,
             tensor.elements, seed, low, high);
    });
  }

  void write_changed(const ChangedTensor& tensor, StandingChange* standing) override {
    const unsigned blocks = blocks_for(tensor.items * tensor.elements);
    constexpr const char* what = "writing an input";
    if (tensor.factor != 1) return launch(what, current_, multiply_changed, blocks, tensor, standing);
    with_element_size(tensor.type,
                      [&]<typename T>(T) { launch(what, current_, copy_changed<T>, blocks, tensor, standing); });
  }

  void replace(const ChangedTensor& tensor, StandingChange* standing, const ReplacedElements& now) override {
    // Hardly more elements are taken out than put in.
    const unsigned blocks = blocks_for(2 * std::max<std::int64_t>(now.count(), 1) * tensor.items);
    with_element_type(tensor.type, [&]<typename T>(T) {
      launch("changing an input", current_, replace_elements<T>, blocks, tensor, standing, now);
    });
  }

  void fill_chosen(void* to, ElementType type, const ChosenElements& chosen, const FillFormula& fill) override {
    with_element_type(type, [&]<typename T>(T) {
      launch("filling chosen elements", current_, fill_chosen_elements<T>, blocks_of(chosen), static_cast<T*>(to),
             chosen, fill);
    });
  }

  void copy_chosen(void* to, const void* from, ElementType type, const ChosenElements& chosen) override {
    with_element_size(type, [&]<typename T>(T) {
      launch("copying chosen elements", current_, copy_chosen_elements<T>, blocks_of(chosen), static_cast<T*>(to),
             static_cast<const T*>(from), chosen);
    });
  }

 private:
  /// One thread for each chosen element: there are few.
  static unsigned blocks_of(const ChosenElements& chosen) {
    return static_cast<unsigned>(std::max(chosen.count - 1, 0) / kThreads + 1);
  }
  const cudaStream_t& current_;
};

}  // namespace

std::unique_ptr<DeviceFilling> make_cuda_filling(const cudaStream_t& current) {
  return std::make_unique<CudaFilling>(current);
}

}  // namespace convladder
