// The protocols that a server speaks, a line for a message: JSON lines, and the Model Context Protocol. Neither knows
// of streams, queues or processes.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/judge/serving/serve_request.hpp"
#include "harness/judge/serving/verdict.hpp"
#include "ladders/folder_problem.hpp"

namespace convladder {

/// The facts that a server tells of itself.
struct ServerState {
  std::size_t queued = 0;
  std::size_t running = 0;
  std::array<std::size_t, kVerdictNames.size()> answered{};  ///< by status
  double seconds = 0;                                        ///< since it has begun to listen
};

/// The consequence of a line. With a submission `answer` makes the line that is sent once it has been judged.
struct FrontReply {
  std::string line = {};  ///< sent at once; empty: nothing is
  std::optional<ServedSubmission> submission = std::nullopt;
  std::function<std::string(const ServedVerdict&)> answer = nullptr;
};

class Front {
 public:
  Front() = default;
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;
  virtual ~Front() = default;

  virtual FrontReply read(std::string_view line, const ServerState& state) = 0;
  /// The line that is sent instead of reading a line that is too long.
  virtual std::string too_long() const = 0;
};

/// A request a line: serve_request.hpp. The problem must outlive the front.
std::unique_ptr<Front> json_lines_front(const FolderProblem& problem);
/// The Model Context Protocol: JSON-RPC 2.0, with the tools `problem` and `submit`. The problem must outlive the front.
std::unique_ptr<Front> mcp_front(const FolderProblem& problem);

}  // namespace convladder
