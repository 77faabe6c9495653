// The text of a record, laid out so that a case can be appended and a record that was cut can be read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convladder {

// The texts that begin no other line of a record, or end no other record.
inline constexpr std::string_view kCasesLine = "\n \"cases\": [";
inline constexpr std::string_view kEndOfCase = "\n  }";  ///< whatever follows it on the line
inline constexpr std::string_view kEndOfCases = "\n ]";
inline constexpr std::string_view kEndOfRecord = "\n}\n";

/// The fields of an object, each on lines of its own, without the braces.
std::string fields_text(const nlohmann::ordered_json& object);

/// The text of a case, on lines of its own: nothing in a string breaks a line, so only the indentation tells where one
/// begins.
std::string case_text(const nlohmann::ordered_json& one_case);

/// The text after the last case. One line for each field: the rest of it after a write that was cut cannot be taken for
/// the end of a case.
std::string end_text(const nlohmann::ordered_json& behind);

/// The text of a record that was cut in its cases or after them, closed after the last whole case, as a record that is
/// not complete; empty for anything else.
std::string closed_record(std::string_view cut);

}  // namespace convladder
