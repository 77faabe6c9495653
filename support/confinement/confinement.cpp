#include "support/confinement/confinement.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "support/errors.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kHasShadow = true;
#else
constexpr bool kHasShadow = false;
#endif

constexpr int kMostCapabilities = 64;

/// The entries of a folder of /proc whose names are numbers.
std::vector<fs::path> numbered(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (std::ranges::all_of(name, [](char one) { return one >= '0' && one <= '9'; })) found.push_back(at->path());
  }
  return found;
}

std::uint64_t threads_of_this_user() {
  std::uint64_t threads = 0;
  for (const fs::path& process : numbered("/proc")) {
    struct stat status {};
    if (stat(process.c_str(), &status) == 0 && status.st_uid == getuid()) threads += numbered(process / "task").size();
  }
  return threads;
}

/// Drops all rights of root, or all but that to other users' files, which file rules limit: for root in a container the
/// folders of a ladder often belong to somebody else.
void drop_capabilities(bool keeps_files) {
  const std::uint32_t kept = keeps_files ? (1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH) : 0;
  for (int one = 0; one < kMostCapabilities; ++one) {
    if (one >= 32 || ((kept >> static_cast<unsigned>(one)) & 1U) == 0) prctl(PR_CAPBSET_DROP, one);
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> rights{};
  if (syscall(SYS_capget, &header, rights.data()) != 0) return;
  rights[0] = {rights[0].effective & kept, rights[0].permitted & kept, 0};
  rights[1] = {};
  syscall(SYS_capset, &header, rights.data());
}

}  // namespace

PreparedConfinement::PreparedConfinement(const ConfinementWish& wish) : is_shut_to_others_(wish.is_shut_to_others) {
  const auto holds = [this](const char* what) { confinement_.holds.emplace_back(what); };
  if (const std::string missing = SystemCallFilter::missing(); missing.empty()) {
    filter_ = std::make_unique<SystemCallFilter>(wish.calls);
    holds("no network");
    holds("no access to other processes");
    holds("no System V or POSIX shared memory and messages");
    if (!wish.calls.may_start_programs) holds("no other programs");
    if (!wish.calls.may_start_processes) holds("no other processes");
  } else {
    confinement_.missing.push_back(missing);
  }
  files_ = std::make_unique<FileRules>(wish.files);
  if (files_->missing().empty()) {
    holds("files: named ones only");
    if (wish.calls.may_start_processes && !files_->keeps_signals()) {
      confinement_.missing.emplace_back("signals to other processes: the kernel is older than 6.12");
    }
  } else {
    confinement_.missing.push_back(files_->missing());
    files_.reset();
  }
  limits_.emplace_back(RLIMIT_CORE, 0);
  limits_.emplace_back(RLIMIT_MSGQUEUE, 0);
  set_limit(RLIMIT_FSIZE, wish.file_bytes, "size of a file");
  set_limit(RLIMIT_CPU, wish.processor_seconds, "processor time");
  if (wish.memory_bytes && kHasShadow) {
    confinement_.missing.emplace_back("limit of memory: this build has AddressSanitizer");
  } else {
    set_limit(RLIMIT_DATA, wish.memory_bytes, "memory");
  }
  limit_threads(wish.more_threads);
}

void PreparedConfinement::set_limit(int resource, const std::optional<std::uint64_t>& most, const char* name) {
  if (!most) return;
  limits_.emplace_back(resource, *most);
  confinement_.holds.push_back(fmt::format("limit of {}: {}", name, *most));
}

void PreparedConfinement::limit_threads(const std::optional<std::uint64_t>& more) {
  if (!more) return;
  if (getuid() == 0) {
    confinement_.missing.emplace_back("limit of threads: root has none");
    return;
  }
  limits_.emplace_back(RLIMIT_NPROC, threads_of_this_user() + *more);
  confinement_.holds.push_back(fmt::format("limit of threads: {} more", *more));
}

int PreparedConfinement::enforce() {
  for (const auto& [resource, most] : limits_) {
    const auto which = static_cast<__rlimit_resource>(resource);
    rlimit limit{};
    if (getrlimit(which, &limit) != 0) return errno;
    // Where both limits are reached a process is killed at once; the signal alone could be caught.
    limit.rlim_max = std::min<rlim_t>(limit.rlim_max, most);
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
    if (setrlimit(which, &limit) != 0) return errno;
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  if (is_shut_to_others_ && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
  if (files_ != nullptr) {
    if (const int error = files_->enforce(); error != 0) return error;
  }
  drop_capabilities(files_ != nullptr);
  return filter_ == nullptr ? 0 : filter_->enforce();
}

Confinement confine(const ConfinementWish& wish) {
  PreparedConfinement prepared(wish);
  Confinement confinement = prepared.confinement();
  if (const std::size_t others = numbered("/proc/self/task").size(); others > 1) {
    confinement.missing.push_back(fmt::format("file rules for {} threads that were there before", others - 1));
  }
  if (const int error = prepared.enforce(); error != 0) {
    throw MachineFault(fmt::format("this process cannot be confined: {}", std::strerror(error)));
  }
  if (wish.memory_bytes) note_own_memory_limit();
  return confinement;
}

}  // namespace convladder
