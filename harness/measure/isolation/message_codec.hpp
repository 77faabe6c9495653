// How messages are written as JSON and read back: only for the files that instantiate MessageTexts for their kinds.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "harness/measure/isolation/client.hpp"
#include "harness/measure/isolation/message_text.hpp"
#include "support/errors.hpp"
#include "support/json_fields.hpp"
#include "support/json_text.hpp"

namespace convladder {

/// Reads a text with `read`. Throws InvalidMessage.
template <typename Read>
auto read_message(const std::string& text, const Read& read) {
  try {
    return read(parse_json(text, "socket", "a message"));
  } catch (const nlohmann::ordered_json::exception& error) {
    throw InvalidMessage(error.what());
  } catch (const UserError& error) {
    throw InvalidMessage(error.what());
  }
}

/// The request of one of these types that has the name.
template <typename... Requests>
std::variant<Requests...> request_from_json(const nlohmann::ordered_json& json,
                                            const std::variant<Requests...>* /*all*/) {
  const auto name = json.at("do").get<std::string>();
  std::optional<std::variant<Requests...>> found;
  const auto try_one = [&]<typename Request>(const Request* /*one*/) {
    if (Request::kName == name) read_fields(json, found.emplace().template emplace<Request>());
  };
  (try_one(static_cast<const Requests*>(nullptr)), ...);
  if (!found) throw InvalidMessage(fmt::format("unknown request '{}'", name));
  return *std::move(found);
}

template <typename Kind>
std::string MessageTexts<Kind>::of_hello(const typename Kind::Hello& hello) {
  return json_line(nlohmann::ordered_json(hello));
}

template <typename Kind>
std::string MessageTexts<Kind>::of_request(const typename Kind::Request& request) {
  return std::visit(
      [](const auto& one) {
        nlohmann::ordered_json json{{"do", one.kName}};
        add_fields(json, one);
        return json_line(json);
      },
      request);
}

template <typename Kind>
std::string MessageTexts<Kind>::of_answer(const typename Kind::Answer& answer) {
  if (const Ending* const ending = std::get_if<Ending>(&answer)) return ending_text(*ending);
  return std::visit(
      []<typename Reply>(const Reply& one) {
        nlohmann::ordered_json json = nlohmann::ordered_json::object();
        if constexpr (!std::same_as<Reply, Ending>) add_fields(json, one);
        return json_line(json);
      },
      answer);
}

template <typename Kind>
typename Kind::Hello MessageTexts<Kind>::read_hello(const std::string& text) {
  return read_message(text, [](const auto& json) { return json.template get<typename Kind::Hello>(); });
}

template <typename Kind>
typename Kind::Request MessageTexts<Kind>::read_request(const std::string& text) {
  return read_message(text, [](const auto& json) {
    return request_from_json(json, static_cast<const typename Kind::Request*>(nullptr));
  });
}

template <typename Kind>
typename Kind::Answer MessageTexts<Kind>::read_answer(const typename Kind::Request& request, const std::string& text) {
  return read_message(text, [&](const auto& json) {
    return std::visit(
        [&]<typename Request>(const Request& /*one*/) -> typename Kind::Answer {
          typename Request::Reply reply;
          read_fields(json, reply);
          return reply;
        },
        request);
  });
}

}  // namespace convladder
