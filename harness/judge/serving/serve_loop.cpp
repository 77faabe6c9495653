#include "harness/judge/serving/serve_loop.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/folder_lock.hpp"
#include "support/interruption.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kLookMilliseconds = 200;  // how often is looked for an interrupt
constexpr int kBacklog = 64;
constexpr std::size_t kMostClients = 64;
constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;
// Beyond these nothing more is read from the client, or from any: it waits, and so does nobody's memory.
constexpr std::size_t kMostUnsent = std::size_t{64} << 20;
constexpr std::size_t kMostQueued = std::size_t{256} << 20;
constexpr std::chrono::seconds kForLastWords{1};

/// Somebody at the other end of a stream, or of two.
struct ServedClient {
  int in = -1;
  int out = -1;
  bool is_socket = true;
  std::string input = {};    ///< the begin of a line
  std::size_t looked = 0;    ///< bytes of it without a line end
  bool is_too_long = false;  ///< the rest of the line is left out
  std::string output = {};
  std::size_t waits_for = 0;  ///< answers
  bool has_ended_input = false;
  bool is_gone = false;

  bool is_done() const { return is_gone || (has_ended_input && waits_for == 0 && output.empty()); }
};

/// Sends as much of the output as is taken now.
void send_output(ServedClient& client) {
  while (!client.output.empty()) {
    // A pipe that can be written takes so much without blocking, and no more.
    const std::size_t most =
        client.is_socket ? client.output.size() : std::min<std::size_t>(client.output.size(), PIPE_BUF);
    const ssize_t sent = client.is_socket ? send(client.out, client.output.data(), most, MSG_NOSIGNAL | MSG_DONTWAIT)
                                          : write(client.out, client.output.data(), most);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (sent < 0) {
      if (!client.is_socket) throw UserError(fmt::format("the standard output: {}", system_error_text(errno)));
      client.is_gone = true;
      return;
    }
    client.output.erase(0, static_cast<std::size_t>(sent));
    if (!client.is_socket) return;
  }
}

class ServeLoop {
 public:
  ServeLoop(Front& front, JobQueue& queue) : front_(front), queue_(queue) {}

  void add(ServedClient client) { clients_.emplace(next_++, std::move(client)); }

  ServeEnd run(int listener) {
    for (;;) {
      if (interrupt_waits()) return end_early();
      look(listener);
      for (const AnsweredJob& answer : queue_.take_answers()) take_answer(answer);
      drop_those_that_are_done();
      if (listener < 0 && clients_.empty()) return ServeEnd::no_more_input;
    }
  }

 private:
  /// Waits until somebody has something to say or to take, and serves them.
  void look(int listener) {
    std::vector<pollfd> looked{{queue_.descriptor(), POLLIN, 0}};
    looked.push_back({clients_.size() < kMostClients ? listener : -1, POLLIN, 0});
    std::vector<std::uint64_t> of;
    const bool has_room = queue_.bytes() < kMostQueued;
    for (const auto& [number, client] : clients_) {
      const bool reads = has_room && !client.has_ended_input && client.output.size() < kMostUnsent;
      of.push_back(number);
      // A socket that asks for nothing still tells that the other end is gone.
      looked.push_back({reads || client.is_socket ? client.in : -1, static_cast<short>(reads ? POLLIN : 0), 0});
      looked.push_back({client.output.empty() ? -1 : client.out, POLLOUT, 0});
    }
    if (poll(looked.data(), looked.size(), kLookMilliseconds) <= 0) return;
    if (looked[1].revents != 0) accept_client(listener);
    for (std::size_t i = 0; i < of.size(); ++i) serve(of[i], looked[2 + 2 * i], looked[3 + 2 * i]);
  }

  void serve(std::uint64_t number, const pollfd& in, const pollfd& out) {
    ServedClient& client = clients_.at(number);
    if (out.revents != 0) send_output(client);
    const bool is_over = client.is_socket && (in.revents & (POLLHUP | POLLERR)) != 0;
    if (is_over) {
      client.is_gone = true;  // nobody is there to read an answer
    } else if ((in.events & POLLIN) != 0 && in.revents != 0) {
      take_input(number, client);
    }
  }

  void accept_client(int listener) {
    const int stream = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (stream >= 0) add({.in = stream, .out = stream});
  }

  void take_input(std::uint64_t number, ServedClient& client) {
    std::array<char, kReadAtOnce> buffer;
    const ssize_t count = read(client.in, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) {
      client.has_ended_input = true;
      if (!client.is_too_long) take_line(number, client, std::exchange(client.input, {}));
      return;
    }
    client.input.append(buffer.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = client.input.find('\n', client.looked); end != std::string::npos;
         end = client.input.find('\n', begin)) {
      const std::string_view line = std::string_view(client.input).substr(begin, end - begin);
      if (!std::exchange(client.is_too_long, false)) take_line(number, client, line);
      begin = end + 1;
    }
    client.input.erase(0, begin);
    if (client.input.size() > kLongestRequest && !client.is_too_long) {
      client.is_too_long = true;
      put(client, front_.too_long());
    }
    if (client.is_too_long) client.input.clear();
    client.looked = client.input.size();
  }

  void take_line(std::uint64_t number, ServedClient& client, std::string_view line) {
    if (line.size() > kLongestRequest) return put(client, front_.too_long());
    if (trimmed(line).empty()) return;
    FrontReply reply = front_.read(line, state());
    if (!reply.line.empty()) put(client, reply.line);
    if (!reply.submission) return;
    ++client.waits_for;
    queue_.add({.client = number, .submission = *std::move(reply.submission), .answer = std::move(reply.answer)});
  }

  void put(ServedClient& client, const std::string& line) {
    client.output += line;
    client.output += '\n';
  }

  void take_answer(const AnsweredJob& answer) {
    ++answered_[static_cast<std::size_t>(answer.status)];
    const auto client = clients_.find(answer.client);
    if (client == clients_.end()) return;
    --client->second.waits_for;
    put(client->second, answer.line);
    if (client->second.is_socket) send_output(client->second);
  }

  void drop_those_that_are_done() {
    std::erase_if(clients_, [this](const auto& one) {
      const auto& [number, client] = one;
      if (!client.is_done()) return false;
      queue_.forget(number);
      if (client.is_socket) close(client.in);
      return true;
    });
  }

  /// Tells everybody who waits that nothing more comes, as far as they take it.
  ServeEnd end_early() {
    for (const AnsweredJob& answer : queue_.cancel()) take_answer(answer);
    const Clock::time_point end = Clock::now() + kForLastWords;
    while (Clock::now() < end && std::ranges::any_of(clients_, [](const auto& one) {
             return !one.second.is_gone && !one.second.output.empty();
           })) {
      std::vector<pollfd> looked;
      for (const auto& [number, client] : clients_) {
        looked.push_back({client.is_gone || client.output.empty() ? -1 : client.out, POLLOUT, 0});
      }
      if (poll(looked.data(), looked.size(), kLookMilliseconds) < 0) continue;
      auto one = looked.begin();
      for (auto& [number, client] : clients_) {
        if ((one++)->revents != 0) send_output(client);
      }
    }
    for (const auto& [number, client] : clients_) {
      if (client.is_socket) close(client.in);
    }
    clients_.clear();
    return ServeEnd::interrupted;
  }

  ServerState state() const {
    return {.queued = queue_.waiting(),
            .running = queue_.running(),
            .answered = answered_,
            .seconds = std::chrono::duration<double>(Clock::now() - begin_).count()};
  }

  Front& front_;
  JobQueue& queue_;
  std::map<std::uint64_t, ServedClient> clients_;
  std::uint64_t next_ = 1;
  std::array<std::size_t, kVerdictNames.size()> answered_{};
  Clock::time_point begin_ = Clock::now();
};

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw UserError(
        fmt::format("{}: the path of a socket has at most {} bytes", printable(path), sizeof address.sun_path - 1));
  }
  std::ranges::copy(path, address.sun_path);
  return address;
}

int new_socket() {
  const int one = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (one < 0) throw MachineFault("cannot make a socket: " + system_error_text(errno));
  return one;
}

/// Whether somebody listens at the socket that lies there.
bool is_served(const sockaddr_un& address) {
  const int probe = new_socket();
  const bool is_open = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const bool is_full = !is_open && errno != ECONNREFUSED;
  close(probe);
  return is_open || is_full;
}

}  // namespace

ServerSocket::ServerSocket(fs::path path) : path_(fs::absolute(std::move(path))) {
  const std::string text = path_.string();
  const auto refuse = [&](const std::string& why) { throw UserError(fmt::format("{}: {}", printable(text), why)); };
  const sockaddr_un address = address_of(text);
  // Two servers that begin at the same time look one after the other.
  const FolderLock lock = FolderLock::of_file(path_, WhileLocked::wait);
  struct stat state {};
  if (lstat(text.c_str(), &state) == 0) {
    if (!S_ISSOCK(state.st_mode)) refuse("there is something else, and no socket");
    if (is_served(address)) refuse("a server listens there already");
    if (unlink(text.c_str()) != 0) refuse(system_error_text(errno));  // a killed server's
  }
  descriptor_ = new_socket();
  const mode_t before = umask(S_IXUSR | S_IRWXG | S_IRWXO);
  const bool is_bound = bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                        listen(descriptor_, kBacklog) == 0 && lstat(text.c_str(), &state) == 0;
  const int error = errno;
  umask(before);
  if (!is_bound) {
    close(descriptor_);
    refuse(system_error_text(error));
  }
  fcntl(descriptor_, F_SETFL, O_NONBLOCK);
  inode_ = state.st_ino;
}

ServerSocket::~ServerSocket() {
  close(descriptor_);
  struct stat state {};
  if (lstat(path_.c_str(), &state) == 0 && state.st_ino == inode_) unlink(path_.c_str());
}

ServeEnd serve_standard_streams(Front& front, JobQueue& queue) {
  ServeLoop loop(front, queue);
  loop.add({.in = STDIN_FILENO, .out = STDOUT_FILENO, .is_socket = false});
  return loop.run(-1);
}

ServeEnd serve_socket(Front& front, JobQueue& queue, const ServerSocket& socket) {
  return ServeLoop(front, queue).run(socket.descriptor());
}

}  // namespace convladder
