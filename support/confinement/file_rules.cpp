#include "support/confinement/file_rules.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace convladder {
namespace {

// The headers of a machine are often older than its kernel, so Landlock's interface up to its version 6 (Linux 6.12) is
// declared here. The numbers of the calls are the same on every architecture.
constexpr long kCreateRules = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1;
constexpr int kRuleOfPath = 1;

struct Rules {
  std::uint64_t files = 0;   ///< rights that are refused unless a rule grants them
  std::uint64_t ports = 0;   ///< since version 4
  std::uint64_t scopes = 0;  ///< since version 6
};

struct __attribute__((packed)) RuleOfPath {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};

namespace right {
constexpr std::uint64_t kStart = 1U << 0U;
constexpr std::uint64_t kWriteFile = 1U << 1U;
constexpr std::uint64_t kReadFile = 1U << 2U;
constexpr std::uint64_t kReadFolder = 1U << 3U;
constexpr std::uint64_t kRemoveFolder = 1U << 4U;
constexpr std::uint64_t kRemoveFile = 1U << 5U;
constexpr std::uint64_t kMakeFolder = 1U << 7U;
constexpr std::uint64_t kMakeFile = 1U << 8U;
constexpr std::uint64_t kMoveBetweenFolders = 1U << 13U;
constexpr std::uint64_t kTruncate = 1U << 14U;
constexpr std::uint64_t kControlDevice = 1U << 15U;

constexpr std::uint64_t kRead = kReadFile | kReadFolder;
constexpr std::uint64_t kWrite =
    kRead | kWriteFile | kTruncate | kMakeFile | kMakeFolder | kRemoveFile | kRemoveFolder | kMoveBetweenFolders;
constexpr std::uint64_t kDevice = kRead | kWriteFile | kControlDevice;
constexpr std::uint64_t kOfAFile = kStart | kWriteFile | kReadFile | kTruncate | kControlDevice;
}  // namespace right

constexpr std::uint64_t handled_rights(int version) {
  std::uint64_t rights = right::kMoveBetweenFolders - 1;  // the thirteen of version 1
  if (version >= 2) rights |= right::kMoveBetweenFolders;
  if (version >= 3) rights |= right::kTruncate;
  if (version >= 5) rights |= right::kControlDevice;
  return rights;
}

constexpr std::uint64_t kBindAndConnect = 3;           // of TCP
constexpr std::uint64_t kSocketsByNameAndSignals = 3;  // to processes outside

}  // namespace

FileRules::FileRules(const FileWish& wish) {
  version_ = static_cast<int>(syscall(kCreateRules, nullptr, 0, kAskVersion));
  if (version_ < 1) {
    version_ = 0;
    missing_ = errno == ENOSYS       ? "no file rules (Landlock): the kernel is older than 5.13 or built without it"
               : errno == EOPNOTSUPP ? "no file rules (Landlock): it is switched off in this kernel"
                                     : fmt::format("no file rules (Landlock): {}", std::strerror(errno));
    return;
  }
  handled_ = handled_rights(version_);
  const Rules rules{handled_, version_ >= 4 ? kBindAndConnect : 0, version_ >= 6 ? kSocketsByNameAndSignals : 0};
  const std::size_t bytes = version_ >= 6   ? sizeof rules
                            : version_ >= 4 ? offsetof(Rules, scopes)
                                            : offsetof(Rules, ports);
  rules_ = static_cast<int>(syscall(kCreateRules, &rules, bytes, 0));
  if (rules_ < 0) {
    missing_ = fmt::format("no file rules (Landlock): {}", std::strerror(errno));
    return;
  }
  allow(wish.read, right::kRead);
  allow(wish.start, right::kRead | right::kStart);
  allow(wish.write, right::kWrite);
  allow(wish.devices, right::kDevice);
}

FileRules::~FileRules() {
  if (rules_ >= 0) close(rules_);
}

void FileRules::allow(const std::vector<std::string>& paths, std::uint64_t rights) {
  for (const std::string& path : paths) {
    const int place = open(path.c_str(), O_PATH | O_CLOEXEC);
    if (place < 0) continue;
    struct stat status {};
    const bool is_folder = fstat(place, &status) == 0 && S_ISDIR(status.st_mode);
    const RuleOfPath rule{rights & handled_ & (is_folder ? ~std::uint64_t{0} : right::kOfAFile), place};
    syscall(kAddRule, rules_, kRuleOfPath, &rule, 0);  // if it fails, the path stays inaccessible
    close(place);
  }
}

int FileRules::enforce() const { return syscall(kRestrictSelf, rules_, 0) == 0 ? 0 : errno; }

}  // namespace convladder
