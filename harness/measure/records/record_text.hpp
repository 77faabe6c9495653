// The text of a record, so laid out that a case can be appended and a record that was cut can be read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convladder {

// What nothing else begins a line with, or ends a record with.
inline constexpr std::string_view kCasesLine = "\n \"cases\": [";
inline constexpr std::string_view kEndOfCase = "\n  }";  ///< whatever is behind it on the line
inline constexpr std::string_view kEndOfCases = "\n ]";
inline constexpr std::string_view kEndOfRecord = "\n}\n";

/// The fields of an object, each on lines of its own, without the braces.
std::string fields_text(const nlohmann::ordered_json& object);

/// On lines of its own: nothing in a string breaks a line, so the indentation is all that begins one.
std::string case_text(const nlohmann::ordered_json& one_case);

/// Behind the last case. One line a field: what is left of it behind a write that was cut cannot be taken for the end
/// of a case.
std::string end_text(const nlohmann::ordered_json& behind);

/// The text of a record that was cut in its cases or behind them, closed behind the last case that is whole, as a
/// record that is not complete; empty for anything else.
std::string closed_record(std::string_view cut);

}  // namespace convladder
