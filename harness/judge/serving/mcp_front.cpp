#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "harness/judge/serving/front.hpp"
#include "harness/judge/serving/mcp_message.hpp"
#include "harness/judge/serving/submission_judge.hpp"
#include "harness/measure/machine/build_information.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// The versions of the protocol whose messages are these, the newest first.
constexpr std::array<std::string_view, 3> kVersions{"2025-06-18", "2025-03-26", "2024-11-05"};
constexpr const char* kProblemTool = "problem";
constexpr const char* kSubmitTool = "submit";

ordered_json initialized(const ordered_json& parameters, const FolderProblem& problem) {
  const auto wanted = parameters.find("protocolVersion");
  const bool is_known =
      wanted != parameters.end() && wanted->is_string() &&
      std::ranges::find(kVersions, std::string_view(wanted->get_ref<const std::string&>())) != kVersions.end();
  return {{"protocolVersion", is_known ? *wanted : ordered_json(kVersions.front())},
          {"capabilities", {{"tools", ordered_json::object()}}},
          {"serverInfo", {{"name", "convladder"}, {"version", build::version}}},
          {"instructions",
           fmt::format("Judges kernels for {}: the tool '{}' says what a source has to define, and '{}' compiles one, "
                       "verifies it against a float64 reference and measures it.",
                       problem.title(), kProblemTool, kSubmitTool)}};
}

ordered_json tools() {
  const ordered_json problem = {
      {"name", kProblemTool},
      {"description", "What is to be computed: the functions to define, tensors, sizes, tolerance, devices."},
      {"inputSchema", {{"type", "object"}, {"properties", ordered_json::object()}, {"additionalProperties", false}}}};
  const ordered_json submit = {
      {"name", kSubmitTool},
      {"description",
       "Compiles a source, verifies it and measures it. 'status' is OK, COMPILE_ERROR, WRONG, RACE, MEMORY, "
       "SYNCHRONIZATION, CHEAT, CRASHED, TIMEOUT, LAUNCH_FAILED, UNSUPPORTED, UNAVAILABLE or NOT_JUDGED; 'findings' "
       "have the lines of the source."},
      {"inputSchema", submission_schema()}};
  return {{"tools", ordered_json::array({problem, submit})}};
}

/// A tool's answer: the same as text for clients that know nothing else.
ordered_json tool_result(const ordered_json& content, bool is_error) {
  const ordered_json text = {{"type", "text"}, {"text", json_line(content)}};
  return {{"content", ordered_json::array({text})}, {"structuredContent", content}, {"isError", is_error}};
}

/// Whether no verdict on the source was reached.
bool is_no_verdict(VerdictStatus status) {
  return status == VerdictStatus::bad_request || status == VerdictStatus::not_judged ||
         status == VerdictStatus::cancelled;
}

ordered_json verdict_result(const ServedVerdict& verdict) {
  return tool_result(verdict_json(verdict), is_no_verdict(verdict.status));
}

class Mcp final : public Front {
 public:
  explicit Mcp(const FolderProblem& problem) : problem_(problem) {}

  FrontReply read(std::string_view line, const ServerState& /*state*/) override {
    try {
      const McpRequest request = parse_mcp_request(line);
      if (request.is_notification) return {};
      try {
        return carry_out(request);
      } catch (const BadMcpMessage& error) {
        return {.line = mcp_error({error.code, error.what(), request.id})};
      }
    } catch (const BadMcpMessage& error) {
      return {.line = mcp_error(error)};
    }
  }

  std::string too_long() const override {
    return mcp_error({McpError::no_request, fmt::format("a message longer than {} bytes", kLongestRequest)});
  }

 private:
  FrontReply carry_out(const McpRequest& request) {
    if (request.method == "initialize") {
      return {.line = mcp_result(request.id, initialized(request.parameters, problem_))};
    }
    if (request.method == "ping") return {.line = mcp_result(request.id, ordered_json::object())};
    if (request.method == "tools/list") return {.line = mcp_result(request.id, tools())};
    if (request.method == "tools/call") return call(request);
    throw BadMcpMessage(McpError::unknown_method, "unknown method " + in_quotes(request.method));
  }

  FrontReply call(const McpRequest& request) {
    const auto name = request.parameters.find("name");
    if (name == request.parameters.end() || !name->is_string()) {
      throw BadMcpMessage(McpError::bad_parameters, "name: expected that of a tool");
    }
    if (*name == kProblemTool) return {.line = mcp_result(request.id, tool_result(problem_json(problem_), false))};
    if (*name != kSubmitTool) throw BadMcpMessage(McpError::bad_parameters, "unknown tool " + short_json(*name));
    try {
      return {.submission = read_submission(request.parameters.value("arguments", ordered_json::object())),
              .answer = [id = request.id](const ServedVerdict& verdict) {
                return mcp_result(id, verdict_result(verdict));
              }};
    } catch (const UserError& error) {  // a model reads the results of its calls, and mends what it has asked for
      ServedVerdict verdict;
      verdict.status = VerdictStatus::bad_request;
      verdict.reason = error.what();
      return {.line = mcp_result(request.id, verdict_result(verdict))};
    }
  }

  const FolderProblem& problem_;
};

}  // namespace

std::unique_ptr<Front> mcp_front(const FolderProblem& problem) { return std::make_unique<Mcp>(problem); }

}  // namespace convladder
