#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/judge/serving/front.hpp"
#include "harness/judge/serving/submission_judge.hpp"
#include "support/json_text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

/// The line of an answer: its id first.
std::string answer_line(const std::string& id, const ordered_json& fields) {
  ordered_json answer = {{"id", ordered_json::parse(id)}};
  answer.update(fields);
  return json_line(answer);
}

std::string refusal(const std::string& id, const std::string& why) {
  ServedVerdict verdict;
  verdict.status = VerdictStatus::bad_request;
  verdict.reason = why;
  return answer_line(id, verdict_json(verdict));
}

ordered_json state_json(const ServerState& state) {
  ordered_json answered = ordered_json::object();
  for (std::size_t i = 0; i < state.answered.size(); ++i) {
    if (state.answered[i] > 0) answered[std::string(kVerdictNames[i])] = state.answered[i];
  }
  return {{"queued", state.queued},
          {"running", state.running},
          {"answered", std::move(answered)},
          {"seconds", state.seconds}};
}

class JsonLines final : public Front {
 public:
  explicit JsonLines(const FolderProblem& problem) : problem_(problem) {}

  FrontReply read(std::string_view line, const ServerState& state) override {
    ServeRequest request;
    try {
      request = parse_serve_request(line);
    } catch (const BadRequest& error) {
      return {.line = refusal(error.id, error.what())};
    }
    const std::string ok(verdict_name(VerdictStatus::ok));
    if (request.asks == ServeRequest::Asks::status) {
      return {.line = answer_line(request.id, {{"status", ok}, {"server", state_json(state)}})};
    }
    if (request.asks == ServeRequest::Asks::problem) {
      return {.line = answer_line(request.id, {{"status", ok}, {"problem", problem_json(problem_)}})};
    }
    return {.submission = std::move(request.submission), .answer = [id = request.id](const ServedVerdict& verdict) {
              return answer_line(id, verdict_json(verdict));
            }};
  }

  std::string too_long() const override {
    return refusal("null", fmt::format("request: longer than {} bytes", kLongestRequest));
  }

 private:
  const FolderProblem& problem_;
};

}  // namespace

std::unique_ptr<Front> json_lines_front(const FolderProblem& problem) { return std::make_unique<JsonLines>(problem); }

}  // namespace convladder
