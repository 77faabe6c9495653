// initcheck: reads of memory that nothing has written.
//
// Global memory is initialized by host copies, by a module's initial values and by earlier kernels; a block's shared
// and local memory by the block alone.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "simulator/memory/device_memory.hpp"
#include "simulator/state/access_observer.hpp"
#include "simulator/state/finding_log.hpp"

namespace convladder::simulated {

/// The bytes of a piece of memory that have been written.
class WrittenBytes {
 public:
  explicit WrittenBytes(std::uint64_t bytes = 0) : written_(bytes), left_(bytes) {}

  bool all() const { return left_ == 0; }
  void write(std::uint64_t offset, std::uint64_t bytes);
  bool has(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  std::vector<std::uint8_t> written_;
  std::uint64_t left_;  ///< bytes that are not written yet
};

/// The written bytes of every allocation; lives as long as the device.
class WrittenMemory {
 public:
  void allocated(std::uint64_t address, std::uint64_t bytes) {
    pieces_[address] = {address, address + bytes, WrittenBytes(bytes)};
  }
  void freed(std::uint64_t address) { pieces_.erase(address); }
  void written(std::uint64_t address, std::uint64_t bytes);

  struct Piece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    WrittenBytes bytes;
  };
  /// The piece of the allocation that holds the address, or nullptr for variables of modules, which begin as zero and
  /// are in no allocation.
  Piece* find(std::uint64_t address);

 private:
  std::map<std::uint64_t, Piece> pieces_;
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
  void check(const WarpAccess& access, const WrittenBytes& bytes, std::uint64_t begin);

  WrittenMemory& memory_;
  FindingLog& findings_;
  /// The memory that belongs to one block.
  struct OfBlock {
    WrittenBytes shared;
    std::vector<WrittenBytes> local;  ///< for each thread; made where a kernel has any
  };
  OfBlock& of(const BlockContext& block);
  std::map<const BlockContext*, OfBlock> blocks_;  // blocks that run, some in turns
  const BlockContext* last_ = nullptr;
  OfBlock* of_last_ = nullptr;
};

}  // namespace convladder::simulated
