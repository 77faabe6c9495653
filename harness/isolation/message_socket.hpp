// JSON messages over a socket, one line each.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace convladder {

class MessageSocket {
 public:
  /// Owns the descriptor.
  explicit MessageSocket(int descriptor) : descriptor_(descriptor) {}
  MessageSocket(const MessageSocket&) = delete;
  MessageSocket& operator=(const MessageSocket&) = delete;
  ~MessageSocket();

  /// False if the other end is gone.
  bool send(const nlohmann::ordered_json& message);

  enum class Received { message, closed, timed_out };
  /// Waits for a message, at most `seconds` (for ever if none is given). A line that is no JSON counts as closed.
  Received receive(nlohmann::ordered_json& message, std::optional<double> seconds);

 private:
  int descriptor_;
  std::string pending_;
};

}  // namespace convladder
