#include "variants/convolution/cpu/tile_instructions.hpp"

#include <fmt/format.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <atomic>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "devices/device_error.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {
namespace {

constexpr const char* kVariable = "CONVLADDER_AMX";
constexpr const char* kEmulated = "emulated";

/// None or empty: nothing is asked for.
std::string_view wish() {
  const char* const text = std::getenv(kVariable);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

#ifdef __x86_64__

// Of arch_prctl (Linux 5.16); headers may be older.
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
  // For all threads, also those that are there already.
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

std::atomic<std::int64_t> emulated_products{0};

constexpr float kLeastNormal = 0x1p-126F;

[[gnu::always_inline]] inline float without_denormal(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7f800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : value;
}

/// a * b + c where the usual result is the least normal number: it may have been rounded up to that from a number that
/// is denormal with all 24 bits, which counts as denormal. The product of two bf16 numbers is exact in float64. So is
/// the sum, as c is a multiple of 2^-149, unless the product is too small to bring it near the border.
float least_normal_or_zero(float a, float b, float c, float usual) {
  constexpr double kBorder = 0x1p-126 * (1 - 0x1p-25);  // from here on it is rounded up to the least normal one
  const double sum = double{a} * double{b} + double{c};
  return std::abs(sum) < kBorder ? std::copysign(0.0F, usual) : usual;
}

/// Both chains of the 16 sums of a row.
struct RowOfSums {
  template <typename Set>
  static void run(float* const& sums, const std::uint32_t* const& left, const std::uint32_t* const& right) {
    float even[kTileRows] = {};
    float odd[kTileRows] = {};
    for (int k = 0; k < kTileRows; ++k) {
      const std::uint32_t* const pairs = right + k * kTileRows;
      add_products<0>(left[k], pairs, even);
      add_products<1>(left[k], pairs, odd);
    }
    for (int n = 0; n < kTileRows; ++n) {
      // A sum of two floats that is denormal is exact.
      const float both = without_denormal(even[n] + odd[n]);
      sums[n] = without_denormal(without_denormal(sums[n]) + both);
    }
  }

 private:
  template <int kOfPair>
  [[gnu::always_inline]] static void add_products(std::uint32_t left, const std::uint32_t* pairs, float* chain) {
    const float weight = number<kOfPair>(left);
    bool any_at_border = false;
    float usual[kTileRows];
    for (int n = 0; n < kTileRows; ++n) {
      usual[n] = __builtin_fmaf(weight, number<kOfPair>(pairs[n]), chain[n]);
      any_at_border |= std::abs(usual[n]) == kLeastNormal;
    }
    if (any_at_border) {
      for (int n = 0; n < kTileRows; ++n) {
        if (std::abs(usual[n]) != kLeastNormal) continue;
        usual[n] = least_normal_or_zero(weight, number<kOfPair>(pairs[n]), chain[n], usual[n]);
      }
    }
    for (int n = 0; n < kTileRows; ++n) chain[n] = without_denormal(usual[n]);
  }

  template <int kOfPair>
  [[gnu::always_inline]] static float number(std::uint32_t pair) {
    return without_denormal(std::bit_cast<float>(kOfPair == 0 ? pair << 16U : pair & 0xffff0000U));
  }
};

struct TileProduct {
  template <typename Set>
  static void run(float* const& sums, const std::uint32_t* const& left, const std::uint32_t* const& right) {
    for (int row = 0; row < kTileRows; ++row) {
      RowOfSums::run<Set>(sums + row * kTileRows, left + row * kTileRows, right);
    }
  }
};

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

void emulate_tile_product(float* sums, const std::uint32_t* left, const std::uint32_t* right) {
  static const InstructionSet::Kind set = chosen_instruction_set().kind;
  run_with<TileProduct>(set, sums, left, right);
}

std::int64_t emulated_tile_products() { return emulated_products; }

EmulatedTiles::~EmulatedTiles() { emulated_products += products_; }

}  // namespace convladder
