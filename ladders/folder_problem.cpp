#include "ladders/folder_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

namespace convladder {
namespace {

constexpr int kLargestWhole = 8;  // sums of their products stay where float32 holds them exactly

/// A random number from 0 to below 1, with at least as many places as float32 has.
double fraction(SeededRandom& random) { return static_cast<double>(random.next() >> 11U) * 0x1p-53; }

/// A normally distributed random number by Box and Muller, who make two at once.
double normal(SeededRandom& random) {
  const double radius = std::sqrt(-2 * std::log(1 - fraction(random)));
  return radius * std::cos(2 * std::numbers::pi * fraction(random));
}

/// A random whole number in low … high, both included, of any range that a double holds exactly.
double whole_between(SeededRandom& random, double low, double high) {
  return std::min(low + std::floor(fraction(random) * (high - low + 1)), high);
}

/// The whole numbers near 0 that lie in a fill's range; empty if there are none.
std::optional<std::pair<double, double>> small_wholes(const TensorFill& fill) {
  const bool is_normal = fill.kind == TensorFill::Kind::normal;
  const double least = is_normal ? fill.low - 2 * fill.high : fill.low;
  const double most = is_normal ? fill.low + 2 * fill.high : fill.high;
  const double low = std::max<double>(std::ceil(least), -kLargestWhole);
  const double high = std::min<double>(std::floor(most), kLargestWhole);
  if (low > high) return std::nullopt;
  return std::pair{low, high};
}

double drawn(const TensorFill& fill, SeededRandom& random, bool whole) {
  if (fill.kind == TensorFill::Kind::choice) {
    return fill.values[static_cast<std::size_t>(whole_between(random, 0, static_cast<double>(fill.values.size() - 1)))];
  }
  if (whole && fill.kind != TensorFill::Kind::constant) {
    if (const auto range = small_wholes(fill)) return whole_between(random, range->first, range->second);
  }
  switch (fill.kind) {
    case TensorFill::Kind::uniform:
      return fill.low + fraction(random) * (fill.high - fill.low);
    case TensorFill::Kind::normal:
      return fill.low + fill.high * normal(random);
    case TensorFill::Kind::whole:
      return whole_between(random, fill.low, fill.high);
    case TensorFill::Kind::constant:
    default:  // filled as a whole, not element by element
      break;
  }
  return fill.low;
}

template <typename T>
void fill_permutation(std::span<T> values, SeededRandom& random) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = from_double<T>(static_cast<double>(i));
  for (std::size_t i = values.size(); i > 1; --i) {
    const auto other = static_cast<std::size_t>(whole_between(random, 0, static_cast<double>(i - 1)));
    std::swap(values[i - 1], values[other]);
  }
}

/// Rows of what a softmax of normal numbers makes.
template <typename T>
void fill_shares(std::span<T> values, std::size_t row, SeededRandom& random) {
  std::vector<double> parts(row);
  for (std::size_t first = 0; first < values.size(); first += row) {
    std::ranges::generate(parts, [&random] { return std::exp(normal(random)); });
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    for (std::size_t i = 0; i < row; ++i) values[first + i] = from_double<T>(parts[i] / sum);
  }
}

/// Where parts of random lengths begin, each row anew. No part is empty where there is enough for all.
template <typename T>
void fill_offsets(std::span<T> values, std::size_t row, double last, SeededRandom& random) {
  const auto parts = static_cast<double>(row - 1);
  const double least = last >= parts ? 1 : 0;  // of each part
  std::vector<double> ends(row, 0);
  for (std::size_t first = 0; first < values.size(); first += row) {
    for (std::size_t i = 1; i < row; ++i) ends[i] = whole_between(random, 0, last - least * parts);
    std::sort(ends.begin() + 1, ends.end());
    if (row > 1) ends.back() = last - least * parts;
    for (std::size_t i = 0; i < row; ++i) {
      values[first + i] = from_double<T>(ends[i] + least * static_cast<double>(i));
    }
  }
}

/// The type in which a reference gets and gives a tensor: floats as double, whole numbers as they are.
ElementType reference_type(ElementType type) { return is_floating(type) ? ElementType::f64 : type; }

std::vector<std::byte> for_reference(const PlacedTensor& placed) {
  const auto elements = static_cast<std::size_t>(placed.tensor.elements);
  std::vector<std::byte> bytes(elements * element_bytes(reference_type(placed.tensor.type)));
  with_element_type(placed.tensor.type, [&]<typename T>(T) {
    const T* const from = placed.as<T>();
    if constexpr (std::is_integral_v<T>) {
      std::memcpy(bytes.data(), from, bytes.size());
    } else {
      auto* const to = reinterpret_cast<double*>(bytes.data());
      for (std::size_t i = 0; i < elements; ++i) to[i] = to_double(from[i]);
    }
  });
  return bytes;
}

/// Fills in the scale where the reference gave none (NaN): the larger of |value| and the root mean square of all
/// values.
void complete_scale(const std::vector<double>& values, std::vector<double>& scale) {
  double sum = 0;
  std::size_t finite = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++finite;
  }
  const double usual = finite == 0 ? 1 : std::sqrt(sum / static_cast<double>(finite));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(scale[i])) scale[i] = std::max(std::abs(values[i]), usual);
  }
}

}  // namespace

FolderProblem::FolderProblem(std::string text, const std::string& file)
    : text_(std::move(text)), ladder_(parse_problem(text_, file)), reference_name_("float64, of the folder") {
  for (const LadderTensor& one : ladder_.tensors) {
    if (one.has_scale()) largest_tolerance_ = std::max(largest_tolerance_, one.comparison.tolerance);
  }
}

void FolderProblem::set_reference(LadderReference reference, std::string name, std::string identity) {
  reference_identity_ = std::move(identity);
  reference_ = std::move(reference);
  reference_name_ = std::move(name);
}

std::vector<Dimension> FolderProblem::dimensions() const {
  std::vector<Dimension> all;
  for (const LadderDimension& one : ladder_.dimensions) {
    all.push_back({one.letter, one.name, one.usual, one.smallest, one.largest});
  }
  return all;
}

std::string FolderProblem::own_size_error(const ProblemSize& size) const {
  if (size.batch != 1) return "a batch is for layers: what a size of this problem holds its dimensions say";
  try {
    static_cast<void>(values(size));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

std::vector<ProblemTensor> FolderProblem::tensors(const ProblemSize& size, TensorRole role) const {
  const SizeValues known = values(size);
  std::vector<ProblemTensor> all;
  for (const LadderTensor& one : ladder_.tensors) {
    if (one.role != role) continue;
    all.push_back({.name = one.name,
                   .elements = ladder_.elements(one, known),
                   .type = one.type,
                   .stays_as_filled = one.fill.is_fixed(),
                   .may_move = one.role != TensorRole::out && !one.fill.is_fixed(),
                   .any_order = one.comparison.kind == TensorComparison::Kind::any_order});
  }
  return all;
}

std::vector<ProblemTensor> FolderProblem::inputs(const ProblemSize& size) const {
  return tensors(size, TensorRole::in);
}
std::vector<ProblemTensor> FolderProblem::outputs(const ProblemSize& size) const {
  return tensors(size, TensorRole::out);
}
std::vector<ProblemTensor> FolderProblem::in_outs(const ProblemSize& size) const {
  return tensors(size, TensorRole::in_out);
}

double FolderProblem::flop(const ProblemSize& size) const { return ladder_.flop.value(values(size)); }

std::optional<double> FolderProblem::least_bytes(const ProblemSize& size) const {
  if (!ladder_.least_bytes) return std::nullopt;
  return ladder_.least_bytes->value(values(size));
}

void FolderProblem::fill(const ProblemSize& size, const PlacedTensor& placed, SeededRandom& random, bool whole) const {
  const auto tensor = std::ranges::find(ladder_.tensors, placed.tensor.name, &LadderTensor::name);
  const SizeValues known = values(size);
  TensorFill fill = tensor->fill;
  if (fill.most) fill.high = fill.most->value(known);
  const std::size_t row = tensor->shape.empty() ? 1 : static_cast<std::size_t>(tensor->shape.back().value(known));
  with_element_type(placed.tensor.type, [&]<typename T>(T) {
    const std::span<T> values(placed.as<T>(), static_cast<std::size_t>(placed.tensor.elements));
    switch (fill.kind) {
      case TensorFill::Kind::permutation:
        return fill_permutation(values, random);
      case TensorFill::Kind::shares:
        return fill_shares(values, row, random);
      case TensorFill::Kind::offsets:
        return fill_offsets(values, row, fill.high, random);
      default:
        for (T& one : values) one = from_double<T>(drawn(fill, random, whole));
    }
  });
}

std::vector<ReferenceOutput> FolderProblem::reference(const ProblemSize& size, const ProblemTensors& item) const {
  if (!reference_) throw std::logic_error("the reference is not known in this process");
  const SizeValues known = values(size);
  std::vector<ReferenceTensor> all;
  auto input = item.inputs.begin();
  auto in_out = item.in_outs.begin();
  for (const LadderTensor& one : ladder_.tensors) {
    ReferenceTensor& next = all.emplace_back(ReferenceTensor{&one, ladder_.elements(one, known), {}, {}});
    const auto elements = static_cast<std::size_t>(next.elements);
    if (one.role == TensorRole::in) next.values = for_reference(*input++);
    if (one.role == TensorRole::in_out) next.values = for_reference(*in_out++);
    if (one.role == TensorRole::out) next.values.resize(elements * element_bytes(reference_type(one.type)));
    if (one.has_scale()) next.scale.assign(elements, std::numeric_limits<double>::quiet_NaN());
  }
  reference_(size, all);

  const auto result = [&](const ReferenceTensor& of) {
    ReferenceOutput output;
    const auto elements = static_cast<std::size_t>(of.elements);
    output.value.resize(elements);
    with_element_type(reference_type(of.tensor->type), [&]<typename T>(T) {
      const auto* const found = reinterpret_cast<const T*>(of.values.data());
      for (std::size_t i = 0; i < elements; ++i) output.value[i] = to_double(found[i]);
    });
    if (of.tensor->has_scale()) {
      output.magnitude = of.scale;
      complete_scale(output.value, output.magnitude);
      const double share = of.tensor->comparison.tolerance / largest_tolerance_;
      if (share != 1) std::ranges::for_each(output.magnitude, [share](double& one) { one *= share; });
      return output;
    }
    // Rounded to values that its type holds.
    with_element_type(of.tensor->type, [&]<typename T>(T) {
      for (double& one : output.value) one = to_double(from_double<T>(one));
    });
    output.magnitude.assign(elements, 0);
    return output;
  };
  std::vector<ReferenceOutput> outputs;
  for (const TensorRole role : {TensorRole::out, TensorRole::in_out}) {
    for (const ReferenceTensor& one : all) {
      if (one.tensor->role == role) outputs.push_back(result(one));
    }
  }
  return outputs;
}

double FolderProblem::granted_tolerance(double /*wanted*/, const ProblemSize& /*size*/) const {
  return largest_tolerance_;
}

bool FolderProblem::is_exact_on_whole_numbers(const ProblemSize& /*size*/, double /*tolerance*/) const { return false; }

}  // namespace convladder
