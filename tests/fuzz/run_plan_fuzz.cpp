// libFuzzer target for plans. What is a plan is written and read back as the same; everything else is a UserError of
// one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "harness/measure/sharding/run_plan.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(std::string_view text) {
  try {
    const RunPlan plan = parse_run_plan(text, "plan.json");
    const std::string written = run_plan_text(plan);
    require(run_plan_text(parse_run_plan(written, "plan.json")) == written);
    require(seconds_of(plan).longest <= seconds_of(plan).all);
  } catch (const UserError& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

}  // namespace
}  // namespace convladder

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  convladder::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
