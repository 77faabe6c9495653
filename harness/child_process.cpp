#include "harness/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/errors.hpp"
#include "harness/message_socket.hpp"

extern char** environ;

namespace convladder {

using nlohmann::ordered_json;

namespace {

// Where the child finds its ends: the memory comes behind the socket.
constexpr int kSocketDescriptor = 3;
constexpr int kFirstMemoryDescriptor = 4;

/// The environment of this process, and how long idle OpenMP threads spin: the default is many milliseconds, in which
/// a case that has just answered would take a core from the next one.
std::vector<std::string> child_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  if (getenv("GOMP_SPINCOUNT") == nullptr && getenv("OMP_WAIT_POLICY") == nullptr) {
    variables.emplace_back("GOMP_SPINCOUNT=20000");
  }
  return variables;
}
constexpr auto kSettlingTime = std::chrono::milliseconds(1);  // longer than those spins

constexpr off_t kMostOutput = 1 << 20;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

class FailedClient final : public CaseClient {
 public:
  explicit FailedClient(std::string reason) : reason_(std::move(reason)) {}
  ordered_json ask(const ordered_json& /*request*/) override { return ending("launch failed", reason_); }

 private:
  std::string reason_;
};

}  // namespace

void keep_to_ourselves() {
  // Where the system refuses either, the memory is as open to others of the same user as any program's.
  static_cast<void>(prctl(PR_SET_DUMPABLE, 0));
  static_cast<void>(prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE));
}

std::unique_ptr<CaseClient> failed_client(const std::string& reason) { return std::make_unique<FailedClient>(reason); }

ordered_json ending(const char* status, const std::string& reason) { return {{"status", status}, {"reason", reason}}; }

ChildProcess::ChildProcess(const std::string& what, const std::string& command, const std::vector<int>& memory,
                           double timeout_seconds, const ordered_json& hello, const std::string& program)
    : timeout_seconds_(timeout_seconds), errors_(memfd_create("stderr of a case", MFD_CLOEXEC)) {
  keep_to_ourselves();
  std::array<int, 2> ends{};
  if (errors_ < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw UserError(fmt::format("cannot start a process for {}: {}", what, std::strerror(errno)));
  }
  socket_ = std::make_unique<MessageSocket>(ends[0]);
  start(program, command, ends[1], memory);
  close(ends[1]);
  socket_->send(hello);
}

ChildProcess::~ChildProcess() {
  socket_.reset();  // the end of the stream tells the child to end
  close(errors_);
  if (process_ <= 0) return;
  // It has nothing left to lose: freeing gigabytes page by page would only delay the next case.
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

ordered_json ChildProcess::ask(const ordered_json& request) {
  // Reading out a result disturbs nobody, and there is much of it.
  if (request.at("do") != "read") std::this_thread::sleep_for(kSettlingTime);
  ordered_json reply;
  const auto asked = std::chrono::steady_clock::now();
  if (!socket_->send(request)) return death();
  const MessageSocket::Received received = socket_->receive(reply, timeout_seconds_);
  last_answer_ns_ = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - asked).count();
  switch (received) {
    case MessageSocket::Received::message:
      limit_output();
      return reply;
    case MessageSocket::Received::timed_out:
      return ending("timeout", fmt::format("no answer to '{}' within {:.0f} s", request.at("do").get<std::string>(),
                                           timeout_seconds_));
    case MessageSocket::Received::closed:
      break;
  }
  return death();
}

void ChildProcess::start(const std::string& program, const std::string& command, int socket_end,
                         const std::vector<int>& memory) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Duplicated high first: a descriptor to be copied may itself be one of the child's.
  std::vector<int> copies;
  const auto give = [&](int descriptor, int as) {
    copies.push_back(fcntl(descriptor, F_DUPFD_CLOEXEC, 10));
    posix_spawn_file_actions_adddup2(&actions, copies.back(), as);
  };
  std::vector<std::string> arguments{"convladder", command, std::to_string(kSocketDescriptor)};
  give(socket_end, kSocketDescriptor);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const int as = kFirstMemoryDescriptor + static_cast<int>(i);
    give(memory[i], as);
    arguments.push_back(std::to_string(as));
  }
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  give(errors_, STDOUT_FILENO);
  give(errors_, STDERR_FILENO);
  std::vector<std::string> environment = child_environment();
  const int failed = posix_spawn(&process_, program.c_str(), &actions, nullptr, pointers(arguments).data(),
                                 pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  for (const int copy : copies) close(copy);
  if (failed != 0) throw UserError(fmt::format("cannot start {}: {}", program, std::strerror(failed)));
}

/// How the process ended, and the last line it said.
ordered_json ChildProcess::death() {
  int status = 0;
  // It may have closed its socket and go on: it gets a moment to end by itself.
  for (int attempt = 0; attempt < 100 && waitpid(process_, &status, WNOHANG) == 0; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (attempt == 99) {
      kill(process_, SIGKILL);
      waitpid(process_, &status, 0);
    }
  }
  process_ = -1;
  std::string how = WIFSIGNALED(status)
                        ? fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                        : fmt::format("ended with exit code {} before it answered", WEXITSTATUS(status));
  if (const std::string last = last_words(); !last.empty()) how += ": " + last;
  return ending("crashed", how);
}

/// What a case prints is kept in memory, and it is called thousands of times.
void ChildProcess::limit_output() const {
  if (lseek(errors_, 0, SEEK_END) < kMostOutput || ftruncate(errors_, 0) != 0) return;
  lseek(errors_, 0, SEEK_SET);  // the child writes at the same offset
}

std::string ChildProcess::last_words() const {
  std::array<char, 4096> buffer{};
  const off_t size = lseek(errors_, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(buffer.size()));
  const ssize_t count = pread(errors_, buffer.data(), buffer.size(), from);
  std::string text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  text.erase(text.find_last_not_of(" \n\r\t") + 1);
  text = text.substr(text.find_last_of('\n') + 1, 200);
  std::erase_if(text, [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
  return text;
}

int serve_requests(int socket_descriptor,
                   const std::function<std::unique_ptr<CaseClient>(const ordered_json& hello)>& make) {
  // A case must not outlive a run that was killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  MessageSocket socket(socket_descriptor);
  ordered_json hello;
  if (socket.receive(hello, std::nullopt) != MessageSocket::Received::message) return kExitError;
  const std::unique_ptr<CaseClient> client = make(hello);
  if (client == nullptr) return kExitError;
  ordered_json request;
  while (socket.receive(request, std::nullopt) == MessageSocket::Received::message) {
    if (!socket.send(client->ask(request))) break;
  }
  return kExitOk;
}

bool is_failure(std::string_view status) { return status != "ok" && status != "skipped" && status != "unsupported"; }

}  // namespace convladder
