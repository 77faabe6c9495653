#include "harness/judge/serving/serve_request.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/nearest_name.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLongestId = 256;   // bytes
constexpr std::size_t kMostSizes = 16;    // of one request
constexpr std::size_t kLongestName = 64;  // of a size or a device
constexpr const char* kPlace = "request";

constexpr const char* kId = "id";
constexpr const char* kDo = "do";
constexpr const char* kSource = "source";
constexpr const char* kLanguage = "language";
constexpr const char* kSizes = "sizes";
constexpr const char* kDevice = "device";
constexpr const char* kMeasure = "measure";

constexpr std::array<std::pair<const char*, ServeRequest::Asks>, 3> kAsks{{{"submit", ServeRequest::Asks::submit},
                                                                           {"status", ServeRequest::Asks::status},
                                                                           {"problem", ServeRequest::Asks::problem}}};

/// The id as JSON: a number or a short text; null where there is none.
std::string read_id(const JsonPlace& request) {
  const JsonPlace place = request.at(kId);
  const ordered_json& id = place.json();
  if (!id.is_null() && !id.is_string() && !id.is_number()) place.expected("a number or a string");
  std::string text = json_line(id);
  if (text.size() > kLongestId) place.expected(fmt::format("at most {} bytes", kLongestId));
  return text;
}

std::string short_name(const JsonPlace& place) {
  std::string text = place.name();
  if (text.size() > kLongestName) place.expected(fmt::format("at most {} bytes", kLongestName));
  return text;
}

ServedSubmission read_fields(const JsonPlace& place) {
  ServedSubmission submission;
  submission.source = place.at(kSource).some_text();
  if (submission.source.size() > kLargestServedSource) {
    place.at(kSource).expected(fmt::format("at most {} bytes", kLargestServedSource));
  }
  submission.word = place.at(kLanguage).text();
  require_known("language", std::string_view(submission.word), stage_languages());
  submission.language = stage_language(submission.word).value();
  if (place.has(kSizes)) {
    for (const JsonPlace& one : place.at(kSizes).list()) submission.sizes.push_back(short_name(one));
    if (submission.sizes.size() > kMostSizes) place.at(kSizes).expected(fmt::format("at most {} sizes", kMostSizes));
  }
  if (place.has(kDevice)) submission.device = short_name(place.at(kDevice));
  if (place.has(kMeasure)) submission.measure = place.at(kMeasure).truth();
  return submission;
}

ServeRequest::Asks read_asks(const JsonPlace& place) {
  if (!place.has(kDo)) return ServeRequest::Asks::submit;
  const std::string word = place.at(kDo).text();
  return find_known("do", word, kAsks, &std::pair<const char*, ServeRequest::Asks>::first).second;
}

}  // namespace

ServeRequest parse_serve_request(std::string_view line) {
  ServeRequest request;
  try {
    const ordered_json json = parse_json(line, kPlace, "a request");
    const JsonPlace place(json, kPlace);
    static_cast<void>(place.object());
    request.id = read_id(place);
    request.asks = read_asks(place);
    if (request.asks == ServeRequest::Asks::submit) request.submission = read_fields(place);
    place.refuse_others();
  } catch (const UserError& error) {
    throw BadRequest(std::move(request.id), error.what());
  }
  return request;
}

ServedSubmission read_submission(const ordered_json& arguments) {
  const JsonPlace place(arguments, kPlace);
  static_cast<void>(place.object());
  ServedSubmission submission = read_fields(place);
  place.refuse_others();
  return submission;
}

ordered_json submission_schema() {
  return {{"type", "object"},
          {"properties",
           {{kSource, {{"type", "string"}, {"description", "the whole source, which defines solve"}}},
            {kLanguage, {{"type", "string"}, {"enum", stage_languages()}}},
            {kSizes,
             {{"type", "array"},
              {"items", {{"type", "string"}}},
              {"maxItems", kMostSizes},
              {"description", "sizes such as those that the problem names; without it, those"}}},
            {kMeasure, {{"type", "boolean"}, {"description", "whether its time is wanted (default true)"}}},
            {kDevice, {{"type", "string"}, {"description", "a device by its name: cpu, cuda, simulated"}}}}},
          {"required", {kSource, kLanguage}},
          {"additionalProperties", false}};
}

}  // namespace convladder
