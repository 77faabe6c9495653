#include "harness/case_client.hpp"

#include <fcntl.h>
#include <fmt/format.h>
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

#include "devices/device_error.hpp"
#include "harness/case_session.hpp"
#include "harness/errors.hpp"
#include "harness/google_engine.hpp"
#include "harness/message_socket.hpp"

extern char** environ;

namespace convladder {

using nlohmann::ordered_json;

namespace {

// Where the child finds its ends.
constexpr int kSocketDescriptor = 3;
constexpr int kWorkloadDescriptor = 4;

ordered_json ending(const char* status, const std::string& reason) { return {{"status", status}, {"reason", reason}}; }

const DeviceKind& device_kind(std::string_view name) {
  static const std::vector<DeviceKind> kinds = device_kinds();
  for (const DeviceKind& kind : kinds) {
    if (kind.name == name) return kind;
  }
  throw UserError(fmt::format("no device kind '{}'", name));
}

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

class CaseProcess final : public CaseClient {
 public:
  CaseProcess(const PlannedCase& planned, const Workload& workload, const RunOptions& options, double timeout_seconds)
      : timeout_seconds_(timeout_seconds), errors_(memfd_create("stderr of a case", MFD_CLOEXEC)) {
    std::array<int, 2> ends{};
    if (errors_ < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw UserError(fmt::format("cannot start a process for {}: {}", planned.id, std::strerror(errno)));
    }
    socket_ = std::make_unique<MessageSocket>(ends[0]);
    start(ends[1], workload.descriptor());
    close(ends[1]);
    socket_->send({{"id", planned.id},
                   {"device", planned.device},
                   {"family", planned.variant.info.family},
                   {"variant", planned.variant.info.name},
                   {"workload", workload.header()},
                   {"google_benchmark_flags", options.google_benchmark_flags}});
  }

  ~CaseProcess() override {
    socket_.reset();  // the end of the stream tells the child to end
    if (process_ <= 0) return;
    // It has nothing left to lose: freeing gigabytes page by page would only delay the next case.
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    close(errors_);
  }

  ordered_json ask(const ordered_json& request) override {
    std::this_thread::sleep_for(kSettlingTime);
    ordered_json reply;
    if (!socket_->send(request)) return death();
    switch (socket_->receive(reply, timeout_seconds_)) {
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

 private:
  void start(int socket_end, int workload_descriptor) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    // Duplicated high first: a descriptor to be copied may itself be 3 or 4.
    const int socket_copy = fcntl(socket_end, F_DUPFD_CLOEXEC, 10);
    const int workload_copy = fcntl(workload_descriptor, F_DUPFD_CLOEXEC, 10);
    posix_spawn_file_actions_adddup2(&actions, socket_copy, kSocketDescriptor);
    posix_spawn_file_actions_adddup2(&actions, workload_copy, kWorkloadDescriptor);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, errors_, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
    std::vector<std::string> arguments{"convladder", "serve-case", std::to_string(kSocketDescriptor),
                                       std::to_string(kWorkloadDescriptor)};
    std::vector<std::string> environment = child_environment();
    const int failed = posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, pointers(arguments).data(),
                                   pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    close(socket_copy);
    close(workload_copy);
    if (failed != 0) throw UserError(fmt::format("cannot start a process: {}", std::strerror(failed)));
  }

  /// How the process ended, and the last line it said.
  ordered_json death() {
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
  void limit_output() const {
    if (lseek(errors_, 0, SEEK_END) < kMostOutput || ftruncate(errors_, 0) != 0) return;
    lseek(errors_, 0, SEEK_SET);  // the child writes at the same offset
  }

  std::string last_words() const {
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

  double timeout_seconds_;
  int errors_;
  pid_t process_ = -1;
  std::unique_ptr<MessageSocket> socket_;
};

class CaseHere final : public CaseClient {
 public:
  CaseHere(const PlannedCase& planned, const Workload& workload)
      : session_(planned.id, device_kind(planned.device), planned.variant, workload) {}
  ordered_json ask(const ordered_json& request) override { return session_.answer(request); }

 private:
  CaseSession session_;
};

/// Stands for a case whose device could not even be opened.
class FailedCase final : public CaseClient {
 public:
  explicit FailedCase(std::string reason) : reason_(std::move(reason)) {}
  ordered_json ask(const ordered_json& /*request*/) override { return ending("launch failed", reason_); }

 private:
  std::string reason_;
};

}  // namespace

std::unique_ptr<CaseClient> start_case_process(const PlannedCase& planned, const Workload& workload,
                                               const RunOptions& options, double timeout_seconds) {
  return std::make_unique<CaseProcess>(planned, workload, options, timeout_seconds);
}

std::unique_ptr<CaseClient> start_case_here(const PlannedCase& planned, const Workload& workload) {
  try {
    return std::make_unique<CaseHere>(planned, workload);
  } catch (const DeviceError& error) {
    return std::make_unique<FailedCase>(error.what());
  }
}

int serve_case(int socket_descriptor, int workload_descriptor) {
  // A case must not outlive a run that was killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  MessageSocket socket(socket_descriptor);
  ordered_json hello;
  if (socket.receive(hello, std::nullopt) != MessageSocket::Received::message) return kExitError;
  initialize_google_benchmark(hello.at("google_benchmark_flags").get<std::vector<std::string>>());
  const RegisteredVariant* const variant =
      find_variant(hello.at("family").get<std::string>(), hello.at("variant").get<std::string>());
  if (variant == nullptr) return kExitError;
  const Workload workload(hello.at("workload"), workload_descriptor);

  std::unique_ptr<CaseClient> here;
  try {
    here = std::make_unique<CaseHere>(
        PlannedCase{hello.at("id").get<std::string>(), *variant, hello.at("device").get<std::string>(), {}, {}, {}},
        workload);
  } catch (const DeviceError& error) {
    here = std::make_unique<FailedCase>(error.what());
  }
  ordered_json request;
  while (socket.receive(request, std::nullopt) == MessageSocket::Received::message) {
    if (!socket.send(here->ask(request))) break;
  }
  return kExitOk;
}

}  // namespace convladder
