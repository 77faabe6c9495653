#include "simulator/device/launch_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "devices/cpu/cpu_facts.hpp"
#include "simulator/state/device_runtime.hpp"

namespace convladder::simulated {
namespace {

/// The most memory of a launch that is kept, up to three times, and compared; at most a part of what is available.
constexpr std::uint64_t kMostComparedBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kPartOfMemory = 6;
constexpr std::size_t kMostDifferentWords = 1024;

}  // namespace

LaunchMemory::LaunchMemory(DeviceMemory& memory, const std::vector<std::uint64_t>& written) : memory_(memory) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t begin : written) bytes += memory_.find(begin)->end - begin;
  const std::uint64_t most = std::min<std::uint64_t>(kMostComparedBytes, available_memory_bytes() / kPartOfMemory);
  if (bytes > most) {
    why_not_kept_ = fmt::format("it may write {} MiB, and at most {} are compared here", bytes >> 20, most >> 20);
    return;
  }
  for (const std::uint64_t begin : written) {
    const std::byte* const at = memory_.host(begin);
    const Allocation& allocation = *memory_.find(begin);
    Piece& piece = pieces_.emplace_back();
    piece.begin = begin;
    piece.label = allocation.label;
    piece.contents[before].assign(at, at + (allocation.end - begin));
  }
}

void LaunchMemory::keep(Content content) {
  for (Piece& piece : pieces_) {
    const std::byte* const at = memory_.host(piece.begin);
    piece.contents[content].assign(at, at + piece.contents[before].size());
  }
}

void LaunchMemory::restore(Content content) {
  for (const Piece& piece : pieces_) {
    const std::vector<std::byte>& wanted = piece.contents[content];
    std::byte* const at = memory_.host(piece.begin);
    // The host may have mapped some of it for reading only.
    if (std::memcmp(at, wanted.data(), wanted.size()) != 0) std::ranges::copy(wanted, at);
  }
}

std::optional<LaunchMemory::Difference> LaunchMemory::difference_to(Content content) const {
  std::optional<Difference> found;
  for (const Piece& piece : pieces_) {
    const std::vector<std::byte>& other = piece.contents[content];
    const std::span<const std::byte> now(memory_.host(piece.begin), other.size());
    if (std::memcmp(now.data(), other.data(), other.size()) == 0) continue;
    if (!found) found.emplace();
    std::uint64_t& differ = found->of_piece[&piece];
    for (std::size_t at = 0; at < other.size(); at += 4) {
      const std::uint64_t until_here = differ;
      for (std::size_t i = at; i < std::min(at + 4, other.size()); ++i) differ += now[i] != other[i] ? 1 : 0;
      if (differ == until_here || found->words.size() >= kMostDifferentWords) continue;
      found->words.push_back({&piece, piece.begin + at, word_at(now, at)});
    }
  }
  return found;
}

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(sizeof word, bytes.size() - at));
  return word;
}

LaunchResult run_again(const Program& program, DeviceMemory& memory, LaunchConfiguration configuration,
                       const MakeObservers& make_observers) {
  DeviceRuntime runtime;
  if (configuration.runtime != nullptr) {
    runtime.host = configuration.runtime->host;
    runtime.depth = configuration.runtime->depth;
    configuration.runtime = &runtime;
  }
  const LaunchResult result = [&] {
    const KernelRuns runs(memory);
    return execute(program, memory, configuration, make_observers);
  }();
  for (const auto& [address, bytes] : runtime.buffers) memory.free(address);  // of launches that it has asked for
  return result;
}

}  // namespace convladder::simulated
