#include "harness/measure/records/foreign_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "support/registry.hpp"

namespace convladder {

namespace {

Registry<ForeignFormat>& registry() {
  static Registry<ForeignFormat> formats(
      {.before = [](const ForeignFormat& a,
                    const ForeignFormat& b) { return std::string_view(a.name) < std::string_view(b.name); },
       .identity = [](const ForeignFormat& one) { return fmt::format("foreign format '{}'", one.name); }});
  return formats;
}

constexpr std::array<std::string_view, 5> kNotFinite{"-Infinity", "-NaN", "-nan", "Infinity", "NaN"};

}  // namespace

ForeignFormatRegistration::ForeignFormatRegistration(const ForeignFormat& format) { registry().add(format); }

const ForeignFormat* foreign_format_of(const nlohmann::ordered_json& json) {
  return registry().find([&json](const ForeignFormat& one) { return one.is_of(json); });
}

std::string without_not_finite(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size();) {
    if (in_string && text[i] == '\\' && i + 1 < text.size()) {
      result += text.substr(i, 2);
      i += 2;
      continue;
    }
    if (text[i] == '"') in_string = !in_string;
    const auto word = in_string ? kNotFinite.end() : std::ranges::find_if(kNotFinite, [&](std::string_view one) {
      return text.substr(i).starts_with(one);
    });
    if (word != kNotFinite.end()) {
      result += "null";
      i += word->size();
    } else {
      result += text[i++];
    }
  }
  return result;
}

}  // namespace convladder
