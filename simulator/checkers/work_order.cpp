#include "simulator/checkers/work_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "simulator/instructions/memory/memory_access.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {

void join(EndedWork& ended, const EndedWork& other) {
  for (const auto& [stream, number] : other) {
    std::uint32_t& known = ended[stream];
    known = std::max(known, number);
  }
}

void WorkOrder::begin(StreamWork work) {
  works_.push_back(std::move(work));
  answers_.fill({});
}

/// Whether the work has ended when the current one begins.
bool WorkOrder::ends_before(std::uint32_t work) const {
  const StreamWork& now = works_.back();
  return work + 1 == works_.size() || works_[work].stream == now.stream || has_ended(work, now.behind);
}

bool WorkOrder::has_ended(std::uint32_t work, const EndedWork& all_ended) const {
  const StreamWork& earlier = works_[work];
  const auto is_known = [&all_ended](int stream, std::uint32_t number) {
    const auto ended = all_ended.find(stream);
    return ended != all_ended.end() && ended->second >= number;
  };
  if (is_known(earlier.stream, earlier.number)) return true;
  const auto above = together_.upper_bound(earlier.stream);
  if (above == together_.begin()) return false;
  const Together& last = std::prev(above)->second;
  return earlier.stream < last.end && is_known(last.stream, last.number);
}

void WorkOrder::note_user(std::uint64_t page, bool writes) {
  const auto now = static_cast<std::uint32_t>(works_.size() - 1);
  std::vector<User>& users = users_[page];
  ++uses_;
  // The last of a stream's works that do the same is enough: it ends after the others.
  const auto same = std::ranges::find_if(
      users, [&](const User& user) { return user.writes == writes && works_[user.work].stream == works_[now].stream; });
  if (same == users.end()) {
    users.push_back({now, writes});
  } else {
    same->work = now;
  }
}

template <typename Found>
void WorkOrder::touch_words(std::uint64_t begin, std::uint64_t bytes, const Access& access, const Found& found) {
  const auto now = static_cast<std::uint32_t>(works_.size() - 1);
  if (now == 0 || begin < followed_from_) return;
  for (std::uint64_t at = begin; at < begin + bytes;) {
    const std::uint64_t page = at / kPageBytes;
    if (page != last_page_) {
      std::unique_ptr<Page>& known = pages_[page];
      if (known == nullptr && pages_.size() > kMostPages) {
        pages_.erase(page);
        is_blind_ = true;
        return;
      }
      if (known == nullptr) known = std::make_unique<Page>();
      last_page_ = page;
      last_ = known.get();
    }
    if (last_->last_work != now || (access.writes && !last_->last_writes)) {
      last_->last_work = now;
      last_->last_writes = access.writes;
      if (at >= kVisibleWindow) note_user(page, access.writes);
    }
    Word& word = last_->words[at % kPageBytes / kWord];
    const std::uint64_t first = at % kWord;
    const std::uint64_t count = std::min(kWord - first, begin + bytes - at);
    const auto mask = static_cast<std::uint8_t>(((1U << count) - 1) << first);
    const bool is_atomic = access.is_strong && word.is_strong;
    const auto place = [&](std::uint8_t of) {
      return at - first + static_cast<std::uint64_t>(std::countr_zero(static_cast<unsigned>(of & mask)));
    };
    if (word.writer != 0 && (word.written & mask) != 0 && !is_atomic && !is_before(word.writer)) {
      found(access.writes ? "write after write" : "read after write", word.writer, place(word.written));
    }
    if (!access.writes) {
      if (word.first_reader != now) {
        const bool replaces = word.first_reader == 0 || is_before(word.first_reader);
        (replaces ? word.first_reader : word.last_reader) = now;
        word.read = replaces ? mask : static_cast<std::uint8_t>(word.read | mask);
        word.is_read_strongly = access.is_strong && (replaces || word.is_read_strongly);
      } else {
        word.read |= mask;
        word.is_read_strongly = access.is_strong && word.is_read_strongly;
      }
    } else {
      for (const std::uint32_t reader : {word.first_reader, word.last_reader}) {
        const bool meets = reader != 0 && (word.read & mask) != 0 && !is_atomic;
        if (meets && !is_before(reader)) found("write after read", reader, place(word.read));
      }
      word.is_strong = access.is_strong && (word.writer != now || word.is_strong);
      word.written = word.writer == now ? static_cast<std::uint8_t>(word.written | mask) : mask;
      word.writer = now;
    }
    at += count;
  }
}

/// Atomics and other strong accesses may meet those of another kernel.
bool WorkOrder::is_strong(const WarpAccess& access) {
  const Program* const program = access.warp->block->program;
  if (program != program_) {
    program_ = program;
    strong_.clear();
    for (const ptx::Instruction& instruction : program->kernel->instructions) {
      strong_.push_back(memory_order(instruction.opcode) != MemoryOrder::weak);
    }
  }
  return strong_[static_cast<std::size_t>(access.operation->instruction)];
}

void WorkOrder::access(const WarpAccess& access) {
  if (access.space != ptx::Space::global || findings_ == nullptr) return;
  const Access what{access.kind != AccessKind::load, is_strong(access)};
  for (LaneMask left = access.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto bytes = static_cast<std::uint64_t>(std::max(access.bytes, 1));
    touch_words((*access.addresses)[static_cast<std::size_t>(lane)], bytes, what,
                [&](const char* hazard, std::uint32_t work, std::uint64_t at) {
                  // Kinds of its own, beside those of racecheck within a launch.
                  const int kind = static_cast<int>((1U << 30) + (work << 2) +
                                                    (hazard[0] == 'r'    ? 0
                                                     : hazard[12] == 'w' ? 1
                                                                         : 2));
                  const BlockContext& block = *access.warp->block;
                  findings_->add({Checker::race, access.operation->instruction, kind}, block.block_number, 1, [&] {
                    const Allocation* const memory = block.memory->find(at);
                    const std::string where = memory == nullptr
                                                  ? fmt::format("0x{:x}", at)
                                                  : fmt::format("byte {} of '{}'", at - memory->begin, memory->label);
                    Finding finding = block.finding_at(*access.warp, *access.operation, lane, Checker::race,
                                                       fmt::format("{} at {}: {} is not ordered with {}", hazard, where,
                                                                   works_.back().what, works_[work].what));
                    finding.space = "global";
                    finding.address = at;
                    if (memory != nullptr) finding.allocation = memory->label;
                    return finding;
                  });
                });
  }
}

void WorkOrder::copy_begins(std::span<const WarpAccess> sources, std::span<const WarpAccess> destinations,
                            std::uint64_t /*copy*/) {
  for (const WarpAccess& source : sources) access(source);
  for (const WarpAccess& destination : destinations) access(destination);
}

std::vector<WorkOrder::Conflict> WorkOrder::touch(std::uint64_t begin, std::uint64_t bytes, bool writes) {
  std::vector<Conflict> conflicts;
  std::uint32_t last = 0;
  touch_words(begin, bytes, {writes, false}, [&](const char* hazard, std::uint32_t work, std::uint64_t at) {
    if (work == std::exchange(last, work)) return;
    const std::string& with = works_[work].what;
    const bool is_known = std::ranges::any_of(
        conflicts, [&](const Conflict& one) { return one.with == with && std::string_view(one.hazard) == hazard; });
    if (!is_known) conflicts.push_back({hazard, at, with});
  });
  return conflicts;
}

std::vector<WorkOrder::PageInUse> WorkOrder::pages_in_use(const EndedWork& ended) {
  std::vector<PageInUse> pages;
  for (auto page = users_.begin(); page != users_.end();) {
    auto& [number, users] = *page;
    std::erase_if(users, [&](const User& user) { return has_ended(user.work, ended); });
    if (users.empty()) {
      page = users_.erase(page);
      continue;
    }
    pages.push_back({number * kPageBytes, std::ranges::any_of(users, &User::writes), users.back().work});
    ++page;
  }
  return pages;
}

std::optional<WorkOrder::Conflict> WorkOrder::host_access(std::uint64_t address, bool writes, const EndedWork& ended,
                                                          EndedWork& seen) {
  const auto page = pages_.find(address / kPageBytes);
  if (page == pages_.end()) return std::nullopt;
  const Word& word = page->second->words[address % kPageBytes / kWord];
  const auto is_under_way = [&](std::uint32_t work) { return work != 0 && !has_ended(work, ended); };
  if (is_under_way(word.writer)) {
    const StreamWork& writer = works_[word.writer];
    if (!word.is_strong) return Conflict{writes ? "write after write" : "read after write", address, writer.what};
    join(seen, writer.behind);
    join(seen, {{writer.stream, writer.number}});
    return std::nullopt;
  }
  for (const std::uint32_t reader : {word.first_reader, word.last_reader}) {
    if (writes && !word.is_read_strongly && is_under_way(reader))
      return Conflict{"write after read", address, works_[reader].what};
  }
  return std::nullopt;
}

void WorkOrder::end_together(int first, int end, int stream, std::uint32_t number) {
  if (end > first) together_[first] = {end, stream, number};
}

void WorkOrder::forget(std::uint64_t begin, std::uint64_t bytes) {
  const std::uint64_t end = begin + bytes;
  for (auto page = pages_.lower_bound(begin / kPageBytes); page != pages_.end() && page->first * kPageBytes < end;) {
    const std::uint64_t first = page->first * kPageBytes;
    if (begin <= first && first + kPageBytes <= end) {
      users_.erase(page->first);
      ++uses_;
      page = pages_.erase(page);
      continue;
    }
    for (std::uint64_t at = std::max(begin, first); at < std::min(end, first + kPageBytes); at += kWord) {
      page->second->words[at % kPageBytes / kWord] = {};
    }
    ++page;
  }
  last_page_ = ~std::uint64_t{0};
}

}  // namespace convladder::simulated
