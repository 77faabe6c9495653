// Finished outputs on their way from a buffer in the caches to memory, past the caches, a few lines at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "devices/cpu/cpu_facts.hpp"
#include "variants/cpu/vector_lanes.hpp"

namespace convladder {

/// Whether outputs of so many floats are better streamed: the last-level cache does not hold them. One of a usual size
/// is taken where the system does not say.
inline bool outgrows_caches(std::int64_t floats) {
  std::int64_t most = 0;
  for (const CpuCache& cache : cpu_caches()) most = std::max(most, static_cast<std::int64_t>(cache.bytes));
  constexpr std::int64_t kUsual = std::int64_t{32} * 1024 * 1024;
  return floats * static_cast<std::int64_t>(sizeof(float)) >= (most > 0 ? most : kUsual);
}

/// Copies floats with streaming stores while other work goes on: `advance` between two pieces of it. The pieces' stores
/// wait in the processor's write-combining buffers and leave for memory while it computes the next one.
class OutputStream {
 public:
  static constexpr int kLineFloats = 16;

  /// `from` and `to` have the same place in a cache line. What lies in lines that do not belong to it alone goes at
  /// once.
  void begin(const float* from, float* to, std::int64_t count) {
    const std::int64_t head = std::min(count, floats_to_line(to));
    const std::int64_t lines = (count - head) / kLineFloats;
    std::copy_n(from, head, to);
    std::copy(from + head + lines * kLineFloats, from + count, to + head + lines * kLineFloats);
    from_ = from + head;
    to_ = to + head;
    lines_ = lines;
  }

  /// Floats from `address` to the next beginning of a line.
  static std::int64_t floats_to_line(const float* address) {
    const auto place = reinterpret_cast<std::uintptr_t>(address) / sizeof(float) % kLineFloats;
    return static_cast<std::int64_t>((kLineFloats - place) % kLineFloats);
  }

  /// Stores the next `lines` lines, or what is left.
  template <typename Set>
  [[gnu::always_inline]] void advance(std::int64_t lines) {
    const std::int64_t count = std::min(lines, lines_);
    lines_ -= count;
    for (std::int64_t i = 0; i < count * kLineFloats; i += Set::lanes) {
      Vector<Set> line;
      load_vector(line, from_ + i);
      stream_vector(to_ + i, line);
    }
    from_ += count * kLineFloats;
    to_ += count * kLineFloats;
  }

  /// Stores what is left. `finish_streams` comes after a thread's last.
  void finish(InstructionSet::Kind set) { run_with<Finish>(set, this); }

 private:
  struct Finish {
    template <typename Set>
    static void run(OutputStream* const& stream) {
      stream->advance<Set>(stream->lines_);
    }
  };

  const float* from_ = nullptr;
  float* to_ = nullptr;
  std::int64_t lines_ = 0;
};

}  // namespace convladder
