// Files of other programs that are read like a run.json: a format registers how it is recognised and which run it
// makes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convladder {

struct ForeignFormat {
  const char* name;  ///< "Google Benchmark"
  /// Recognises a document by its shape alone; `json` may hold anything. One with a `schema_version` is a record of
  /// ours.
  bool (*is_of)(const nlohmann::ordered_json& json);
  /// The document as a run.json. `file` is its name in messages, and where it lies; `text` is its content. Throws
  /// UserError for anything that the other program does not write.
  nlohmann::ordered_json (*run_of)(const nlohmann::ordered_json& json, const std::string& file, std::string_view text);
};

/// Makes a format known, as a static object.
class ForeignFormatRegistration {
 public:
  explicit ForeignFormatRegistration(const ForeignFormat& format);
};

/// The format of that document; nullptr for a record of ours, and for an unknown document.
const ForeignFormat* foreign_format_of(const nlohmann::ordered_json& json);

/// The text with null in place of NaN and Infinity, which such a program may write although JSON has no such number,
/// and with nothing else changed.
std::string without_not_finite(std::string_view text);

}  // namespace convladder
