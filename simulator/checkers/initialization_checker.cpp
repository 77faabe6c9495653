#include "simulator/checkers/initialization_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "simulator/memory/warp_access.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {
namespace {

template <typename Function>
void for_each_lane(LaneMask mask, const Function& function) {
  for (LaneMask left = mask; left != 0; left &= left - 1) function(std::countr_zero(left));
}

}  // namespace

void WrittenBytes::write(std::uint64_t offset, std::uint64_t bytes) {
  std::uint8_t* const first = written_.data() + offset;
  std::uint32_t word = 0;
  if (bytes == sizeof word) {  // by far the most
    std::memcpy(&word, first, sizeof word);
    left_ -= static_cast<std::uint64_t>(4 - std::popcount(word));
    word = 0x01010101;
    std::memcpy(first, &word, sizeof word);
    return;
  }
  left_ -= static_cast<std::uint64_t>(std::count(first, first + bytes, std::uint8_t{0}));
  std::fill_n(first, bytes, std::uint8_t{1});
}

bool WrittenBytes::has(std::uint64_t offset, std::uint64_t bytes) const {
  const std::uint8_t* const first = written_.data() + offset;
  std::uint32_t word = 0;
  if (bytes == sizeof word) {
    std::memcpy(&word, first, sizeof word);
    return word == 0x01010101;
  }
  return std::find(first, first + bytes, std::uint8_t{0}) == first + bytes;
}

void WrittenMemory::written(std::uint64_t address, std::uint64_t bytes) {
  if (Piece* const piece = find(address); piece != nullptr) piece->bytes.write(address - piece->begin, bytes);
}

WrittenMemory::Piece* WrittenMemory::find(std::uint64_t address) {
  const auto above = pieces_.upper_bound(address);
  if (above == pieces_.begin()) return nullptr;
  Piece& below = std::prev(above)->second;
  return address < below.end ? &below : nullptr;
}

void InitializationChecker::block_begins(const BlockContext& block) {
  OfBlock& now = of(block);
  now.shared = WrittenBytes(block.shared.size());
  now.shared.write(0, block.program->reserved_shared_bytes);
  if (block.program->local_bytes == 0) return;
  const std::size_t threads = block.local.size() / block.program->local_bytes;
  now.local.assign(threads, WrittenBytes(block.program->local_bytes));
}

InitializationChecker::OfBlock& InitializationChecker::of(const BlockContext& block) {
  if (&block != last_) {
    last_ = &block;
    of_last_ = &blocks_[&block];
  }
  return *of_last_;
}

void InitializationChecker::access(const WarpAccess& access) {
  const auto bytes = static_cast<std::uint64_t>(access.bytes);
  const Addresses& addresses = *access.addresses;
  if (access.space == ptx::Space::local) {
    for_each_lane(access.mask, [&](int lane) {
      WrittenBytes& of_thread =
          of(*access.warp->block)
              .local[static_cast<std::size_t>(access.warp->index) * kLanes + static_cast<std::size_t>(lane)];
      if (access.kind == AccessKind::store) return of_thread.write(addresses[lane], bytes);
      WarpAccess of_lane = access;
      of_lane.mask = LaneMask{1} << lane;
      check(of_lane, of_thread, 0);
    });
    return;
  }
  WrittenBytes* written = nullptr;
  std::uint64_t begin = 0;
  if (access.space == ptx::Space::shared) {
    written = &of(access.owner != nullptr ? *access.owner : *access.warp->block).shared;
  } else {
    const AddressSpan span = address_span(addresses);
    WrittenMemory::Piece* const piece = memory_.find(span.low);
    const bool may_lie_apart = piece == nullptr && span.low != span.high;
    if (may_lie_apart || memory_.find(span.high) != piece) {  // lanes may be in different allocations: one by one
      for_each_lane(access.mask, [&](int lane) {
        WarpAccess of_lane = access;
        Addresses same;
        same.fill(addresses[lane]);
        of_lane.mask = LaneMask{1} << lane;
        of_lane.addresses = &same;
        this->access(of_lane);
      });
      return;
    }
    if (piece == nullptr) return;
    written = &piece->bytes;
    begin = piece->begin;
  }
  if (written->all()) return;
  if (access.kind != AccessKind::store) check(access, *written, begin);
  if (access.kind == AccessKind::load) return;
  for_each_lane(access.mask, [&](int lane) { written->write(addresses[lane] - begin, bytes); });
}

void InitializationChecker::check(const WarpAccess& access, const WrittenBytes& bytes, std::uint64_t begin) {
  const Addresses& addresses = *access.addresses;
  LaneMask wrong = 0;
  for_each_lane(access.mask, [&](int lane) {
    if (!bytes.has(addresses[lane] - begin, static_cast<std::uint64_t>(access.bytes))) wrong |= LaneMask{1} << lane;
  });
  if (wrong == 0) return;
  const BlockContext& block = *access.warp->block;
  findings_.add(
      {Checker::initialization, access.operation->instruction, 0}, block.block_number,
      static_cast<std::uint64_t>(std::popcount(wrong)), [&] {
        const int lane = std::countr_zero(wrong);
        const bool is_global = access.space != ptx::Space::shared && access.space != ptx::Space::local;
        const char* const space = is_global ? "global" : access.space == ptx::Space::shared ? "shared" : "local";
        const Allocation* const allocation = is_global ? block.memory->find(addresses[lane]) : nullptr;
        const std::string where =
            allocation != nullptr
                ? fmt::format("byte {} of '{}'", addresses[lane] - allocation->begin, allocation->label)
                : fmt::format("offset {} of {} memory", addresses[lane], space);
        Finding finding =
            block.finding_at(*access.warp, *access.operation, lane, Checker::initialization,
                             fmt::format("read of {} bytes at {}, which nothing has written", access.bytes, where));
        finding.space = space;
        finding.address = addresses[lane];
        if (allocation != nullptr) finding.allocation = allocation->label;
        return finding;
      });
}

}  // namespace convladder::simulated
