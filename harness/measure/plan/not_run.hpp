// Why a planned case is not run.
#pragma once

#include <string>

#include "harness/measure/isolation/status.hpp"

namespace convladder {

struct NotRun {
  Status status = Status::skipped;
  std::string reason;
};

/// Why a planned case with `runs()` false is not run: a case of one layer, a network, or a fused variant.
template <typename Planned>
NotRun why_not_run(const Planned& planned) {
  if (!planned.skipped.empty()) return {Status::skipped, planned.skipped};
  if constexpr (requires { planned.does_not_compile; }) {
    if (!planned.does_not_compile.empty()) return {Status::does_not_compile, planned.does_not_compile};
  }
  return {Status::unsupported, planned.unsupported};
}

}  // namespace convladder
