#include "harness/measure/isolation/message_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace convladder {

using Clock = std::chrono::steady_clock;

MessageSocket::~MessageSocket() { close(descriptor_); }

bool MessageSocket::send(const std::string& message) {
  const std::string line = message + "\n";
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = ::send(descriptor_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

MessageSocket::Received MessageSocket::receive(std::string& message, std::optional<double> seconds) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds.value_or(0));
  std::size_t looked_at = 0;  // of the pending bytes
  for (std::size_t end = pending_.find('\n'); end == std::string::npos; end = pending_.find('\n', looked_at)) {
    looked_at = pending_.size();
    int wait_milliseconds = -1;
    if (seconds) {
      const std::chrono::duration<double, std::milli> left = deadline - Clock::now();
      if (left.count() <= 0) return Received::timed_out;
      wait_milliseconds = static_cast<int>(std::min(left.count(), 1e6)) + 1;
    }
    pollfd event{descriptor_, POLLIN, 0};
    if (poll(&event, 1, wait_milliseconds) <= 0) continue;  // interrupted, or the deadline is looked at again
    std::array<char, 65536> buffer{};
    const ssize_t count = recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Received::closed;
    pending_.append(buffer.data(), static_cast<std::size_t>(count));
    if (pending_.size() > kLongest) return Received::closed;
  }
  message = pending_.substr(0, pending_.find('\n'));
  pending_.erase(0, message.size() + 1);
  return Received::message;
}

bool MessageSocket::has_more() const {
  char byte = 0;
  return !pending_.empty() || recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

}  // namespace convladder
