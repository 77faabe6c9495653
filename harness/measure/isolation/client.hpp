// Questions to somebody who answers them, here or in another process: as types on both sides, and as texts only between
// processes.
//
// A kind of process is a struct with
//   Hello     the first message, which nobody answers;
//   Request   a std::variant of all that can be asked. Each has its name as `kName`, the type of its answer as `Reply`,
//             and `kAtOnce` where it disturbs nobody to ask for it (RequestText);
//   Answer    a std::variant of Ending, which is the last answer, and all of these types.
// All but Ending name their fields, if they have any, as support/json_fields.hpp says.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "harness/measure/isolation/child_process.hpp"
#include "harness/measure/isolation/ending.hpp"
#include "harness/measure/isolation/message_text.hpp"
#include "harness/measure/isolation/served_requests.hpp"

namespace convladder {

/// Answers a request that asks for nothing but that something is done.
struct Done {};

/// The messages of a kind as texts of one line. Each kind is instantiated where its fields are known
/// (message_codec.hpp). Reading throws InvalidMessage for a text that is not such a message.
template <typename Kind>
struct MessageTexts {
  static std::string of_hello(const typename Kind::Hello& hello);
  static std::string of_request(const typename Kind::Request& request);
  static std::string of_answer(const typename Kind::Answer& answer);
  static typename Kind::Hello read_hello(const std::string& text);
  static typename Kind::Request read_request(const std::string& text);
  /// Reads the answer to that request; an Ending is none.
  static typename Kind::Answer read_answer(const typename Kind::Request& request, const std::string& text);
};

/// The name of the request, also in NVTX ranges and in errors.
template <typename Request>
std::string_view request_name(const Request& request) {
  return std::visit([](const auto& one) { return one.kName; }, request);
}

/// Answers requests, one after the other.
template <typename Kind>
class Client {
 public:
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  virtual ~Client() = default;
  virtual typename Kind::Answer ask(const typename Kind::Request& request) = 0;
  /// How long the last answer took, by the clocks of the process that asked; all 0 where that was not looked at.
  virtual ObservedAnswer last_answer() const { return {}; }

  /// The answer to one request by its type, or the ending.
  template <typename Request>
  std::variant<Ending, typename Request::Reply> ask_for(const Request& request) {
    typename Kind::Answer answer = ask(request);
    if (Ending* const ending = std::get_if<Ending>(&answer)) return std::move(*ending);
    return std::get<typename Request::Reply>(std::move(answer));
  }
};

/// Stands for a process that cannot even begin: every answer is this ending.
template <typename Kind>
class EndedClient final : public Client<Kind> {
 public:
  explicit EndedClient(Ending ending) : ending_(std::move(ending)) {}
  typename Kind::Answer ask(const typename Kind::Request& /*request*/) override { return ending_; }

 private:
  Ending ending_;
};

/// Asks a child process. An answer that is none of the request's is the ending "crashed".
template <typename Kind>
class ProcessClient final : public Client<Kind> {
 public:
  ProcessClient(const ProcessStart& start, const typename Kind::Hello& hello)
      : process_(start, MessageTexts<Kind>::of_hello(hello)) {}

  typename Kind::Answer ask(const typename Kind::Request& request) override {
    const bool at_once = std::visit(
        [](const auto& one) {
          return requires { one.kAtOnce; };
        },
        request);
    auto answer = process_.ask({request_name(request), MessageTexts<Kind>::of_request(request), at_once});
    if (Ending* const ending = std::get_if<Ending>(&answer)) return std::move(*ending);
    try {
      return MessageTexts<Kind>::read_answer(request, std::get<std::string>(answer));
    } catch (const InvalidMessage& invalid) {
      return Ending{Status::crashed, std::string("its answers are invalid: ") + invalid.what()};
    }
  }
  ObservedAnswer last_answer() const override { return process_.last_answer(); }
  ChildProcess& process() { return process_; }

 private:
  ChildProcess process_;
};

/// The child's side: receives the hello, makes the client that answers from it, and serves requests until the socket is
/// closed. `make` returns null for an invalid hello. The process ends with its parent. Returns the exit code.
template <typename Kind>
int serve_requests(int socket,
                   const std::function<std::unique_ptr<Client<Kind>>(const typename Kind::Hello& hello)>& make) {
  return serve_texts(socket, [&](const std::string& hello) -> AnswerText {
    const std::shared_ptr<Client<Kind>> client = make(MessageTexts<Kind>::read_hello(hello));
    if (client == nullptr) return {};
    return [client](const std::string& text) -> std::string {
      try {
        return MessageTexts<Kind>::of_answer(client->ask(MessageTexts<Kind>::read_request(text)));
      } catch (const InvalidMessage& invalid) {
        return ending_text(ending_of(invalid));
      }
    };
  });
}

}  // namespace convladder
