#include "harness/measure/machine/kept_ceilings.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "devices/cpu/cpu_facts.hpp"
#include "ladders/stage_cache.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

/// The file's lines are "RATE DEVICE LIMIT".
class Kept {
 public:
  std::optional<double> find(const std::string& name) {
    const std::scoped_lock lock(lock_);
    read();
    const auto found = rates_.find(name);
    return found == rates_.end() ? std::nullopt : std::optional(found->second);
  }

  void keep(const std::string& name, double rate) {
    const std::scoped_lock lock(lock_);
    read();
    double& kept = rates_[name];
    if (!(rate > kept) || !std::isfinite(rate)) return;
    kept = rate;
    if (file_.empty()) return;
    std::string text;
    for (const auto& [one, its_rate] : rates_) text += fmt::format("{} {}\n", its_rate, one);
    try {
      fs::create_directories(file_.parent_path());
      write_file_atomically(file_, text);
    } catch (const std::exception&) {
      file_.clear();  // nobody waits for it
    }
  }

 private:
  /// Reads the file once. Machines of one home have one file each.
  void read() {
    if (is_read_) return;
    is_read_ = true;
    try {
      std::string machine = fmt::format("{} {}", usable_cores(), cpu_threads());
      for (const DeviceFact& fact : cpu_facts()) machine += fmt::format(" {} {}", fact.name, fact.value);
      file_ = default_stage_cache().parent_path() / "ceilings" / sha256_hex(machine).substr(0, 32);
      if (!is_file_of_ones_own(file_)) return;
      for (const std::string& line : split(read_file_text(file_.string()), '\n')) {
        const std::size_t space = line.find(' ');
        if (space == std::string::npos) continue;
        const double rate = std::strtod(line.c_str(), nullptr);
        if (std::isfinite(rate) && rate > 0) rates_[line.substr(space + 1)] = rate;
      }
    } catch (const UserError&) {
      return;
    }
  }

  std::mutex lock_;
  bool is_read_ = false;
  fs::path file_;
  std::map<std::string, double> rates_;
};

Kept& kept() {
  static Kept all;
  return all;
}

/// With the name of the device: a machine may have another GPU tomorrow.
std::string name_of(std::string_view device, std::string_view limit) {
  std::string name(device);
  for (const DeviceKind& kind : device_kinds()) {
    if (kind.name != device || kind.facts == nullptr) continue;
    for (const DeviceFact& fact : kind.facts()) {
      if (fact.name == "name") name += " " + fact.value;
    }
  }
  return fmt::format("{} {}", name, limit);
}

}  // namespace

std::optional<double> kept_ceiling(std::string_view device, std::string_view limit) {
  return kept().find(name_of(device, limit));
}

void keep_ceiling(std::string_view device, std::string_view limit, double rate) {
  kept().keep(name_of(device, limit), rate);
}

}  // namespace convladder
