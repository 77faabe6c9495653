// The outcome of a case: one word for the record, the tables and the exit code.
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace convladder {

enum class Status {
  ok,                ///< verified, without a finding of a checker that could look, and measured or counted
  incorrect,         ///< a result is wrong, or it wrote where it may not
  unsupported,       ///< the variant says why it cannot run this size
  skipped,           ///< the device is not there
  launch_failed,     ///< the device refused, or had no memory left
  crashed,           ///< its process ended, or gave no valid answer
  timeout,           ///< no answer in time
  does_not_compile,  ///< its source was refused by the compiler
  refused,           ///< its times or launches cannot be what they claim
  unsafe,            ///< its results are right, and a checker has a finding all the same
  not_judged,        ///< the machine was too busy to tell whether its times can be true, or ended it
};

/// The names in records and tables. The order is that of the enumeration.
inline constexpr std::array<std::pair<Status, std::string_view>, 11> kStatusNames{
    {{Status::ok, "ok"},
     {Status::incorrect, "incorrect"},
     {Status::unsupported, "unsupported"},
     {Status::skipped, "skipped"},
     {Status::launch_failed, "launch failed"},
     {Status::crashed, "crashed"},
     {Status::timeout, "timeout"},
     {Status::does_not_compile, "does not compile"},
     {Status::refused, "refused"},
     {Status::unsafe, "unsafe"},
     {Status::not_judged, "not judged"}}};

constexpr std::string_view status_name(Status status) { return kStatusNames[static_cast<std::size_t>(status)].second; }

/// The status of that name; none for a text that is no status.
constexpr std::optional<Status> status_from_name(std::string_view name) {
  for (const auto& [status, its_name] : kStatusNames) {
    if (its_name == name) return status;
  }
  return std::nullopt;
}

/// Whether a case of this status makes a command exit with 1.
constexpr bool is_failure(Status status) {
  return status != Status::ok && status != Status::skipped && status != Status::unsupported &&
         status != Status::not_judged;
}

/// Whether a case of this status gets a line of its own: it was run, and has no figure.
constexpr bool is_to_be_told(Status status) { return is_failure(status) || status == Status::not_judged; }

/// Whether a case of this status was started at all.
constexpr bool was_run(Status status) {
  return status != Status::skipped && status != Status::unsupported && status != Status::does_not_compile;
}

/// In JSON a status is its name.
template <typename Json>
void to_json(Json& json, Status status) {
  json = status_name(status);
}

}  // namespace convladder

template <>
struct fmt::formatter<convladder::Status> : fmt::formatter<std::string_view> {
  auto format(convladder::Status status, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(convladder::status_name(status), context);
  }
};
