// The tile registers of AMX and the product of two tiles of bf16 (TDPBF16PS), by the processor or emulated.
//
// Eight registers of 16 rows x 64 bytes. A product takes a left tile of 16 x 32 numbers and a right one of 32 x 16,
// whose rows are interleaved in pairs: the numbers 2k and 2k + 1 of a column lie side by side, as those of a left row
// do. It adds the 16 x 16 floats to a third. Here tiles are always full; callers with less data fill up with zeros.
#pragma once

#include <cstdint>
#include <cstring>

namespace convladder {

inline constexpr int kTileRows = 16;        ///< also the floats of a row of sums
inline constexpr int kTileDepth = 32;       ///< bf16 numbers of a left tile's row
inline constexpr int kTileWords = 16 * 16;  ///< words of 32 bits: a float, or two bf16 numbers
inline constexpr int kTileBytes = kTileWords * 4;
inline constexpr std::int64_t kTileRowBytes = 64;
inline constexpr int kTileRegisters = 8;

/// sums += left x right, as TDPBF16PS does it with full tiles, bit by bit: for each sum one chain of fused
/// multiply-adds over the even numbers of its row and column, and one over the odd ones, both from zero; then the two
/// chains are added, and the result is added to the sum. Each step rounds to nearest even; denormal inputs count as
/// zero, and denormal results become zero. (Intel 64 and IA-32 Architectures Software Developer's Manual, TDPBF16PS.
/// The bits of a NaN are left open there, as they are here.)
void emulate_tile_product(float* sums, const std::uint32_t* left, const std::uint32_t* right);

/// Tile products that `EmulatedTiles` have made in this process; those of objects that still exist are not counted yet.
std::int64_t emulated_tile_products();

/// One thread's tile registers, emulated in memory.
class EmulatedTiles {
 public:
  EmulatedTiles() = default;
  EmulatedTiles(const EmulatedTiles&) = delete;
  EmulatedTiles& operator=(const EmulatedTiles&) = delete;
  ~EmulatedTiles();

  template <int kTile>
  void clear() {
    std::memset(words_[kTile], 0, kTileBytes);
  }
  /// Loads rows whose beginnings are `pitch` bytes apart.
  template <int kTile>
  void load(const void* rows, std::int64_t pitch = kTileRowBytes) {
    for (int row = 0; row < kTileRows; ++row) {
      std::memcpy(words_[kTile] + row * kTileRows, static_cast<const char*>(rows) + row * pitch, kTileRowBytes);
    }
  }
  template <int kTile>
  void store(void* rows, std::int64_t pitch = kTileRowBytes) const {
    for (int row = 0; row < kTileRows; ++row) {
      std::memcpy(static_cast<char*>(rows) + row * pitch, words_[kTile] + row * kTileRows, kTileRowBytes);
    }
  }
  template <int kSums, int kLeft, int kRight>
  void multiply() {
    float sums[kTileWords];
    std::memcpy(sums, words_[kSums], kTileBytes);
    emulate_tile_product(sums, words_[kLeft], words_[kRight]);
    std::memcpy(words_[kSums], sums, kTileBytes);
    ++products_;
  }

 private:
  std::uint32_t words_[kTileRegisters][kTileWords] = {};
  std::int64_t products_ = 0;
};

#ifdef __x86_64__

/// The processor's tile registers, for the thread that makes the object. Instructions are written out: the compilers'
/// intrinsics take no template parameter for a register, and those of GCC 12 do not say that they read memory.
class ProcessorTiles {
 public:
  ProcessorTiles() {
    struct alignas(64) {
      std::uint8_t palette = 1;
      std::uint8_t start_row = 0;
      std::uint8_t reserved[14] = {};
      std::uint16_t row_bytes[16] = {};
      std::uint8_t rows[16] = {};
    } shapes;
    static_assert(sizeof shapes == 64);
    for (int tile = 0; tile < kTileRegisters; ++tile) {
      shapes.row_bytes[tile] = kTileRowBytes;
      shapes.rows[tile] = kTileRows;
    }
    asm volatile("ldtilecfg %0" : : "m"(shapes));
  }
  ProcessorTiles(const ProcessorTiles&) = delete;
  ProcessorTiles& operator=(const ProcessorTiles&) = delete;
  /// Releases the registers: empty ones cost nothing when the system switches threads.
  ~ProcessorTiles() { asm volatile("tilerelease" : : : "memory"); }

  template <int kTile>
  [[gnu::always_inline]] void clear() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  [[gnu::always_inline]] void load(const void* rows, std::int64_t pitch = kTileRowBytes) {
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(kTile), "r"(rows), "r"(pitch) : "memory");
  }
  template <int kTile>
  [[gnu::always_inline]] void store(void* rows, std::int64_t pitch = kTileRowBytes) const {
    asm volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(kTile), "r"(rows), "r"(pitch) : "memory");
  }
  template <int kSums, int kLeft, int kRight>
  [[gnu::always_inline]] void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kLeft), "i"(kRight));
  }
};

#endif

}  // namespace convladder
