#include "harness/measure/records/record_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/json_text.hpp"

namespace convladder {

using nlohmann::ordered_json;

std::string fields_text(const ordered_json& object) {
  if (object.empty()) return {};
  const std::string text = json_text(object);
  return text.substr(1, text.size() - 4);
}

std::string case_text(const ordered_json& one_case) {
  std::string text;
  for (const char c : "\n" + json_text(one_case)) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text.substr(0, text.size() - 3);
}

std::string end_text(const ordered_json& behind) {
  std::string text(kEndOfCases);
  for (const auto& [name, value] : behind.items()) {
    text += fmt::format(",\n {}: {}", json_line(name), json_line(value));
  }
  return text + std::string(kEndOfRecord);
}

std::string closed_record(std::string_view cut) {
  const std::size_t cases = cut.find(kCasesLine);
  if (cases == std::string_view::npos) return {};
  std::size_t end = cases + kCasesLine.size();  // the end of the last whole case
  for (std::size_t line = end; line < cut.size() && cut[line] == '\n';) {
    const std::size_t next = std::min(cut.find('\n', line + 1), cut.size());
    const std::string_view text = cut.substr(line, next - line);
    if (text.starts_with(kEndOfCases)) break;
    if (text.starts_with(kEndOfCase)) end = line + kEndOfCase.size();
    line = next;
  }
  std::string closed(cut.substr(0, end));
  // A complete record that was cut is not complete any more.
  const std::string_view complete = "\n \"complete\": true,";
  if (const std::size_t at = closed.find(complete); at < cases) {
    closed.replace(at, complete.size(), "\n \"complete\": false,");
  }
  return closed + std::string(kEndOfCases) + std::string(kEndOfRecord);
}

}  // namespace convladder
