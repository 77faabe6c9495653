#include "harness/judge/serving/mcp_message.hpp"

#include "support/errors.hpp"
#include "support/json_text.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t kLongestMcpId = 256;  // bytes

}  // namespace

McpRequest parse_mcp_request(std::string_view line) {
  ordered_json message;
  try {
    message = parse_json(line, "message", "a message");
  } catch (const UserError& error) {
    throw BadMcpMessage(McpError::no_json, error.what());
  }
  const auto refuse = [](const char* why) { throw BadMcpMessage(McpError::no_request, why); };
  if (!message.is_object()) refuse("expected one JSON-RPC request: no list of them");
  McpRequest request;
  if (const auto id = message.find("id"); id != message.end()) {
    if (!id->is_string() && !id->is_number()) refuse("id: expected a number or a string");
    if (json_line(*id).size() > kLongestMcpId) refuse("id: expected at most 256 bytes");
    request.id = *id;
  } else {
    request.is_notification = true;
  }
  const auto method = message.find("method");
  if (method == message.end() || !method->is_string()) {
    throw BadMcpMessage(McpError::no_request, "method: expected a string", request.id);
  }
  request.method = method->get<std::string>();
  if (const auto parameters = message.find("params"); parameters != message.end()) {
    if (!parameters->is_object()) {
      throw BadMcpMessage(McpError::bad_parameters, "params: expected an object", request.id);
    }
    request.parameters = *parameters;
  }
  return request;
}

std::string mcp_result(const ordered_json& id, ordered_json result) {
  return json_line({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

std::string mcp_error(const BadMcpMessage& error) {
  return json_line({{"jsonrpc", "2.0"},
                    {"id", error.id},
                    {"error", {{"code", static_cast<int>(error.code)}, {"message", error.what()}}}});
}

}  // namespace convladder
