#include "devices/cpu/cpu_facts.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "devices/cpu/cpu_microarchitecture.hpp"
#include "devices/cpu/tile_unit.hpp"

namespace convladder {
namespace {

/// The value behind "name   : value" in /proc/cpuinfo or "name: value kB" in /proc/meminfo; empty if absent.
std::string proc_field(const char* file, const std::string& name) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string key = line.substr(0, colon);
    key.erase(key.find_last_not_of(" \t") + 1);
    if (key != name) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? std::string() : line.substr(value);
  }
  return {};
}

std::string first_line(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::optional<std::size_t> first_number(const std::string& path) {
  std::istringstream text(first_line(path));
  std::size_t number = 0;
  if (text >> number) return number;
  return std::nullopt;  // absent, or "max"
}

std::size_t kibibytes(const std::string& text) {
  std::istringstream stream(text);
  std::size_t number = 0;
  stream >> number;
  return number * 1024;
}

}  // namespace

std::string cpu_model() {
  const std::string model = proc_field("/proc/cpuinfo", "model name");
  return model.empty() ? "unknown" : model;
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return CPU_COUNT(&set);
}

bool has_less_time_than(int cores) {
  // "200000 100000": 200 ms of every 100 ms, over all cores; "max 100000" is no limit, and neither is -1.
  std::istringstream both(first_line("/sys/fs/cgroup/cpu.max"));
  double granted = -1;
  double period = 0;
  if (!(both >> granted >> period)) {
    std::istringstream(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")) >> granted;
    std::istringstream(first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us")) >> period;
  }
  return granted > 0 && period > 0 && granted < cores * period;
}

int cpu_threads() { return omp_get_max_threads(); }

std::vector<std::string> cpu_instruction_sets() {
  std::istringstream flags(proc_field("/proc/cpuinfo", "flags"));
  std::vector<std::string> present{std::istream_iterator<std::string>(flags), {}};
  std::vector<std::string> named;
  for (const char* name :
       {"sse4_2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512_bf16", "amx_tile", "amx_bf16"}) {
    if (std::ranges::find(present, name) != present.end()) named.emplace_back(name);
  }
  return named;
}

std::string cpu_governor() { return first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); }

std::vector<CpuCache> cpu_caches() {
  std::vector<CpuCache> caches;
  for (int index = 0;; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string size = first_line(folder + "size");  // "48K"
    if (size.empty()) break;
    caches.push_back(
        {static_cast<int>(first_number(folder + "level").value_or(0)), first_line(folder + "type"), kibibytes(size)});
  }
  std::ranges::stable_sort(caches, {}, &CpuCache::level);
  return caches;
}

std::size_t cpu_last_level_cache_bytes() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  std::map<std::string, std::size_t> bytes_by_sharers;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    std::size_t last_level = 0;
    std::string sharers;
    std::size_t bytes = 0;
    for (int index = 0;; ++index) {
      const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, index);
      const std::string size = first_line(folder + "size");
      if (size.empty()) break;
      const std::size_t level = first_number(folder + "level").value_or(0);
      if (level <= last_level) continue;
      last_level = level;
      sharers = first_line(folder + "shared_cpu_list");
      bytes = kibibytes(size);
    }
    bytes_by_sharers[sharers] = bytes;
  }
  std::size_t sum = 0;
  for (const auto& [sharers, bytes] : bytes_by_sharers) sum += bytes;
  return sum;
}

std::size_t total_memory_bytes() { return kibibytes(proc_field("/proc/meminfo", "MemTotal")); }

std::optional<std::size_t> address_space_limit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

std::optional<std::size_t> address_space_left() {
  const std::optional<std::size_t> limit = address_space_limit();
  const auto pages = first_number("/proc/self/statm");  // of the whole address space
  if (!limit || !pages) return std::nullopt;
  const std::size_t used = *pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return *limit > used ? *limit - used : 0;
}

std::string address_space_remark() {
  const auto limit = address_space_limit();
  return limit ? fmt::format(", the address space is limited to {} MiB (ulimit -v)", *limit >> 20) : "";
}

std::size_t available_memory_bytes() {
  std::size_t available = kibibytes(proc_field("/proc/meminfo", "MemAvailable"));
  const auto limit = first_number("/sys/fs/cgroup/memory.max");
  const auto used = first_number("/sys/fs/cgroup/memory.current");
  if (limit && used) available = std::min(available, *limit > *used ? *limit - *used : 0);
  return std::min(available, address_space_left().value_or(available));
}

std::vector<DeviceFact> cpu_facts() {
  std::string caches;
  for (const CpuCache& cache : cpu_caches()) {
    if (cache.type == "Instruction") continue;
    caches += fmt::format("{}L{} {} KiB", caches.empty() ? "" : ", ", cache.level, cache.bytes / 1024);
  }
  return {{"name", cpu_model()},
          {"microarchitecture", cpu_microarchitecture()},
          {"cores", std::to_string(usable_cores())},
          {"threads", std::to_string(cpu_threads())},
          {"instruction sets", fmt::format("{}", fmt::join(cpu_instruction_sets(), " "))},
          {"AMX tiles", tile_unit_remark()},
          {"caches", caches},
          {"memory", fmt::format("{:.1f} GiB", static_cast<double>(total_memory_bytes()) / (1 << 30))}};
}

}  // namespace convladder
