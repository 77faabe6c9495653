// The memory that a launch may write, kept so that the launch can run again, and compared with what it was.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/execution/executor.hpp"
#include "simulator/memory/device_memory.hpp"

namespace convladder::simulated {

/// While it exists, memory is what the running kernel may reach.
class KernelRuns {
 public:
  explicit KernelRuns(DeviceMemory& memory) : memory_(memory) { memory_.run_kernel(true); }
  ~KernelRuns() { memory_.run_kernel(false); }
  KernelRuns(const KernelRuns&) = delete;
  KernelRuns& operator=(const KernelRuns&) = delete;

 private:
  DeviceMemory& memory_;
};

class LaunchMemory {
 public:
  /// Contents that are kept: before the launch, and after some run of it.
  enum Content { before, after, of_bits, kContents };

  struct Piece {
    std::uint64_t begin = 0;
    std::string label;  ///< of the allocation
    std::vector<std::byte> contents[kContents]{};
  };
  /// A word of 4 bytes that is not as in a content.
  struct DifferentWord {
    const Piece* piece = nullptr;
    std::uint64_t address = 0;
    std::uint32_t bits = 0;
  };
  struct Difference {
    std::vector<DifferentWord> words;                ///< the first ones
    std::map<const Piece*, std::uint64_t> of_piece;  ///< bytes in all
  };

  /// Keeps `before`. `written`: the beginnings of the allocations that the launch may write.
  LaunchMemory(DeviceMemory& memory, const std::vector<std::uint64_t>& written);

  /// Why nothing is kept: there is too much. Empty: it is.
  const std::string& why_not_kept() const { return why_not_kept_; }
  void keep(Content content);
  void restore(Content content);
  /// How memory differs from a content.
  std::optional<Difference> difference_to(Content content) const;

 private:
  DeviceMemory& memory_;
  std::vector<Piece> pieces_;
  std::string why_not_kept_;
};

/// The word at a place of bytes; bytes behind their end are zero.
std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at);

/// Runs a launch once more. Nothing that it asks of the device, such as launches of other kernels, is carried out.
LaunchResult run_again(const Program& program, DeviceMemory& memory, LaunchConfiguration configuration,
                       const MakeObservers& make_observers = nullptr);

}  // namespace convladder::simulated
