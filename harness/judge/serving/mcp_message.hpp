// Messages of the Model Context Protocol, which are JSON-RPC 2.0, from anybody.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace convladder {

/// The codes of JSON-RPC's errors.
enum class McpError : int {
  no_json = -32700,
  no_request = -32600,
  unknown_method = -32601,
  bad_parameters = -32602,
};

/// A message that is no request, or one that cannot be carried out.
struct BadMcpMessage : std::runtime_error {
  BadMcpMessage(McpError its_code, const std::string& why, nlohmann::ordered_json its_id = nullptr)
      : std::runtime_error(why), code(its_code), id(std::move(its_id)) {}
  McpError code;
  nlohmann::ordered_json id;
};

struct McpRequest {
  std::string method;
  nlohmann::ordered_json id = nullptr;
  bool is_notification = false;  ///< nobody waits for an answer
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
};

/// Reads a request or a notification. Throws BadMcpMessage.
McpRequest parse_mcp_request(std::string_view line);

std::string mcp_result(const nlohmann::ordered_json& id, nlohmann::ordered_json result);
std::string mcp_error(const BadMcpMessage& error);

}  // namespace convladder
