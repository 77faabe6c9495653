// For the variants that forge replies: a thread between the harness's end of the socket to its parent and the harness.
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace convladder {

/// The first socket that this process inherited, or -1.
inline int inherited_socket() {
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode)) return descriptor;
  }
  return -1;
}

/// Messages of one line each.
class Lines {
 public:
  explicit Lines(int descriptor) : descriptor_(descriptor) {}

  std::optional<std::string> read() {
    std::size_t end = pending_.find('\n');
    while (end == std::string::npos) {
      char buffer[4096];
      const ssize_t count = recv(descriptor_, buffer, sizeof buffer, 0);
      if (count <= 0) return std::nullopt;
      pending_.append(buffer, static_cast<std::size_t>(count));
      end = pending_.find('\n');
    }
    std::string line = pending_.substr(0, end);
    pending_.erase(0, end + 1);
    return line;
  }
  void write(const std::string& line) const {
    const std::string whole = line + "\n";
    for (std::size_t sent = 0; sent < whole.size();) {
      const ssize_t count = send(descriptor_, whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }

 private:
  int descriptor_;
  std::string pending_;
};

using Json = nlohmann::ordered_json;
/// A reply to the request that the harness then never sees, or none: it is passed on.
using ForgedAnswer = std::function<std::optional<Json>(const Json& request)>;
/// Changes what the harness replied.
using ForgedReply = std::function<void(Json& reply)>;

/// Puts a thread between the two, once a process, while the harness is carrying out a request.
inline void tap_socket(ForgedAnswer answer, ForgedReply change) {
  static bool tapped = false;
  const int socket = inherited_socket();
  int ends[2];
  if (tapped || socket < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  tapped = true;
  const int parent = dup(socket);
  dup2(ends[0], socket);
  close(ends[0]);
  std::thread([parent, harness = ends[1], answer = std::move(answer), change = std::move(change)] {
    Lines to_parent(parent);
    Lines to_harness(harness);
    for (;;) {
      const std::optional<std::string> reply = to_harness.read();
      if (!reply) break;
      Json changed = Json::parse(*reply);
      change(changed);
      to_parent.write(changed.dump());
      std::optional<std::string> request = to_parent.read();
      for (; request; request = to_parent.read()) {
        const std::optional<Json> forged = answer(Json::parse(*request));
        if (!forged) break;
        to_parent.write(forged->dump());
      }
      if (!request) break;
      to_harness.write(*request);
    }
    close(parent);
    shutdown(harness, SHUT_RDWR);
  }).detach();
}

}  // namespace convladder
