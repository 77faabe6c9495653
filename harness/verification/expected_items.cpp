#include "harness/verification/expected_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "devices/cpu/all_cores.hpp"
#include "support/seeded_random.hpp"

namespace convladder {
namespace {

constexpr double kByChance = 1e-6;  // of elements that nobody compares: right ones that happen to be the fill's bits

/// A NaN is taken over and stays.
void take_larger(double& largest, double error) {
  if (!std::isnan(largest) && !(error <= largest)) largest = error;
}

/// |error| / magnitude; 0 where there is no error, also between equal infinities and where both are NaN.
double scaled_error(float found, double value, double magnitude) {
  if (found == value || (std::isnan(value) && std::isnan(found))) return 0;
  const double error = std::abs(found - value);
  return error / magnitude;
}

}  // namespace

struct ExpectedItems::ItemFound {
  double max_scaled_error = 0;
  std::int64_t unwritten = 0;
  std::int64_t not_finite = 0;
  std::int64_t left_by_chance = 0;  ///< or not: of elements that were not compared
  std::int64_t compared = 0;
  std::string first_failure;
};

ExpectedItems::ExpectedItems(ProblemData data, double most_flop) : data_(std::move(data)) {
  const double of_item = std::max(1.0, data_.shape.with_batch(1).flop());
  const double cheap = most_flop / of_item;
  compared_items_ =
      cheap >= batch() ? batch() : std::clamp(static_cast<int>(cheap), std::min(kFewestItems, batch()), batch());
  for (const float x : data_.input) largest_input_ = std::max(largest_input_, std::abs(x));
  if (largest_input_ == 0) largest_input_ = 1;
  const ReferenceOutput first =
      data_.shape.problem->reference(data_.shape, data_.input.data(), data_.constant_addresses());
  for (const double y : first.value) {
    if (std::isfinite(y)) largest_output_ = std::max(largest_output_, static_cast<float>(std::abs(y)));
  }
  if (largest_output_ == 0) largest_output_ = 1;
}

/// An item as the call found it.
std::vector<float> ExpectedItems::input(const CallSetting& setting, int item) const {
  const InputLayout layout(data_.shape);
  std::vector<float> values(static_cast<std::size_t>(layout.elements_per_image()));
  write_changed_image(values.data(), setting.change, layout, data_.input, item);
  if (setting.change.pokes != 0) poke_image(values.data(), setting.change, layout, item, setting.call);
  return values;
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

void ExpectedItems::compare_item(int item, const float* found, const CallSetting& setting, double tolerance,
                                 ItemFound& result) const {
  const ReferenceOutput expected =
      data_.shape.problem->reference(data_.shape, input(setting, item).data(), data_.constant_addresses());
  const auto elements = static_cast<std::int64_t>(expected.value.size());
  result.compared = elements;
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!std::isfinite(found[i])) ++result.not_finite;
    const double scaled = scaled_error(found[i], expected.value[at], expected.magnitude[at]);
    take_larger(result.max_scaled_error, scaled);
    if (scaled <= tolerance) continue;
    const bool left = setting.fill.left_at(item * elements + i, found[i]);
    result.unwritten += left ? 1 : 0;
    if (!result.first_failure.empty()) continue;
    result.first_failure = fmt::format(
        "item {}, element {} {}, expected {:.9g} (error {:.2g} of its magnitude; allowed: {:.2g})", item, i,
        left ? "was never written" : fmt::format("is {:.9g}", found[i]), expected.value[at], scaled, tolerance);
  }
}

/// What can be seen of an item without its reference.
void ExpectedItems::look_over(int item, const float* found, const CallSetting& setting, ItemFound& result) const {
  const std::int64_t elements = data_.shape.output_elements_per_item();
  for (std::int64_t i = 0; i < elements; ++i) {
    if (std::isnan(found[i]) && result.first_failure.empty()) {
      result.first_failure = fmt::format("item {}, element {} is not a number", item, i);
    }
    if (!std::isfinite(found[i])) ++result.not_finite;
    result.left_by_chance += setting.fill.left_at(item * elements + i, found[i]) ? 1 : 0;
  }
}

Check ExpectedItems::compare(const ReadOutput& read, std::int64_t most_elements, const CallSetting& setting,
                             double tolerance) const {
  const std::int64_t elements = data_.shape.output_elements_per_item();
  const auto at_once = static_cast<int>(std::clamp<std::int64_t>(most_elements / elements, 1, batch()));
  const std::vector<bool> chosen = chosen_items();
  Check check;
  std::int64_t left_by_chance = 0;
  for (int first = 0; first < batch(); first += at_once) {
    const int count = std::min(at_once, batch() - first);
    const float* const found = read(first * elements, count * elements);
    if (found == nullptr) return {};
    std::vector<ItemFound> of_items(static_cast<std::size_t>(count));
    on_all_cores(of_items.size(), [&](std::size_t i) {
      const int item = first + static_cast<int>(i);
      const float* const of_item = found + static_cast<std::int64_t>(i) * elements;
      if (chosen[static_cast<std::size_t>(item)]) {
        compare_item(item, of_item, setting, tolerance, of_items[i]);
      } else {
        look_over(item, of_item, setting, of_items[i]);
      }
    });
    for (const ItemFound& one : of_items) {
      take_larger(check.max_scaled_error, one.max_scaled_error);
      check.unwritten += one.unwritten;
      check.not_finite += one.not_finite;
      check.compared += one.compared;
      check.images += one.compared > 0 ? 1 : 0;
      left_by_chance += one.left_by_chance;
      if (check.first_failure.empty()) check.first_failure = one.first_failure;
    }
  }
  const double others = static_cast<double>(data_.shape.output_elements() - check.compared);
  if (static_cast<double>(left_by_chance) > 1 + kByChance * others) check.unwritten += left_by_chance;
  if (check.unwritten > 0) {
    const std::string unwritten =
        fmt::format("{} of {} output elements were never written", check.unwritten, data_.shape.output_elements());
    check.first_failure = check.first_failure.empty() ? unwritten : unwritten + "; first: " + check.first_failure;
  }
  check.passed = check.first_failure.empty();
  return check;
}

}  // namespace convladder
