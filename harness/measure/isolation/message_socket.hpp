// Messages over a socket, one line each.
#pragma once

#include <cstddef>
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

  /// Sends a text of one line. False if the other end is gone.
  bool send(const std::string& message);

  enum class Received { message, closed, timed_out };
  /// Waits for a message, at most `seconds` (for ever if none is given). A line longer than kLongest counts as closed.
  Received receive(std::string& message, std::optional<double> seconds);

  /// Whether something was sent that nobody has received yet. Does not wait.
  bool has_more() const;

 private:
  static constexpr std::size_t kLongest = std::size_t{64} << 20;  // bytes: counters of many kernels are a few thousand
  int descriptor_;
  std::string pending_;
};

}  // namespace convladder
