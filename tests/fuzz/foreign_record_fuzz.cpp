// libFuzzer target for the readers of other programs' files. Whatever the text is, it is a run of ours that can be read
// again, nobody's file, or a UserError that names the file in one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/measure/records/foreign_record.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"

namespace convladder {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void read(std::string_view text) {
  const std::string finite = without_not_finite(text);
  require(finite.size() <= text.size() * 2);  // "NaN" is shorter than "null"
  const nlohmann::ordered_json json = parse_record_json(finite, "fuzzed");
  const ForeignFormat* const format = foreign_format_of(json);
  if (format == nullptr) return;
  const nlohmann::ordered_json run = format->run_of(json, "fuzzed", text);
  const RecordedRun read = parse_recorded_run(json_text(run), "imported");
  require(!read.cases.empty());
  for (const RecordedCase& one : read.cases) require(one.ok() == one.time.has_value());
}

}  // namespace
}  // namespace convladder

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    convladder::read({reinterpret_cast<const char*>(data), size});
  } catch (const convladder::UserError& error) {
    const std::string_view message = error.what();
    convladder::require(message.starts_with("fuzzed: ") && message.find('\n') == std::string_view::npos);
  }
  return 0;
}
