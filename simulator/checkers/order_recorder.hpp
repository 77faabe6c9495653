// The reads of the threads of a launch, and who wrote what they read: recorded in one order of the work and compared in
// another.
//
// Two orders of a launch whose results differ are run again with a recorder each. It tells who wrote a word last, and
// which thread first read something else than in the other order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulator/state/access_observer.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {

/// A thread of a launch.
struct ThreadPlace {
  std::uint64_t block = 0;                               ///< its number
  int thread = 0;                                        ///< in its block
  auto operator<=>(const ThreadPlace&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

/// Who wrote a word of 4 bytes last.
struct LastWrite {
  int instruction = -1;  ///< none: nobody in this launch
  ThreadPlace by;
};

/// A read of a thread: the number among its reads, its bytes, and who had written each word of them.
struct ReadSeen {
  ThreadPlace by;
  std::uint32_t number = 0;
  int instruction = -1;
  std::uint64_t address = 0;  ///< in global memory, or the offset in shared memory
  bool is_shared = false;
  std::vector<std::byte> bytes;
  std::vector<LastWrite> written_by;  ///< by word
};

/// Hashes of the reads of each thread, in its order.
using ReadsOfThreads = std::map<ThreadPlace, std::vector<std::uint32_t>>;

class OrderRecorder final : public AccessObserver {
 public:
  /// Records the reads. With `others`, notes for each thread the first that is not as it was there; with `wanted`,
  /// notes that read of that thread.
  explicit OrderRecorder(const Program& program, const ReadsOfThreads* others = nullptr);
  void look_for(ThreadPlace thread, std::uint32_t number) { wanted_ = {thread, number}; }

  void access(const WarpAccess& access) override;
  void copy_begins(std::span<const WarpAccess> sources, std::span<const WarpAccess> destinations,
                   std::uint64_t copy) override;
  void copy_lands(const WarpAccess& destination) override { write(destination); }

  const ReadsOfThreads& reads() const { return reads_; }
  LastWrite last_write(std::uint64_t global_address) const;
  /// The reads that were not as in the other order: the first of each thread, in the order in which they were made.
  const std::vector<ReadSeen>& differing() const { return differing_; }
  const std::optional<ReadSeen>& found() const { return found_; }

 private:
  enum class Reads : std::uint8_t { unknown, no, yes };

  bool is_plain_read(const WarpAccess& access);
  void read(const WarpAccess& access);
  void write(const WarpAccess& access);
  ReadSeen seen(const WarpAccess& access, int lane, ThreadPlace place, std::uint32_t number) const;
  static std::uint64_t word_of(const WarpAccess& access, std::uint64_t address);
  static const std::byte* place_of(const WarpAccess& access, std::uint64_t address);

  const Program& program_;
  const ReadsOfThreads* others_;
  std::optional<std::pair<ThreadPlace, std::uint32_t>> wanted_;
  ReadsOfThreads reads_;
  std::uint64_t recorded_ = 0;
  std::unordered_map<std::uint64_t, LastWrite> writes_;  // by word
  std::vector<Reads> is_read_;                           // by instruction
  std::map<ThreadPlace, bool> has_differed_;
  std::vector<ReadSeen> differing_;
  std::optional<ReadSeen> found_;
};

}  // namespace convladder::simulated
