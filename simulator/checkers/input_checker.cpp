#include "simulator/checkers/input_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "simulator/memory/warp_access.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {
namespace {

constexpr int kWritesInput = 50;  // a kind of fault in addition to those of accesses

}  // namespace

void InputChecker::access(const WarpAccess& access) {
  if (access.kind == AccessKind::load || access.space == ptx::Space::shared || access.space == ptx::Space::local)
    return;
  const AddressSpan span = address_span(*access.addresses);
  for (const AddressRange& input : inputs_) {
    if (span.high < input.begin || span.low >= input.end) continue;
    LaneMask wrong = 0;
    for (LaneMask left = access.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const std::uint64_t address = (*access.addresses)[lane];
      if (address >= input.begin && address < input.end) wrong |= LaneMask{1} << lane;
    }
    if (wrong == 0) continue;
    const BlockContext& block = *access.warp->block;
    findings_.add({Checker::memory, access.operation->instruction, kWritesInput}, block.block_number,
                  static_cast<std::uint64_t>(std::popcount(wrong)), [&] {
                    const int lane = std::countr_zero(wrong);
                    const std::uint64_t address = (*access.addresses)[lane];
                    const Allocation* const allocation = block.memory->find(address);
                    Finding finding =
                        block.finding_at(*access.warp, *access.operation, lane, Checker::memory,
                                         fmt::format("{} of {} bytes at byte {} of '{}', which is only to be read",
                                                     access.kind == AccessKind::store ? "write" : "atomic access",
                                                     access.bytes, address - input.begin, allocation->label));
                    finding.space = "global";
                    finding.address = address;
                    finding.allocation = allocation->label;
                    return finding;
                  });
  }
}

}  // namespace convladder::simulated
