#include "harness/measure/verification/expected_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "devices/cpu/all_cores.hpp"
#include "harness/measure/verification/fresh_input.hpp"
#include "harness/measure/verification/scaled_error.hpp"
#include "support/seeded_random.hpp"
#include "variants/accuracy.hpp"

namespace convladder {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kPokesTried = 3;
constexpr double kSurelySeen = 4;        // in tolerances: an answer may itself be off by one
constexpr double kFlopOfAnElement = 20;  // cost of making and comparing an element, besides its operations

/// Takes the larger error. A NaN is taken over and stays.
void take_larger(double& largest, double error) {
  if (!std::isnan(largest) && !(error <= largest)) largest = error;
}

template <typename T>
const T* elements_of(const Bytes& bytes, std::int64_t first) {
  return reinterpret_cast<const T*>(bytes.data()) + first;
}

/// " of y" where the tensor has another name than that of an only output.
std::string of_tensor(const ProblemTensor& tensor) {
  return tensor.name == "output" ? std::string() : fmt::format(" of {}", tensor.name);
}

/// Reads so many elements of a tensor. Returns false if they cannot be had.
bool read_elements(const ReadTensor& read, const ProblemTensor& tensor, std::int64_t first, std::int64_t count,
                   std::int64_t most_bytes, Bytes& to) {
  const auto bytes = static_cast<std::int64_t>(element_bytes(tensor.type));
  const std::int64_t at_once = std::max<std::int64_t>(most_bytes / bytes, 1);
  to.resize(static_cast<std::size_t>(count * bytes));
  for (std::int64_t at = 0; at < count; at += at_once) {
    const std::int64_t now = std::min(at_once, count - at);
    const void* const found = read(tensor.name, first + at, now);
    if (found == nullptr) return false;
    std::memcpy(to.data() + at * bytes, found, static_cast<std::size_t>(now * bytes));
  }
  return true;
}

}  // namespace

/// An item's tensors, as a call finds them.
struct ExpectedItems::GivenItem {
  std::vector<Bytes> values;  ///< of the inputs, then of the in-outs
  ProblemTensors tensors;
};

/// Some items as a call left them, one after the other in each tensor.
struct ExpectedItems::FoundItems {
  int first = 0;
  int count = 0;
  std::vector<Bytes> results = {};
  std::vector<Bytes> inputs = {};  ///< empty if none of the items is compared
};

struct ExpectedItems::ItemFound {
  double max_scaled_error = 0;
  std::int64_t unwritten = 0;
  std::int64_t not_finite = 0;
  std::vector<std::int64_t> left_by_chance;  ///< of each output: elements not compared that hold the fill, by chance or
                                             ///< not
  std::int64_t compared = 0;
  std::string first_failure;

  void fail(const std::string& failure) {
    if (first_failure.empty()) first_failure = failure;
  }
};

ExpectedItems::ExpectedItems(ProblemData data, double most_flop)
    : data_(std::move(data)),
      layouts_(input_layouts_with_ranges(data_)),
      inputs_(data_.shape.problem->inputs(data_.shape)),
      outputs_(data_.shape.problem->outputs(data_.shape)),
      results_(data_.shape.problem->results(data_.shape)) {
  const ProblemSize one = data_.shape.with_batch(1);
  const double of_item =
      one.flop() + kFlopOfAnElement * static_cast<double>(one.input_elements() + one.output_elements());
  const double cheap = most_flop / of_item;
  compared_items_ =
      cheap >= batch() ? batch() : std::clamp(static_cast<int>(cheap), std::min(kFewestItems, batch()), batch());
  const std::vector<ReferenceOutput> first = reference(given({}, 0));
  for (std::size_t output = 0; output < outputs_.size(); ++output) {
    float& largest = fill_scales_.emplace_back(0.0F);
    for (const double y : first[output].value) {
      if (std::isfinite(y)) largest = std::max(largest, static_cast<float>(std::abs(y)));
    }
    if (largest == 0) largest = 1;
  }
  moves_elements_ = std::ranges::any_of(layouts_, &InputLayout::may_move);
  // Otherwise this is not asked, and the reference may take long.
  for (std::uint64_t pokes = 1; moves_elements_ && shows_one_element_ && pokes <= 2 * kPokesTried; pokes += 2) {
    shows_one_element_ = would_show(first, pokes);
  }
}

/// Whether the first item's results change, beyond the tolerance, where one element of each input is replaced.
bool ExpectedItems::would_show(const std::vector<ReferenceOutput>& unchanged, std::uint64_t pokes) const {
  CallSetting poked;
  poked.change.pokes = pokes;
  poked.call = 1;
  const std::vector<ReferenceOutput> other = reference(given(poked, 0));
  const double tolerance = data_.shape.problem->granted_tolerance(kLargestTolerance, data_.shape);
  for (std::size_t which = 0; which < other.size(); ++which) {
    for (std::size_t i = 0; i < other[which].value.size(); ++i) {
      const double error = std::abs(other[which].value[i] - unchanged[which].value[i]);
      if (!(error <= kSurelySeen * tolerance * other[which].magnitude[i])) return true;
    }
  }
  return false;
}

ExpectedItems::GivenItem ExpectedItems::given(const CallSetting& setting, int item) const {
  GivenItem given;
  given.tensors.constants = data_.placed_constants();
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const InputLayout& layout = layouts_[i];
    const std::byte* const own = data_.given[i].bytes.data();
    Bytes& values = given.values.emplace_back(layout.bytes_per_image());
    write_image_of_call(values.data(), setting.change, layout, own, item, setting.call);
    (i < inputs_.size() ? given.tensors.inputs : given.tensors.in_outs)
        .push_back({data_.given[i].tensor, values.data()});
  }
  return given;
}

std::vector<ReferenceOutput> ExpectedItems::reference(const GivenItem& item) const {
  std::vector<ReferenceOutput> expected = data_.shape.problem->reference(data_.shape, item.tensors);
  const auto fits = [](const ReferenceOutput& one, const ProblemTensor& tensor) {
    const auto elements = static_cast<std::size_t>(tensor.elements);
    return one.value.size() == elements && one.magnitude.size() == elements;
  };
  if (!std::ranges::equal(expected, results_, fits)) {
    throw std::logic_error(
        fmt::format("the reference of {} has other elements than its results", data_.shape.problem->name()));
  }
  return expected;
}

std::vector<bool> ExpectedItems::chosen_items() const {
  std::vector<bool> chosen(static_cast<std::size_t>(batch()), compared_items_ == batch());
  SeededRandom random(secret_number(), 0);
  for (int left = compared_items_ == batch() ? 0 : compared_items_; left > 0;) {
    const auto item = static_cast<std::size_t>(random.between(0, batch() - 1));
    if (chosen[item]) continue;
    chosen[item] = true;
    --left;
  }
  return chosen;
}

/// One comparison: a call's results, item by item.
class ExpectedItems::Comparison {
 public:
  Comparison(const ExpectedItems& expected, const CallSetting& setting, double tolerance)
      : expected_(expected), setting_(setting), tolerance_(tolerance), chosen_(expected.chosen_items()) {}

  Check run(const ReadTensor& read, std::int64_t most_bytes) {
    std::size_t largest = 1;
    for (const ProblemTensor& one : expected_.results_) largest = std::max(largest, one.bytes());
    const auto at_once = static_cast<int>(
        std::clamp<std::int64_t>(most_bytes / static_cast<std::int64_t>(largest), 1, expected_.batch()));
    left_by_chance_.resize(expected_.outputs_.size());
    for (int first = 0; first < expected_.batch(); first += at_once) {
      FoundItems found{.first = first, .count = std::min(at_once, expected_.batch() - first)};
      if (!read_items(read, most_bytes, found)) return {};
      std::vector<ItemFound> of_items(static_cast<std::size_t>(found.count));
      on_all_cores(of_items.size(), [&](std::size_t i) {
        of_items[i].left_by_chance.resize(expected_.outputs_.size());
        const int item = first + static_cast<int>(i);
        is_chosen(item) ? compare_item(item, found, of_items[i]) : look_over(item, found, of_items[i]);
      });
      for (const ItemFound& one : of_items) add(one);
    }
    return conclude();
  }

 private:
  bool is_chosen(int item) const { return chosen_[static_cast<std::size_t>(item)]; }

  bool read_items(const ReadTensor& read, std::int64_t most_bytes, FoundItems& found) const {
    const auto read_all = [&](const std::vector<ProblemTensor>& tensors, std::vector<Bytes>& to) {
      return std::ranges::all_of(tensors, [&](const ProblemTensor& one) {
        return read_elements(read, one, found.first * one.elements, found.count * one.elements, most_bytes,
                             to.emplace_back());
      });
    };
    bool any = false;
    for (int i = 0; i < found.count; ++i) any = any || is_chosen(found.first + i);
    return read_all(expected_.results_, found.results) && (!any || read_all(expected_.inputs_, found.inputs));
  }

  void compare_item(int item, const FoundItems& found, ItemFound& result) const {
    const GivenItem given = expected_.given(setting_, item);
    const std::vector<ReferenceOutput> expected = expected_.reference(given);
    const std::size_t outputs = expected_.outputs_.size();
    const std::size_t inputs = expected_.inputs_.size();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const ProblemTensor& tensor = expected_.results_[i];
      with_element_type(tensor.type, [&]<typename T>(T) {
        const T* const elements = elements_of<T>(found.results[i], (item - found.first) * tensor.elements);
        if (i >= outputs) {
          const T* const before = elements_of<T>(given.values[inputs + i - outputs], 0);
          return compare_elements(item, tensor, elements, expected[i], result, [&](std::int64_t at) {
            return std::memcmp(before + at, elements + at, sizeof(T)) == 0;
          });
        }
        if (tensor.any_order) return compare_sorted(item, tensor, elements, expected[i], result);
        const OutputFill fill = setting_.fill_of(i);
        compare_elements(item, tensor, elements, expected[i], result,
                         [&](std::int64_t at) { return fill.left_at(item * tensor.elements + at, elements[at]); });
      });
    }
    for (std::size_t i = 0; i < inputs; ++i) require_input(item, i, given.values[i], found, result);
  }

  /// Compares values as a set, in whatever order they lie.
  template <typename T>
  void compare_sorted(int item, const ProblemTensor& tensor, const T* found, const ReferenceOutput& expected,
                      ItemFound& result) const {
    std::vector<T> in_order(found, found + tensor.elements);
    // A NaN has no place in an order; it is never right.
    std::ranges::sort(in_order, [](T a, T b) {
      const double first = to_double(a);
      const double second = to_double(b);
      return std::isnan(second) ? !std::isnan(first) : first < second;
    });
    ReferenceOutput sorted = expected;
    std::ranges::sort(sorted.value);
    compare_elements(item, tensor, in_order.data(), sorted, result, [](std::int64_t) { return false; });
  }

  template <typename T, typename IsLeft>
  void compare_elements(int item, const ProblemTensor& tensor, const T* found, const ReferenceOutput& expected,
                        ItemFound& result, const IsLeft& is_left) const {
    result.compared += tensor.elements;
    for (std::int64_t i = 0; i < tensor.elements; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (!std::isfinite(to_double(found[i]))) ++result.not_finite;
      const double scaled = scaled_error(found[i], expected.value[at], expected.magnitude[at]);
      take_larger(result.max_scaled_error, scaled);
      if (scaled <= tolerance_) continue;
      const bool left = is_left(i);
      result.unwritten += left ? 1 : 0;
      if (!result.first_failure.empty()) continue;
      const bool is_exact = expected.magnitude[at] == 0;
      result.fail(
          fmt::format("item {}, element {}{} {}, expected {:.{}g}{}", item, i, of_tensor(tensor),
                      left ? "is as it was before the call" : "is " + number_text(found[i]), expected.value[at],
                      std::is_same_v<T, double> ? 17 : 9,
                      is_exact ? ", and nothing else is right"
                               : fmt::format(" (error {:.2g} of its magnitude; allowed: {:.2g})", scaled, tolerance_)));
    }
  }

  void require_input(int item, std::size_t which, const Bytes& given, const FoundItems& found,
                     ItemFound& result) const {
    const std::byte* const now =
        found.inputs[which].data() + static_cast<std::size_t>(item - found.first) * given.size();
    const auto differs = std::ranges::mismatch(given, std::span(now, given.size())).in1;
    if (differs == given.end()) return;
    const ProblemTensor& tensor = expected_.inputs_[which];
    result.fail(fmt::format("item {}, element {} of the input '{}' was overwritten", item,
                            static_cast<std::size_t>(differs - given.begin()) / element_bytes(tensor.type),
                            tensor.name));
  }

  /// Checks an item as far as that is possible without its reference.
  void look_over(int item, const FoundItems& found, ItemFound& result) const {
    for (std::size_t i = 0; i < found.results.size(); ++i) {
      const ProblemTensor& tensor = expected_.results_[i];
      with_element_type(tensor.type, [&]<typename T>(T) {
        const T* const elements = elements_of<T>(found.results[i], (item - found.first) * tensor.elements);
        const OutputFill fill = setting_.fill_of(i);
        for (std::int64_t at = 0; at < tensor.elements; ++at) {
          const double number = to_double(elements[at]);
          if (std::isnan(number)) {
            result.fail(fmt::format("item {}, element {}{} is not a number", item, at, of_tensor(tensor)));
          }
          if (!std::isfinite(number)) ++result.not_finite;
          if (i >= expected_.outputs_.size()) continue;
          result.left_by_chance[i] += fill.left_at(item * tensor.elements + at, elements[at]) ? 1 : 0;
        }
      });
    }
  }

  void add(const ItemFound& one) {
    take_larger(check_.max_scaled_error, one.max_scaled_error);
    check_.unwritten += one.unwritten;
    check_.not_finite += one.not_finite;
    check_.compared += one.compared;
    check_.images += one.compared > 0 ? 1 : 0;
    for (std::size_t i = 0; i < left_by_chance_.size(); ++i) left_by_chance_[i] += one.left_by_chance[i];
    if (check_.first_failure.empty()) check_.first_failure = one.first_failure;
  }

  Check conclude() {
    for (std::size_t i = 0; i < left_by_chance_.size(); ++i) {
      const ProblemTensor& tensor = expected_.outputs_[i];
      const auto others = static_cast<double>((expected_.batch() - check_.images) * tensor.elements);
      if (OutputFill::is_too_many(tensor.type, left_by_chance_[i], others)) check_.unwritten += left_by_chance_[i];
    }
    if (check_.unwritten > 0) {
      const std::string unwritten = fmt::format("{} of {} output elements are as they were before the call",
                                                check_.unwritten, expected_.data_.shape.output_elements());
      check_.first_failure = check_.first_failure.empty() ? unwritten : unwritten + "; first: " + check_.first_failure;
    }
    check_.passed = check_.first_failure.empty();
    return std::move(check_);
  }

  const ExpectedItems& expected_;
  const CallSetting& setting_;
  double tolerance_;
  std::vector<bool> chosen_;
  std::vector<std::int64_t> left_by_chance_;
  Check check_;
};

std::vector<ReferenceOutput> ExpectedItems::of_elements(const CallSetting& setting, int item,
                                                        const std::vector<std::vector<std::int64_t>>& elements) const {
  const std::vector<ReferenceOutput> whole = reference(given(setting, item));
  std::vector<ReferenceOutput> chosen(elements.size());
  for (std::size_t result = 0; result < elements.size(); ++result) {
    for (const std::int64_t element : elements[result]) {
      chosen[result].value.push_back(whole[result].value.at(static_cast<std::size_t>(element)));
      chosen[result].magnitude.push_back(whole[result].magnitude.at(static_cast<std::size_t>(element)));
    }
  }
  return chosen;
}

Check ExpectedItems::compare(const ReadTensor& read, std::int64_t most_bytes, const CallSetting& setting,
                             double tolerance) const {
  return Comparison(*this, setting, tolerance).run(read, most_bytes);
}

}  // namespace convladder
