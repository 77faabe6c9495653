// Runs a launch again in other orders of its work (state/schedule.hpp) and compares what it leaves in memory, bit for
// bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/checkers/order_recorder.hpp"
#include "simulator/execution/executor.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/state/finding.hpp"
#include "simulator/state/orders_tried.hpp"

namespace convladder::simulated {

struct OrdersOutcome {
  OrdersTried tried;
  std::vector<Finding> findings;
};

class OtherOrders {
 public:
  /// To be made before the launch runs in its usual order. `written`: the beginnings of the allocations that it may
  /// write.
  OtherOrders(const Program& program, DeviceMemory& memory, LaunchConfiguration configuration,
              const std::vector<std::uint64_t>& written);

  /// To be called when the launch has run, with its result. Memory is afterwards as the launch has left it.
  OrdersOutcome try_them(const SchedulesWanted& wanted, const LaunchResult& usual);

 private:
  struct Piece {
    std::uint64_t begin = 0;
    std::string label;  ///< of the allocation
    std::vector<std::byte> before{};
    std::vector<std::byte> after{};    ///< of the launch in its usual order
    std::vector<std::byte> of_bits{};  ///< the same with sums of bits: see Schedule
  };
  /// A word of 4 bytes that is not as the usual order leaves it.
  struct DifferentWord {
    const Piece* piece = nullptr;
    std::uint64_t address = 0;
    std::uint32_t bits = 0;
  };
  struct Difference {
    std::vector<DifferentWord> words;                ///< the first ones
    std::map<const Piece*, std::uint64_t> of_piece;  ///< bytes in all
  };

  void restore(std::vector<std::byte> Piece::*content);
  LaunchResult run(Schedule& schedule, AccessObserver* observer = nullptr);
  void keep(std::vector<std::byte> Piece::*content);
  /// How memory differs from a content that was kept.
  std::optional<Difference> difference_to(std::vector<std::byte> Piece::*content) const;
  std::optional<Difference> difference_of_bits(std::uint64_t seed);
  Finding explain(std::uint64_t seed, const Difference& difference, const std::optional<Difference>& of_bits);
  /// A finding at a write; an empty one where nobody has written.
  Finding finding_at(const LastWrite& write) const;
  std::string place_text(const LastWrite& write) const;

  const Program& program_;
  DeviceMemory& memory_;
  LaunchConfiguration configuration_;
  ScheduledWork work_;
  std::vector<Piece> pieces_;
  bool has_bits_ = false;  // whether `of_bits` of the pieces is known
  std::string not_tried_;
};

}  // namespace convladder::simulated
