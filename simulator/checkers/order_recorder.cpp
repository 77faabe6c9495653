#include "simulator/checkers/order_recorder.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace convladder::simulated {
namespace {

// Bounds of the memory for one recording, beyond which later reads and words are not known.
constexpr std::uint64_t kMostReads = std::uint64_t{1} << 26;
constexpr std::size_t kMostWords = std::size_t{1} << 22;
constexpr std::size_t kMostDiffering = 4096;
constexpr std::size_t kMostBytes = 4096;  // of one read that are kept

constexpr std::uint64_t kOfShared = std::uint64_t{1} << 63;
constexpr unsigned kOffsetBits = 18;  // of a word in shared memory

std::uint32_t hash_of(const std::byte* bytes, std::size_t count) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (std::size_t i = 0; i < count; ++i) {
    hash = (hash ^ std::to_integer<std::uint64_t>(bytes[i])) * 0x100000001b3;
  }
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

OrderRecorder::OrderRecorder(const Program& program, const ReadsOfThreads* others)
    : program_(program), others_(others), is_read_(program.kernel->instructions.size(), Reads::unknown) {}

std::uint64_t OrderRecorder::word_of(const WarpAccess& access, std::uint64_t address) {
  if (access.space != ptx::Space::shared) return address / 4;
  const BlockContext& owner = access.owner != nullptr ? *access.owner : *access.warp->block;
  return kOfShared | owner.block_number << kOffsetBits | (address & ((1U << (kOffsetBits + 2)) - 1)) / 4;
}

const std::byte* OrderRecorder::place_of(const WarpAccess& access, std::uint64_t address) {
  if (access.space != ptx::Space::shared) return access.warp->block->memory->host(address);
  const BlockContext& owner = access.owner != nullptr ? *access.owner : *access.warp->block;
  return owner.shared.data() + address;
}

/// Whether the value that is read decides nothing about the order itself: a thread that waits for a flag reads it as
/// often as it has to.
bool OrderRecorder::is_plain_read(const WarpAccess& access) {
  if (access.kind != AccessKind::load) return false;
  if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return false;
  Reads& known = is_read_[static_cast<std::size_t>(access.operation->instruction)];
  if (known == Reads::unknown) {
    const std::string_view opcode = program_.kernel->instructions[access.operation->instruction].opcode;
    constexpr std::string_view orders[] = {".volatile", ".relaxed", ".acquire", ".mmio", "mbarrier"};
    const auto has = [opcode](std::string_view word) { return opcode.find(word) != std::string_view::npos; };
    known = std::ranges::any_of(orders, has) ? Reads::no : Reads::yes;
  }
  return known == Reads::yes;
}

void OrderRecorder::access(const WarpAccess& access) {
  if (access.kind == AccessKind::load) {
    if (is_plain_read(access)) read(access);
  } else if (access.space == ptx::Space::shared || access.space == ptx::Space::global) {
    write(access);
  }
}

void OrderRecorder::copy_begins(std::span<const WarpAccess> sources, std::span<const WarpAccess> /*destinations*/,
                                std::uint64_t /*copy*/) {
  for (const WarpAccess& source : sources) read(source);
}

void OrderRecorder::read(const WarpAccess& access) {
  const BlockContext& block = *access.warp->block;
  for_each_lane(access.mask, [&](int lane) {
    if (recorded_ >= kMostReads) return;
    const ThreadPlace place{block.block_number, access.warp->index * kLanes + lane};
    std::vector<std::uint32_t>& own = reads_[place];
    const auto number = static_cast<std::uint32_t>(own.size());
    own.push_back(hash_of(place_of(access, (*access.addresses)[lane]), static_cast<std::size_t>(access.bytes)));
    ++recorded_;
    if (wanted_ && wanted_->first == place && wanted_->second == number) found_ = seen(access, lane, place, number);
    if (others_ == nullptr || differing_.size() >= kMostDiffering) return;
    const auto other = others_->find(place);
    if (other != others_->end() && number < other->second.size() && other->second[number] == own.back()) return;
    bool& has = has_differed_[place];
    if (!has) differing_.push_back(seen(access, lane, place, number));
    has = true;
  });
}

ReadSeen OrderRecorder::seen(const WarpAccess& access, int lane, ThreadPlace place, std::uint32_t number) const {
  ReadSeen read{
      place, number, access.operation->instruction, (*access.addresses)[lane], access.space == ptx::Space::shared,
      {},    {}};
  read.bytes.resize(std::min(kMostBytes, static_cast<std::size_t>(access.bytes)));
  std::memcpy(read.bytes.data(), place_of(access, read.address), read.bytes.size());
  for (std::size_t at = 0; at < read.bytes.size(); at += 4) {
    const auto found = writes_.find(word_of(access, read.address + at));
    read.written_by.push_back(found == writes_.end() ? LastWrite{} : found->second);
  }
  return read;
}

void OrderRecorder::write(const WarpAccess& access) {
  const BlockContext& block = *access.warp->block;
  for_each_lane(access.mask, [&](int lane) {
    const std::uint64_t begin = (*access.addresses)[lane];
    for (std::uint64_t at = begin & ~std::uint64_t{3}; at < begin + static_cast<std::uint64_t>(access.bytes); at += 4) {
      const std::uint64_t word = word_of(access, at);
      if (writes_.size() >= kMostWords && !writes_.contains(word)) continue;
      writes_[word] = {access.operation->instruction, {block.block_number, access.warp->index * kLanes + lane}};
    }
  });
}

LastWrite OrderRecorder::last_write(std::uint64_t global_address) const {
  const auto found = writes_.find(global_address / 4);
  return found == writes_.end() ? LastWrite{} : found->second;
}

}  // namespace convladder::simulated
