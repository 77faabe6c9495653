#include "simulator/stand_in/libraries/cufft/transform.hpp"

#include <fftw3.h>

#include <complex>
#include <mutex>
#include <stdexcept>

namespace convladder::stand_in::cufft {
namespace {

/// FFTW's functions for a precision.
template <typename Real>
struct Fftw;
template <>
struct Fftw<float> {
  using Dimension = fftwf_iodim64;
  static constexpr auto kComplex = fftwf_plan_guru64_dft;
  static constexpr auto kToComplex = fftwf_plan_guru64_dft_r2c;
  static constexpr auto kToReal = fftwf_plan_guru64_dft_c2r;
  static constexpr auto kExecute = fftwf_execute;
  static constexpr auto kDestroy = fftwf_destroy_plan;
  using Complex = fftwf_complex;
};
template <>
struct Fftw<double> {
  using Dimension = fftw_iodim64;
  static constexpr auto kComplex = fftw_plan_guru64_dft;
  static constexpr auto kToComplex = fftw_plan_guru64_dft_r2c;
  static constexpr auto kToReal = fftw_plan_guru64_dft_c2r;
  static constexpr auto kExecute = fftw_execute;
  static constexpr auto kDestroy = fftw_destroy_plan;
  using Complex = fftw_complex;
};

/// Copies a side's numbers, which lie anyhow, to where they lie one behind the other.
template <typename Number>
std::vector<Number> gathered(const Number* from, const Layout& layout) {
  std::vector<std::int64_t> offsets = {0};
  std::vector<Steps> steps = {layout.batch};
  steps.insert(steps.end(), layout.dimensions.begin(), layout.dimensions.end());
  for (const Steps& one : steps) {
    std::vector<std::int64_t> next;
    next.reserve(offsets.size() * static_cast<std::size_t>(one.count));
    for (const std::int64_t offset : offsets) {
      for (std::int64_t i = 0; i < one.count; ++i) next.push_back(offset + i * one.distance);
    }
    offsets = std::move(next);
  }
  std::vector<Number> result;
  result.reserve(offsets.size());
  for (const std::int64_t offset : offsets) result.push_back(from[offset]);
  return result;
}

template <typename Real>
void transform_as(Kind kind, int sign, const std::vector<std::int64_t>& sizes, void* in, Layout from, void* out,
                  const Layout& to) {
  using Library = Fftw<Real>;
  using Complex = typename Library::Complex;
  // FFTW overwrites complex numbers that it makes real ones of, in more than one dimension.
  std::vector<std::complex<Real>> copy;
  if (kind == Kind::complex_to_real && in != out) {
    copy = gathered(static_cast<const std::complex<Real>*>(in), from);
    in = copy.data();
    std::vector<std::int64_t> rows;
    for (const Steps& one : from.dimensions) rows.push_back(one.count);
    from = packed(rows, rows.back(), from.batch.count, from.element_bytes);
  }
  std::vector<typename Library::Dimension> dimensions;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    dimensions.push_back({sizes[i], from.dimensions[i].distance, to.dimensions[i].distance});
  }
  const typename Library::Dimension batch = {from.batch.count, from.batch.distance, to.batch.distance};
  const int rank = static_cast<int>(sizes.size());
  // FFTW makes one plan at a time; it does not look at the numbers for it.
  static std::mutex planning;
  const auto made = [&] {
    const std::scoped_lock lock(planning);
    switch (kind) {
      case Kind::complex_to_complex:
        return Library::kComplex(rank, dimensions.data(), 1, &batch, static_cast<Complex*>(in),
                                 static_cast<Complex*>(out), sign, FFTW_ESTIMATE);
      case Kind::real_to_complex:
        return Library::kToComplex(rank, dimensions.data(), 1, &batch, static_cast<Real*>(in),
                                   static_cast<Complex*>(out), FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
      case Kind::complex_to_real:
        return Library::kToReal(rank, dimensions.data(), 1, &batch, static_cast<Complex*>(in), static_cast<Real*>(out),
                                FFTW_ESTIMATE);
    }
    return decltype(Library::kToReal(0, nullptr, 0, nullptr, nullptr, nullptr, 0)){};
  };
  const auto plan = made();
  if (plan == nullptr) throw std::runtime_error("FFTW has no plan for this layout");
  Library::kExecute(plan);
  const std::scoped_lock lock(planning);
  Library::kDestroy(plan);
}

}  // namespace

void transform(Kind kind, bool is_double, int sign, const std::vector<std::int64_t>& sizes, void* in,
               const Layout& from, void* out, const Layout& to) {
  if (is_double) {
    transform_as<double>(kind, sign, sizes, in, from, out, to);
  } else {
    transform_as<float>(kind, sign, sizes, in, from, out, to);
  }
}

}  // namespace convladder::stand_in::cufft
