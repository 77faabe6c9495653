#include "simulator/checkers/initialization_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

#include "simulator/checkers/demanded_bits.hpp"
#include "simulator/memory/warp_access.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {
namespace {

/// Whether all lanes take part, each behind the one before.
bool are_row(const WarpAccess& access) {
  const Addresses& addresses = *access.addresses;
  const auto bytes = static_cast<std::uint64_t>(access.bytes);
  std::uint64_t differences = 0;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) differences |= addresses[lane] ^ (addresses[0] + lane * bytes);
  return differences == 0 && access.mask == kAllLanes;
}

/// "", or ", of which nothing has written byte 1", "bytes 4 to 7", "bytes 1, 2, 5".
std::string missing_text(std::uint32_t missing, int bytes) {
  if (missing == 0 || missing + 1ULL == std::uint64_t{1} << bytes) return ", which nothing has written";
  const int first = std::countr_zero(missing);
  const int last = 31 - std::countl_zero(missing);
  const std::string start = ", of which nothing has written byte";
  if (first == last) return fmt::format("{} {}", start, first);
  if (std::popcount(missing) == last - first + 1) return fmt::format("{}s {} to {}", start, first, last);
  std::vector<int> all;
  for (std::uint32_t left = missing; left != 0; left &= left - 1) all.push_back(std::countr_zero(left));
  return fmt::format("{}s {}", start, fmt::join(all, ", "));
}

}  // namespace

ZeroedBytes::ZeroedBytes(std::uint64_t bytes)
    : bytes_(static_cast<std::uint8_t*>(std::calloc(std::max<std::uint64_t>(bytes, 1), 1)), std::free), size_(bytes) {
  if (bytes_ == nullptr) throw std::bad_alloc();
}

ZeroedBytes::ZeroedBytes(const ZeroedBytes& other) : ZeroedBytes(other.size_) {
  std::copy_n(other.bytes_.get(), size_, bytes_.get());
}

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
  return std::memchr(first, 0, bytes) == nullptr;
}

std::uint32_t WrittenBytes::missing(std::uint64_t offset, std::uint64_t bytes) const {
  std::uint32_t result = 0;
  for (std::uint64_t i = 0; i < bytes && offset + i < written_.size(); ++i) {
    if (written_.data()[offset + i] == 0) result |= std::uint32_t{1} << i;
  }
  return result;
}

void WrittenBytes::forget(std::uint64_t offset) {
  left_ += written_.data()[offset];
  written_.data()[offset] = 0;
}

/// Whether the bytes lie as padding does: before an address that is a multiple of an alignment larger than they are,
/// beside that many bytes that are written, those of the member that asks for the alignment.
bool WrittenBytes::is_padding(std::uint64_t first, std::uint64_t end) const {
  const std::uint64_t alignment = std::bit_ceil(end - first + 1);
  if (alignment > 16 || end % alignment != 0) return false;
  const bool is_before = end + alignment <= written_.size() && has(end, alignment);
  const bool is_behind = end >= 2 * alignment && has(end - 2 * alignment, alignment);
  return is_before || is_behind;
}

void WrittenBytes::look(UnwrittenBytes& unwritten, std::uint64_t begin, std::uint64_t offset,
                        std::uint64_t bytes) const {
  unwritten.looked_at += bytes;
  if (all()) return;
  const std::uint8_t* const from = written_.data();
  const std::uint64_t end = std::min<std::uint64_t>(offset + bytes, written_.size());
  while (offset < end) {
    const auto place_of = [&](std::uint8_t value, std::uint64_t after) {
      return static_cast<std::uint64_t>(std::find(from + after, from + end, value) - from);
    };
    const std::uint64_t first = place_of(0, offset);
    if (first == end) return;
    offset = place_of(1, first);
    if (unwritten.count == 0) unwritten.first = begin + first;
    unwritten.count += offset - first;
    ++unwritten.pieces;
    if (is_padding(first, offset)) ++unwritten.as_padding;
  }
}

void WrittenMemory::allocated(std::uint64_t address, std::uint64_t bytes) {
  try {
    pieces_[address] = {address, address + bytes, WrittenBytes(bytes)};
  } catch (const std::bad_alloc&) {
    pieces_.erase(address);
    is_blind_ = true;
  }
}

void WrittenMemory::copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  const Piece* const source = find(from);
  Piece* const target = find(to);
  if (source == nullptr || target == nullptr || source->bytes.all()) return;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    if (source->bytes.missing(from - source->begin + i, 1) != 0) target->bytes.forget(to - target->begin + i);
  }
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
  OfBlock& now = of(*access.warp->block);
  if (access.space == ptx::Space::local) {
    for_each_lane(access.mask, [&](int lane) {
      WrittenBytes& of_thread =
          now.local[static_cast<std::size_t>(access.warp->index) * kLanes + static_cast<std::size_t>(lane)];
      if (access.kind == AccessKind::store) {
        of_thread.write(addresses[lane], bytes);
        if (!now.carried.empty()) carry_on(access, lane, of_thread, addresses[lane]);
        return;
      }
      WarpAccess of_lane = access;
      of_lane.mask = LaneMask{1} << lane;
      check(of_lane, of_thread, 0);
    });
    return;
  }
  WrittenBytes* written = nullptr;
  std::uint64_t begin = 0;
  if (access.space == ptx::Space::shared) {
    written = access.owner != nullptr ? &of(*access.owner).shared : &now.shared;
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
  if (written->all() && now.carried.empty()) return;
  const bool is_row = now.carried.empty() && are_row(access);
  const std::uint64_t first = addresses[0] - begin;
  const bool is_right = access.kind == AccessKind::store || (is_row && written->has(first, kLanes * bytes));
  if (!is_right) check(access, *written, begin);
  if (access.kind == AccessKind::load) return;
  if (is_row && now.carried.empty()) return written->write(first, kLanes * bytes);
  for_each_lane(access.mask, [&](int lane) {
    written->write(addresses[lane] - begin, bytes);
    if (!now.carried.empty()) carry_on(access, lane, *written, addresses[lane] - begin);
  });
}

const std::vector<CarriedElement>& InitializationChecker::copies_of(const ptx::Kernel& kernel, int load) {
  const auto [known, is_new] = copies_.try_emplace(load);
  if (!is_new) return known->second;
  known->second = copies_of_load(kernel, load);
  for (const CarriedElement& element : known->second) sources_[element.store].push_back({load, element});
  return known->second;
}

std::uint32_t InitializationChecker::used_bytes(const ptx::Kernel& kernel, int load) {
  const auto [known, is_new] = used_bytes_.try_emplace(load);
  if (!is_new) return known->second;
  if (!demanded_) demanded_ = demanded_bits(kernel);
  known->second = demanded_bytes(kernel, load, *demanded_);
  return known->second;
}

/// Takes back that the lane's store has written bytes that are copies of unwritten ones.
void InitializationChecker::carry_on(const WarpAccess& access, int lane, WrittenBytes& bytes, std::uint64_t offset) {
  const auto sources = sources_.find(access.operation->instruction);
  if (sources == sources_.end()) return;
  const OfBlock& now = of(*access.warp->block);
  const int element_bytes = access.bytes / std::max<int>(1, access.operation->vector_elements);
  for (const auto& [load, element] : sources->second) {
    const auto carried = now.carried.find({load, access.warp->index});
    if (carried == now.carried.end()) continue;
    const std::uint32_t missing = carried->second.at(lane) >> (element.load_element * element_bytes);
    for (int i = 0; i < element_bytes; ++i) {
      if ((missing >> i & 1U) == 0) continue;
      bytes.forget(offset + static_cast<std::uint64_t>(element.store_element * element_bytes + i));
    }
  }
}

/// Whether the bytes that are missing in a load may be a structure's padding, that is copied: others beside them, in
/// the same 16 bytes, were written, and are copied by the same or by another instruction.
bool InitializationChecker::is_padding(const WarpAccess& access, int lane, const WrittenBytes& bytes,
                                       std::uint64_t begin, std::uint32_t missing) {
  constexpr std::int64_t kMostAlignment = 16;
  const ptx::Kernel& kernel = *access.warp->block->program->kernel;
  const int number = access.operation->instruction;
  if (copies_of(kernel, number).empty()) return false;
  if (missing + 1ULL != std::uint64_t{1} << access.bytes) return true;
  const ptx::Operand& address = kernel.instructions[static_cast<std::size_t>(number)].operands[1];
  const auto offset = static_cast<std::int64_t>((*access.addresses)[lane] - begin);
  constexpr int kNear = 16;  // instructions
  const int end = std::min(number + kNear, static_cast<int>(kernel.instructions.size()));
  for (int i = std::max(0, number - kNear); i < end; ++i) {
    const ptx::Instruction& other = kernel.instructions[static_cast<std::size_t>(i)];
    if (i == number || !other.opcode.starts_with("ld.") || other.operands.size() < 2) continue;
    const ptx::Operand& place = other.operands[1];
    if (place.kind != address.kind || place.index != address.index || place.name != address.name) continue;
    const std::int64_t at = offset + place.offset - address.offset;
    if (at < 0 || at / kMostAlignment != offset / kMostAlignment || copies_of(kernel, i).empty()) continue;
    if (bytes.has(static_cast<std::uint64_t>(at), 1)) return true;
  }
  return false;
}

void InitializationChecker::check(const WarpAccess& access, const WrittenBytes& bytes, std::uint64_t begin) {
  const Addresses& addresses = *access.addresses;
  const auto count = static_cast<std::uint64_t>(access.bytes);
  const bool is_load = access.kind == AccessKind::load;
  LaneMask wrong = 0;
  for_each_lane(access.mask, [&](int lane) {
    if (!bytes.has(addresses[lane] - begin, count)) wrong |= LaneMask{1} << lane;
  });
  OfBlock& now = of(*access.warp->block);
  const std::pair key(access.operation->instruction, access.warp->index);
  if (is_load && !now.carried.empty()) {
    if (const auto carried = now.carried.find(key); carried != now.carried.end()) {
      for_each_lane(access.mask, [&](int lane) { carried->second.at(lane) = 0; });
    }
  }
  if (wrong == 0) return;
  constexpr std::uint64_t kMostNamed = 32;
  LaneMask copied = 0;
  // Padding is the same in all lanes; where only some miss something, they differ by what was written.
  const auto missing_of = [&](int lane) { return bytes.missing(addresses[lane] - begin, count); };
  if (is_load && count < kMostNamed) {
    const std::uint32_t all = (std::uint32_t{1} << count) - 1;
    const std::uint32_t used = used_bytes(*access.warp->block->program->kernel, access.operation->instruction);
    for_each_lane(wrong, [&](int lane) {
      const std::uint32_t missing = missing_of(lane);
      if (missing != all && (missing & used) == 0) wrong &= ~(LaneMask{1} << lane);
    });
    if (wrong == 0) return;
  }
  const std::uint32_t first = count < kMostNamed ? missing_of(std::countr_zero(wrong)) : 0;
  bool is_alike = is_load && first != 0 && wrong == access.mask;
  for_each_lane(wrong, [&](int lane) { is_alike = is_alike && missing_of(lane) == first; });
  if (is_alike) {
    for_each_lane(wrong, [&](int lane) {
      if (!is_padding(access, lane, bytes, begin, first)) return;
      copied |= LaneMask{1} << lane;
      now.carried[key].at(lane) = first;
    });
  }
  const auto report_lanes = [&](LaneMask lanes, Severity severity) {
    if (lanes == 0) return;
    report(access, lanes, count < kMostNamed ? missing_of(std::countr_zero(lanes)) : 0, severity);
  };
  report_lanes(wrong & ~copied, Severity::finding);
  report_lanes(copied, Severity::note);
}

/// `missing`: the bytes of the first lane's access that nothing has written; 0: not known.
void InitializationChecker::report(const WarpAccess& access, LaneMask lanes, std::uint32_t missing, Severity severity) {
  const Addresses& addresses = *access.addresses;
  const BlockContext& block = *access.warp->block;
  findings_.add(
      {Checker::initialization, access.operation->instruction, 0, severity}, block.block_number,
      static_cast<std::uint64_t>(std::popcount(lanes)), [&] {
        const int lane = std::countr_zero(lanes);
        const bool is_global = access.space != ptx::Space::shared && access.space != ptx::Space::local;
        const char* const space = is_global ? "global" : access.space == ptx::Space::shared ? "shared" : "local";
        const Allocation* const allocation = is_global ? block.memory->find(addresses[lane]) : nullptr;
        const std::string where =
            allocation != nullptr
                ? fmt::format("byte {} of '{}'", addresses[lane] - allocation->begin, allocation->label)
                : fmt::format("offset {} of {} memory", addresses[lane], space);
        Finding finding = block.finding_at(
            *access.warp, *access.operation, lane, Checker::initialization,
            fmt::format("read of {} bytes at {}{}{}", access.bytes, where, missing_text(missing, access.bytes),
                        severity == Severity::note ? "; they are only copied, as padding is" : ""));
        finding.space = space;
        finding.address = addresses[lane];
        if (allocation != nullptr) finding.allocation = allocation->label;
        return finding;
      });
}

}  // namespace convladder::simulated
