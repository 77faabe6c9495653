// libFuzzer target for the reader of run.json. Whatever the text is, it is a run that can be compared with itself
// without a regression, or a UserError that names the file in one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "harness/judge/compare/comparison.hpp"
#include "harness/judge/compare/comparison_output.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const RecordedRun& run) {
  const Comparison comparison = compare_runs(run, run, {});
  require(comparison.count(CaseVerdict::regressed) == 0 && comparison.count(CaseVerdict::added) == 0);
  const Report report = comparison_report(comparison);
  for (const char c : as_text(report) + as_markdown(report)) {
    require(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
}

}  // namespace
}  // namespace convladder

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    convladder::check(convladder::parse_recorded_run({reinterpret_cast<const char*>(data), size}, "fuzzed"));
  } catch (const convladder::UserError& error) {
    const std::string_view message = error.what();
    convladder::require(message.starts_with("fuzzed: ") && message.find('\n') == std::string_view::npos);
  }
  return 0;
}
