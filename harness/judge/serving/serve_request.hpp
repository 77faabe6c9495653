// A request to `convladder serve`: one line of JSON from anybody. docs/use/serve.md describes it.
//
//   {"id": 7, "source": "extern \"C\" void solve(...) {...}", "language": "cpp"}
//   {"id": 8, "do": "status"}
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ladders/stage_source.hpp"

namespace convladder {

/// The longest line of a request.
inline constexpr std::size_t kLongestRequest = std::size_t{4} << 20;  // bytes
/// The largest source in it.
inline constexpr std::size_t kLargestServedSource = std::size_t{1} << 20;  // bytes

/// A source that is to be judged.
struct ServedSubmission {
  std::string source;
  StageLanguage language = StageLanguage::cpp;
  std::string word;                ///< the language's, which is the ending of a file
  std::vector<std::string> sizes;  ///< empty: those of the problem
  std::string device;              ///< empty: the one that suits the language
  bool measure = true;             ///< whether its time is wanted where there is a clock
};

struct ServeRequest {
  enum class Asks { submit, status, problem };
  std::string id = "null";  ///< as JSON; the answer has it
  Asks asks = Asks::submit;
  ServedSubmission submission = {};  ///< of `submit`
};

/// A line that is no request; says why in one line.
struct BadRequest : std::runtime_error {
  BadRequest(std::string its_id, const std::string& why) : std::runtime_error(why), id(std::move(its_id)) {}
  std::string id;  ///< as JSON; "null" where none could be read
};

/// Reads a request. Throws BadRequest.
ServeRequest parse_serve_request(std::string_view line);

/// Reads the fields of a submission; `arguments` are what a tool was called with, or a request. Throws UserError.
ServedSubmission read_submission(const nlohmann::ordered_json& arguments);

/// The JSON schema of what `read_submission` takes.
nlohmann::ordered_json submission_schema();

}  // namespace convladder
