#include "harness/measure/runs/step_measured.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/measure/runs/step_words.hpp"

namespace convladder {
namespace {

constexpr double kLittleLeft = 0.85;  // of a limit
constexpr double kNear = 0.5;
constexpr double kBeyond = 1.05;

constexpr const char* kOperations = "the FMA peak";
constexpr const char* kBytes = "the memory's rate";

}  // namespace

std::string measured_relief(const Ratio& x, std::string_view hypothesis) {
  const std::string idea = as_sentence(std::string(hypothesis));
  if (x.holds(1)) {
    const char* const found = "The measurement cannot tell them apart.";
    return idea.empty() ? found : fmt::format("{} The idea (not counted): {}", found, behind_colon(idea));
  }
  if (x.is_above(1)) {
    return idea.empty() ? "" : fmt::format("The idea (not counted): {}", behind_colon(idea));
  }
  return idea.empty() ? "Slower, for reasons that were not counted."
                      : fmt::format("Slower, for reasons that were not counted. The idea: {}", behind_colon(idea));
}

std::string measured_bound(double layer_ns, double operations_ns, std::optional<double> bytes_ns, double saves) {
  if (saves > 1 && operations_ns > 0) {
    return fmt::format("Effective rate, by the operations of the definition: {} of {}. It makes {:.3g} times fewer. {}",
                       percent_text(operations_ns / layer_ns), kOperations, saves,
                       measured_bound(layer_ns, operations_ns / saves, bytes_ns));
  }
  const double operations = operations_ns / layer_ns;
  const double bytes = bytes_ns.value_or(0) / layer_ns;
  const double nearest = std::max(operations, bytes);
  if (!(nearest > 0)) return {};
  const bool of_bytes = bytes > operations;
  if (nearest >= kBeyond) {
    return of_bytes ? fmt::format("At {} of {}: part of the bytes stay in the cache.", percent_text(bytes), kBytes)
                    : fmt::format(
                          "At {} of {}: it makes fewer operations than the definition, or the machine was slower at "
                          "the peak's turn.",
                          percent_text(operations), kOperations);
  }
  const double other = std::min(operations, bytes);
  const std::string alone = fmt::format("At {} of {}", percent_text(nearest), of_bytes ? kBytes : kOperations);
  const std::string both =
      other > 0 ? fmt::format("{} and {} of {}", alone, percent_text(other), of_bytes ? kOperations : kBytes) : alone;
  if (nearest >= kLittleLeft) return fmt::format("{}: little is left.", other >= kNear ? both : alone);
  if (other >= kNear) return fmt::format("{}: both limits are near.", both);
  if (nearest >= kNear) return fmt::format("{}, the nearest limit.", alone);
  return other > 0 ? fmt::format("{}: neither binds.", both) : fmt::format("{}, which does not bind.", alone);
}

}  // namespace convladder
