#include "simulator/state/orders_tried.hpp"

#include <fmt/format.h>

namespace convladder::simulated {

OrdersTried& OrdersTried::operator+=(const OrdersTried& other) {
  launches += other.launches;
  orders += other.orders;
  differing += other.differing;
  failing += other.failing;
  sums_only += other.sums_only;
  complete += other.complete;
  seconds += other.seconds;
  if (not_tried.empty()) not_tried = other.not_tried;
  return *this;
}

namespace {

std::string counts_text(const OrdersTried& tried) {
  const bool are_even = tried.launches > 1 && tried.orders % tried.launches == 0;
  const std::uint64_t shown = are_even && tried.is_deterministic() ? tried.orders / tried.launches : tried.orders;
  const std::string all = fmt::format("{} schedule{}{}", shown, shown == 1 ? "" : "s",
                                      are_even && tried.is_deterministic() ? " of each launch" : "");
  if (tried.is_deterministic()) return "deterministic over " + all;
  std::string text;
  if (tried.differing > 0) {
    text = fmt::format("{} of {} {} other results", tried.differing, all, tried.differing == 1 ? "gives" : "give");
    if (tried.sums_only == tried.differing) text += ", by sums of atomics in another order only";
    if (tried.sums_only > 0 && tried.sums_only < tried.differing) {
      text += fmt::format(", {} of them by sums of atomics in another order only", tried.sums_only);
    }
  }
  if (tried.failing == 0) return text;
  return text.empty() ? fmt::format("{} of {} {}", tried.failing, all, tried.failing == 1 ? "fails" : "fail")
                      : fmt::format("{}; {} {}", text, tried.failing, tried.failing == 1 ? "fails" : "fail");
}

}  // namespace

std::string to_text(const OrdersTried& tried) {
  if (tried.launches == 0) return "other orders were not tried: " + tried.not_tried;
  return counts_text(tried) + (tried.not_tried.empty() ? "" : "; not all were tried: " + tried.not_tried);
}

}  // namespace convladder::simulated
