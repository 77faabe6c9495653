#include "devices/cpu/tile_unit.hpp"

#include <fmt/format.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "devices/device_error.hpp"

namespace convladder {
namespace {

constexpr const char* kVariable = "CONVLADDER_AMX";
constexpr const char* kEmulated = "emulated";

/// The wish of the environment; without one, or if it is empty, nothing is asked for.
std::string_view wish() {
  const char* const text = std::getenv(kVariable);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

#ifdef __x86_64__

// Constants of arch_prctl (Linux 5.16); headers may be older.
constexpr int kSupportedFeatures = 0x1021;
constexpr int kAskForFeature = 0x1023;
constexpr int kTileData = 18;

bool processor_has_tiles() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kBfloat16 = 1U << 22U;
  constexpr unsigned kTiles = 1U << 24U;
  return (d & kBfloat16) != 0 && (d & kTiles) != 0;
}

bool system_has_tiles() {
  std::uint64_t features = 0;
  return syscall(SYS_arch_prctl, kSupportedFeatures, &features) == 0 && (features >> kTileData & 1U) != 0;
}

std::string why_processor_has_none() {
  if (!processor_has_tiles()) return "this processor has no AMX with bf16";
  return system_has_tiles() ? "" : "this system does not let programs use AMX (Linux does from 5.16 on)";
}

int ask_for_tiles() {
  // The request holds for all threads, those that exist already included.
  return syscall(SYS_arch_prctl, kAskForFeature, kTileData) == 0 ? 0 : errno;
}

#else

std::string why_processor_has_none() { return "this processor has no AMX with bf16"; }
int ask_for_tiles() { return ENOSYS; }

#endif

const std::string& known_of_processor() {
  static const std::string why = why_processor_has_none();
  return why;
}

}  // namespace

TileUnit tile_unit() {
  if (wish() == kEmulated) return TileUnit::emulated;
  return wish().empty() && known_of_processor().empty() ? TileUnit::processor : TileUnit::none;
}

std::string why_no_tile_unit() {
  if (tile_unit() != TileUnit::none) return {};
  if (!wish().empty()) return fmt::format("{} is '{}', it must be {} or not be set", kVariable, wish(), kEmulated);
  return fmt::format("{}, but {}={} verifies without it and takes no times", known_of_processor(), kVariable,
                     kEmulated);
}

void require_tile_unit() {
  if (tile_unit() != TileUnit::processor) return;
  static const int refused = ask_for_tiles();
  if (refused != 0) throw DeviceError(fmt::format("the system refuses the tile registers: {}", std::strerror(refused)));
}

std::string tile_unit_remark() {
  switch (tile_unit()) {
    case TileUnit::processor:
      return "the processor's";
    case TileUnit::emulated:
      return "emulated, as CONVLADDER_AMX asks for: verified, not timed";
    case TileUnit::none:
      break;
  }
  return wish().empty() ? fmt::format("none; {}={} verifies without them", kVariable, kEmulated)
                        : "none: " + why_no_tile_unit();
}

}  // namespace convladder
