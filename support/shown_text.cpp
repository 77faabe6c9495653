#include "support/shown_text.hpp"

#include <nlohmann/json.hpp>

namespace convladder {

std::string shown_text(const std::string& text) {
  constexpr std::size_t longest = 60;
  using nlohmann::json;
  const json shown = text.size() <= longest ? text : text.substr(0, longest) + "...";
  const std::string quoted = shown.dump(-1, ' ', true, json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace convladder
