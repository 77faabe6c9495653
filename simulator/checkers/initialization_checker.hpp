// initcheck: reads of memory that nothing has written.
//
// Global memory is initialized by host copies, by a module's initial values and by earlier kernels; a block's shared
// and local memory by the block alone.
//
// A structure may have bytes of padding, which nobody writes and which a copy of it reads. So a load that brings some
// unwritten bytes beside written ones, the same in all lanes, and is only stored again is a note. The bytes that it is
// stored to are unwritten as well from then on: a use of them is found where it happens. Unwritten bytes of a load on
// which nothing depends (demanded_bits.hpp), such as those that a mask takes off, are none of a finding.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/checkers/value_uses.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/state/access_observer.hpp"
#include "simulator/state/finding_log.hpp"

namespace convladder::simulated {

/// Bytes that begin as zero. Of many, the host provides only the pages that somebody writes to.
class ZeroedBytes {
 public:
  explicit ZeroedBytes(std::uint64_t bytes);
  ZeroedBytes(const ZeroedBytes& other);
  ZeroedBytes(ZeroedBytes&& other) noexcept = default;
  ZeroedBytes& operator=(const ZeroedBytes& other) { return *this = ZeroedBytes(other); }
  ZeroedBytes& operator=(ZeroedBytes&& other) noexcept = default;
  ~ZeroedBytes() = default;

  std::uint8_t* data() { return bytes_.get(); }
  const std::uint8_t* data() const { return bytes_.get(); }
  std::uint64_t size() const { return size_; }

 private:
  std::unique_ptr<std::uint8_t[], void (*)(void*)> bytes_;  // NOLINT(modernize-avoid-c-arrays)
  std::uint64_t size_ = 0;
};

/// Bytes that nothing has written, of those that are looked at.
struct UnwrittenBytes {
  std::uint64_t count = 0;
  std::uint64_t first = 0;       ///< address
  std::uint64_t pieces = 0;      ///< groups of neighbours
  std::uint64_t as_padding = 0;  ///< those of the pieces that lie as padding does
  std::uint64_t looked_at = 0;

  /// Whether all of them lie as padding does. A single piece in an array is rather an element that was forgotten.
  bool is_padding() const { return as_padding == pieces && (pieces > 1 || looked_at <= 256); }
};

/// The bytes of a piece of memory that have been written.
class WrittenBytes {
 public:
  explicit WrittenBytes(std::uint64_t bytes = 0) : written_(bytes), left_(bytes) {}

  bool all() const { return left_ == 0; }
  void write(std::uint64_t offset, std::uint64_t bytes);
  bool has(std::uint64_t offset, std::uint64_t bytes) const;
  /// A bit for each of at most 32 bytes from `offset` on that is not written. Bytes behind the end are left out.
  std::uint32_t missing(std::uint64_t offset, std::uint64_t bytes) const;
  /// Adds the bytes that are not written, of `bytes` from `offset` on. `begin` is the address of the first byte of all.
  void look(UnwrittenBytes& unwritten, std::uint64_t begin, std::uint64_t offset, std::uint64_t bytes) const;
  /// The byte holds again what nothing has written.
  void forget(std::uint64_t offset);

 private:
  bool is_padding(std::uint64_t first, std::uint64_t end) const;
  ZeroedBytes written_;  ///< 1 for each byte that is written
  std::uint64_t left_;   ///< bytes that are not written yet
};

/// The written bytes of every allocation; lives as long as the device.
class WrittenMemory {
 public:
  void allocated(std::uint64_t address, std::uint64_t bytes);
  void freed(std::uint64_t address) { pieces_.erase(address); }
  void written(std::uint64_t address, std::uint64_t bytes);
  void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

  struct Piece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    WrittenBytes bytes;
  };
  /// The piece of the allocation that holds the address, or nullptr for variables of modules, which begin as zero and
  /// are in no allocation.
  Piece* find(std::uint64_t address);
  /// Whether the host had no memory for some allocation, which counts as written since then.
  bool is_blind() const { return is_blind_; }

 private:
  std::map<std::uint64_t, Piece> pieces_;
  bool is_blind_ = false;
};

class InitializationChecker final : public AccessObserver {
 public:
  InitializationChecker(WrittenMemory& memory, FindingLog& findings) : memory_(memory), findings_(findings) {}

  void block_begins(const BlockContext& block) override;
  void access(const WarpAccess& access) override;
  void allocated(std::uint64_t address, std::uint64_t bytes) override { memory_.allocated(address, bytes); }
  void freed(std::uint64_t address) override { memory_.freed(address); }
  void copy_begins(std::span<const WarpAccess> sources, std::span<const WarpAccess> /*destinations*/,
                   std::uint64_t /*copy*/) override {
    for (const WarpAccess& source : sources) access(source);
  }
  void copy_lands(const WarpAccess& destination) override { access(destination); }

 private:
  /// For each lane, the bytes of its last load that nothing has written and that were copied on.
  using Carried = std::array<std::uint32_t, kLanes>;
  /// A store of an element of such a load.
  struct Source {
    int load = 0;
    CarriedElement element;
  };

  void check(const WarpAccess& access, const WrittenBytes& bytes, std::uint64_t begin);
  void report(const WarpAccess& access, LaneMask lanes, std::uint32_t missing, Severity severity);
  bool is_padding(const WarpAccess& access, int lane, const WrittenBytes& bytes, std::uint64_t begin,
                  std::uint32_t missing);
  const std::vector<CarriedElement>& copies_of(const ptx::Kernel& kernel, int load);
  /// A bit for each byte of a load on which something may depend.
  std::uint32_t used_bytes(const ptx::Kernel& kernel, int load);
  void carry_on(const WarpAccess& access, int lane, WrittenBytes& bytes, std::uint64_t offset);

  WrittenMemory& memory_;
  FindingLog& findings_;
  /// The memory that belongs to one block.
  struct OfBlock {
    WrittenBytes shared;
    std::vector<WrittenBytes> local;                 ///< for each thread; made where a kernel has any
    std::map<std::pair<int, int>, Carried> carried;  ///< by load and warp
  };
  OfBlock& of(const BlockContext& block);
  std::map<const BlockContext*, OfBlock> blocks_;  // blocks that run, some in turns
  const BlockContext* last_ = nullptr;
  OfBlock* of_last_ = nullptr;
  std::map<int, std::vector<CarriedElement>> copies_;   ///< by load
  std::optional<std::vector<std::uint64_t>> demanded_;  ///< by register; none: nobody has asked yet
  std::map<int, std::uint32_t> used_bytes_;             ///< by load
  std::map<int, std::vector<Source>> sources_;          ///< by store
};

}  // namespace convladder::simulated
