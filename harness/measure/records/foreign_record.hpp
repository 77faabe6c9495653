// Files of other programs that are read where a run.json is: a format registers how it is known and what run it makes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace convladder {

struct ForeignFormat {
  const char* name;  ///< "Google Benchmark"
  /// By its shape alone; `json` may hold anything.
  bool (*is_of)(const nlohmann::ordered_json& json);
  /// The run.json that says the same. `file` is what messages call it, and where it lies; `text` is what it holds.
  /// Throws UserError for what that program does not write.
  nlohmann::ordered_json (*run_of)(const nlohmann::ordered_json& json, const std::string& file, std::string_view text);
};

/// A static object of it makes the format known.
class ForeignFormatRegistration {
 public:
  explicit ForeignFormatRegistration(const ForeignFormat& format);
};

/// The format of that document; nullptr for a record of ours, and for what nobody knows.
const ForeignFormat* foreign_format_of(const nlohmann::ordered_json& json);

/// Such a program may write NaN and Infinity where JSON has no number: null in their place, and nothing else changed.
std::string without_not_finite(std::string_view text);

}  // namespace convladder
