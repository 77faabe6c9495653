#include "harness/measure/isolation/case_confinement.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "harness/measure/isolation/sealed_code.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kFileOfACase = std::uint64_t{64} << 20U;  // its standard error is such a file, in memory
constexpr std::uint64_t kThreadsOfACase = 4096;
// For a driver's own buffers, where a machine says that it has less memory than it will have.
constexpr std::uint64_t kLeastMemoryBesideAGpu = std::uint64_t{16} << 30U;

// With these variables, libgomp pins threads when it starts them.
constexpr const char* kPinning[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"};

/// The folders of the libraries that are mapped now: others are looked for beside them.
std::set<std::string> library_folders() {
  std::set<std::string> folders;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos || line.find(".so", path) == std::string::npos) continue;
    folders.insert(fs::path(line.substr(path)).parent_path());
  }
  if (const char* const named = std::getenv("LD_LIBRARY_PATH"); named != nullptr) {
    for (const std::string& folder : split(named, ':')) {
      if (folder.starts_with('/')) folders.insert(folder);
    }
  }
  folders.erase("/");
  return folders;
}

void add_gpu(FileWish& files) {
  files.read.insert(files.read.end(), {"/proc/driver/nvidia", "/proc/driver/nvidia-uvm", "/proc/driver/nvidia-caps",
                                       "/proc/driver/nvidia-nvlink", "/proc/devices", "/proc/modules",
                                       "/proc/filesystems", "/proc/version", "/proc/stat", "/sys", "/etc/nvidia"});
  // Drivers from 570 on name their threads, in task/*/comm; where they cannot, cuInit fails. The rest of that folder is
  // root's, since the process is shut to others: only as root does it open more there.
  files.devices.emplace_back("/proc/self/task");
  files.devices.emplace_back("/dev/dxg");  // under Windows
  std::error_code error;
  for (fs::directory_iterator at("/dev", error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with("nvidia")) files.devices.push_back(at->path());
  }
}

}  // namespace

ConfinementWish case_confinement(const CaseNeeds& needs) {
  ConfinementWish wish;
  FileWish& files = wish.files;
  files.read = {"/usr",
                "/lib",
                "/lib64",
                "/etc/ld.so.cache",
                "/etc/localtime",
                "/proc/self",
                "/proc/cpuinfo",
                "/proc/meminfo",
                "/proc/sys",
                "/sys/devices/system",
                "/dev/urandom",
                "/dev/random",
                "/sys/kernel/mm/transparent_hugepage",
                "/nix/store",
                "/gnu/store"};
  for (const std::string& folder : library_folders()) files.read.push_back(folder);
  for (const fs::path& one : needs.readable) files.read.push_back(one);
  files.devices = {"/dev/null", "/dev/zero"};
  if (needs.uses_gpu) {
    add_gpu(files);
    wish.calls.may_ask_for_handles = true;
  }
  for (const char* const name : kPinning) {
    if (std::getenv(name) != nullptr) wish.calls.may_pin_threads = true;
  }
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t least = needs.uses_gpu ? kLeastMemoryBesideAGpu : 0;
  wish.memory_bytes = needs.memory_bytes.value_or(std::max(pages / 4 * 3 * page, least));
  wish.file_bytes = kFileOfACase;
  wish.processor_seconds = needs.processor_seconds;
  wish.more_threads = kThreadsOfACase;
  return wish;
}

Confinement confine_case(const CaseNeeds& needs) {
  Confinement confinement = confine_case_as(case_confinement(needs));
  if (needs.uses_gpu && geteuid() == 0) {
    confinement.missing.emplace_back(
        "code of the harness: root can write to it through /proc/self/task, which a GPU's driver needs");
  }
  return confinement;
}

std::vector<std::string> case_confinement_missing() {
  return PreparedConfinement(case_confinement({})).confinement().missing;
}

Confinement confine_case_as(const ConfinementWish& wish) {
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  std::ofstream("/proc/self/oom_score_adj") << "1000";
  omp_get_max_threads();  // LLVM's OpenMP asks for shared memory when it starts, and ends the process where it gets
                          // none
  const std::string unsealed = seal_code();
  Confinement confinement = confine(wish);
  if (unsealed.empty()) {
    confinement.holds.emplace_back("code of the harness: sealed");
  } else {
    confinement.missing.push_back(unsealed);
  }
  return confinement;
}

}  // namespace convladder
