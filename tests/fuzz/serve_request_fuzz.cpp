// libFuzzer target for the lines that a server's clients send, in both of its protocols. A request has only values that
// can be answered and judged; everything else is refused in one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/judge/serving/mcp_message.hpp"
#include "harness/judge/serving/serve_request.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void require_one_line(const std::exception& error) {
  require(std::string_view(error.what()).find('\n') == std::string_view::npos);
}

void require_id(const std::string& text) {
  const auto id = nlohmann::ordered_json::parse(text);
  require(id.is_null() || id.is_string() || id.is_number());
}

void require_submission(const ServedSubmission& submission) {
  require(!submission.source.empty() && submission.source.size() <= kLargestServedSource);
  require(stage_language(submission.word) == submission.language);
}

void check_request(std::string_view line) {
  try {
    const ServeRequest request = parse_serve_request(line);
    require_id(request.id);
    if (request.asks == ServeRequest::Asks::submit) require_submission(request.submission);
  } catch (const BadRequest& error) {
    require_id(error.id);
    require_one_line(error);
  }
}

void check_mcp(std::string_view line) {
  try {
    const McpRequest request = parse_mcp_request(line);
    require(request.is_notification == request.id.is_null());
    require(request.parameters.is_object());
    require(!nlohmann::ordered_json::parse(mcp_result(request.id, request.parameters)).empty());
    try {
      require_submission(read_submission(request.parameters));
    } catch (const UserError& error) {
      require_one_line(error);
    }
  } catch (const BadMcpMessage& error) {
    require_one_line(error);
    require(mcp_error(error).find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace convladder

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  convladder::check_request(line);
  convladder::check_mcp(line);
  return 0;
}
