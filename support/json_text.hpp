// JSON from texts that anybody may have written, and texts of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convladder {

/// `file` is what messages call it, `expected` what the text should be: "a record of convladder". Throws UserError
/// "FILE: PLACE: what is wrong", one line, for what is not JSON (with the byte), a key that an object holds twice, of
/// which a parser would silently take the last, a number beyond a double, lists and objects nested more than 64 deep,
/// on which working would exhaust the stack, and an object of more than 10000 keys, which are searched one by one.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& file, std::string_view expected);

/// On lines, a space for each level, and with the end of the last. Bytes that are no UTF-8, which the name of a file
/// need not be, are replaced.
std::string json_text(const nlohmann::ordered_json& json);
/// The same on one line, without its end.
std::string json_line(const nlohmann::ordered_json& json);

}  // namespace convladder
