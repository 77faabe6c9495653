// The end of the socket that a started process has: requests come in, and each is answered before the next.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "harness/measure/isolation/message_socket.hpp"

namespace convladder {

class ServedRequests {
 public:
  /// Owns the descriptor. The process ends with its parent from now on, whose end the other one is.
  explicit ServedRequests(int socket);

  /// Waits for the next message; the first is the hello. None when the other end is gone, or sends what is no message.
  std::optional<std::string> next();
  /// Answers the message that came last. False if the other end is gone.
  bool answer(std::string text);

 private:
  MessageSocket socket_;
  std::optional<std::uint64_t> nonce_;  ///< of the message that came last
};

/// The answer to a request, as texts.
using AnswerText = std::function<std::string(const std::string& request)>;

/// Receives the hello, and serves requests with what `make` returns until the socket is closed; not at all if that is
/// empty. Returns the exit code.
int serve_texts(int socket, const std::function<AnswerText(const std::string& hello)>& make);

}  // namespace convladder
