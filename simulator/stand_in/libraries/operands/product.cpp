#include "simulator/stand_in/libraries/operands/product.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <stdexcept>
#include <thread>

#include "simulator/stand_in/libraries/openblas/openblas.hpp"
#include "support/narrow_float.hpp"

namespace convladder::stand_in {
namespace {

// Columns or rows that are computed at a time, whatever the number of threads: OpenBLAS may round in another order if
// it is given another number of them.
constexpr std::int64_t kPanel = 512;
constexpr double kLeastForThreads = 1e8;  // operations

/// Calls `work(i)` for all i below `count`, on several threads.
template <typename Work>
void on_threads(std::int64_t count, int threads, const Work& work) {
  std::atomic<std::int64_t> next = 0;
  const auto run = [&] {
    for (std::int64_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (std::int64_t i = 1; i < std::min<std::int64_t>(count, threads); ++i) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
}

/// Eight bits of floating point.
template <const simulated::NarrowFormat& kFormat>
struct Float8 {
  static constexpr const simulated::NarrowFormat& kOwn = kFormat;
  std::uint8_t bits = 0;
};
using E4m3 = Float8<simulated::kFloat8E4M3>;
using E5m2 = Float8<simulated::kFloat8E5M2>;

// Older toolkits have no names for them.
constexpr auto kE4m3 = static_cast<cudaDataType>(28);
constexpr auto kE5m2 = static_cast<cudaDataType>(29);

template <typename Element>
struct Converter {
  template <typename T>
  static T read(Element element) {
    if constexpr (std::is_same_v<Element, Half> || std::is_same_v<Element, Bfloat16>) {
      return static_cast<T>(simulated::to_float(element));
    } else if constexpr (std::is_same_v<Element, E4m3> || std::is_same_v<Element, E5m2>) {
      return static_cast<T>(simulated::narrow_value(Element::kOwn, element.bits));
    } else if constexpr (is_complex<Element> && !is_complex<T>) {
      return static_cast<T>(element.real());
    } else {
      return static_cast<T>(element);
    }
  }

  template <typename T>
  static Element write(T number) {
    if constexpr (is_complex<Element>) {
      return static_cast<Element>(number);
    } else {
      const Real<T> real = std::real(number);
      if constexpr (std::is_same_v<Element, Half> || std::is_same_v<Element, Bfloat16>) {
        return simulated::round_to<Element>(static_cast<double>(real));
      } else if constexpr (std::is_same_v<Element, E4m3> || std::is_same_v<Element, E5m2>) {
        return {static_cast<std::uint8_t>(simulated::narrow_bits(Element::kOwn, static_cast<double>(real)))};
      } else if constexpr (std::is_integral_v<Element>) {
        using Limits = std::numeric_limits<Element>;
        const double whole = std::nearbyint(static_cast<double>(real));
        return static_cast<Element>(
            std::clamp(whole, static_cast<double>(Limits::min()), static_cast<double>(Limits::max())));
      } else {
        return static_cast<Element>(real);
      }
    }
  }
};

/// Calls `work` with an element of the type.
template <typename Work>
void with_type(cudaDataType type, const Work& work) {
  switch (type) {
    case CUDA_R_16F:
      return work(Half{});
    case CUDA_R_16BF:
      return work(Bfloat16{});
    case CUDA_R_32F:
      return work(float{});
    case CUDA_R_64F:
      return work(double{});
    case CUDA_C_32F:
      return work(std::complex<float>{});
    case CUDA_C_64F:
      return work(std::complex<double>{});
    case CUDA_R_8I:
      return work(std::int8_t{});
    case CUDA_R_8U:
      return work(std::uint8_t{});
    case CUDA_R_32I:
      return work(std::int32_t{});
    case kE4m3:
      return work(E4m3{});
    case kE5m2:
      return work(E5m2{});
    default:
      throw std::runtime_error("an element type that is not known here");
  }
}

}  // namespace

template <typename T>
void multiply(const ProductShape& shape, T alpha, const T* a, const T* b, T beta, T* c, int host_threads) {
  const auto operation = [](bool turns, bool conjugates) {
    return !turns ? kPlain : conjugates && is_complex<T> ? kConjugateTransposed : kTransposed;
  };
  const int of_a = operation(shape.turns_a, shape.conjugates_a);
  const int of_b = operation(shape.turns_b, shape.conjugates_b);
  const auto part = [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
    const T* const from_a = a + (shape.turns_a ? row * shape.lda : row);
    const T* const from_b = b + (shape.turns_b ? column : column * shape.ldb);
    gemm(of_a, of_b, static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(shape.k), alpha, from_a,
         static_cast<int>(shape.lda), from_b, static_cast<int>(shape.ldb), beta, c + row + column * shape.ldc,
         static_cast<int>(shape.ldc));
  };
  const double operations =
      2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  if (operations < kLeastForThreads || std::max(shape.m, shape.n) <= kPanel) {
    part(0, shape.m, 0, shape.n);
    return;
  }
  const bool by_columns = shape.n >= shape.m;
  const std::int64_t size = by_columns ? shape.n : shape.m;
  on_threads((size + kPanel - 1) / kPanel, host_threads, [&](std::int64_t i) {
    const std::int64_t first = i * kPanel;
    const std::int64_t count = std::min(kPanel, size - first);
    if (by_columns) {
      part(0, shape.m, first, count);
    } else {
      part(first, count, 0, shape.n);
    }
  });
}

template void multiply(const ProductShape&, float, const float*, const float*, float, float*, int);
template void multiply(const ProductShape&, double, const double*, const double*, double, double*, int);
template void multiply(const ProductShape&, std::complex<float>, const std::complex<float>*, const std::complex<float>*,
                       std::complex<float>, std::complex<float>*, int);
template void multiply(const ProductShape&, std::complex<double>, const std::complex<double>*,
                       const std::complex<double>*, std::complex<double>, std::complex<double>*, int);

bool is_known(cudaDataType type) {
  try {
    with_type(type, [](auto) {});
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

std::size_t bytes_of(cudaDataType type) {
  std::size_t bytes = 0;
  with_type(type, [&](auto element) { bytes = sizeof element; });
  return bytes;
}

bool is_complex_type(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

template <typename T>
std::vector<T> numbers_of(const TypedMatrix& matrix) {
  std::vector<T> numbers(static_cast<std::size_t>(matrix.rows * matrix.columns));
  with_type(matrix.type, [&](auto element) {
    using Element = decltype(element);
    const auto* const from = static_cast<const Element*>(matrix.at);
    T* to = numbers.data();
    const std::int64_t by_row = matrix.is_by_rows ? matrix.leading : 1;
    const std::int64_t by_column = matrix.is_by_rows ? 1 : matrix.leading;
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      for (std::int64_t row = 0; row < matrix.rows; ++row) {
        *to++ = Converter<Element>::template read<T>(from[row * by_row + column * by_column]);
      }
    }
  });
  return numbers;
}

template <typename T>
void put_numbers(const TypedMatrix& matrix, const std::vector<T>& numbers) {
  with_type(matrix.type, [&](auto element) {
    using Element = decltype(element);
    auto* const to = static_cast<Element*>(matrix.at);
    const T* from = numbers.data();
    const std::int64_t by_row = matrix.is_by_rows ? matrix.leading : 1;
    const std::int64_t by_column = matrix.is_by_rows ? 1 : matrix.leading;
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      for (std::int64_t row = 0; row < matrix.rows; ++row) {
        to[row * by_row + column * by_column] = Converter<Element>::write(*from++);
      }
    }
  });
}

template std::vector<float> numbers_of(const TypedMatrix&);
template std::vector<double> numbers_of(const TypedMatrix&);
template std::vector<std::complex<float>> numbers_of(const TypedMatrix&);
template std::vector<std::complex<double>> numbers_of(const TypedMatrix&);
template void put_numbers(const TypedMatrix&, const std::vector<float>&);
template void put_numbers(const TypedMatrix&, const std::vector<double>&);
template void put_numbers(const TypedMatrix&, const std::vector<std::complex<float>>&);
template void put_numbers(const TypedMatrix&, const std::vector<std::complex<double>>&);

}  // namespace convladder::stand_in
