#include "simulator/stand_in/deferred_work.hpp"

#include <algorithm>
#include <cstring>

namespace convladder::stand_in {
namespace {

constexpr std::size_t kMostOperations = std::size_t{1} << 20;  // of deferred operations
constexpr std::uint64_t kMostKeptBytes = std::uint64_t{256} << 20;
constexpr std::size_t kMostSteps = 200'000;
constexpr std::uint64_t kMostBytesOfLooks = std::uint64_t{256} << 20;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const auto product = static_cast<Wide>(a ^ 0x9e3779b97f4a7c15U) * (b ^ 0xd1b54a32d192ed03U);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

constexpr std::uint64_t kUnread = ~std::uint64_t{0};

}  // namespace

// With the flags for unmeasured code this would be the longest part of a run.
__attribute__((optimize("O3"))) ContentName content_name(const void* bytes, std::size_t count) {
  constexpr std::uint64_t kFactors[4] = {0x9e3779b185ebca87U, 0xc2b2ae3d27d4eb4fU, 0x165667b19e3779f9U,
                                         0x27d4eb2f165667c5U};
  std::uint64_t sums[4] = {count, ~count, count ^ kFactors[0], count ^ kFactors[1]};
  const auto* at = static_cast<const std::byte*>(bytes);
  std::size_t left = count;
  std::uint64_t words[4];
  const auto take = [&] {
    for (int i = 0; i < 4; ++i) {
      sums[i] = (sums[i] ^ words[i]) * kFactors[i];
      sums[i] ^= sums[i] >> 29;
    }
  };
  for (; left >= sizeof words; left -= sizeof words, at += sizeof words) {
    std::memcpy(words, at, sizeof words);
    take();
  }
  std::memset(words, 0, sizeof words);
  if (left > 0) std::memcpy(words, at, left);
  take();
  return {mixed(mixed(sums[0], sums[1]), mixed(sums[2], sums[3])),
          mixed(mixed(sums[3], sums[0]) + 1, mixed(sums[1], sums[2]))};
}

ContentName content_name(const ContentName& first, const ContentName& second) {
  return {mixed(mixed(first.low, second.high), mixed(first.high, second.low)),
          mixed(mixed(first.high, second.high) + 1, mixed(first.low, second.low))};
}

void DeferredWork::Contents::change(const Left& left) {
  if (left.empty()) return;
  for (const auto& [begin, content] : left) by_begin[begin] = content;
  rename();
}

void DeferredWork::Contents::rename() {
  all = {};
  for (const auto& [begin, content] : by_begin) all = content_name(all, content_name({begin, ~begin}, content));
}

ContentName DeferredWork::content_of(std::uint64_t begin, std::uint64_t end) const {
  const auto* const address = reinterpret_cast<const void*>(begin);  // NOLINT(performance-no-int-to-ptr)
  return content_name(device_.bytes_at(address, end - begin, "name"), end - begin);
}

/// Names contents that have no name, and forgets freed allocations.
void DeferredWork::look_at_memory() {
  std::map<std::uint64_t, Allocated> live;
  bool is_other = false;
  for (const auto& [begin, end] : device_.own_allocations()) {
    Allocated& one = live[begin];
    one.end = end;
    if (const auto known = allocated_.find(begin); known != allocated_.end()) {
      one.content = known->second.content;
      if (!one.content) one.content = content_of(begin, end);
    } else {
      // Every write to it is seen here, so its bytes need not be read to get a name of their own.
      one.content = ContentName{next_unread_++, kUnread};
    }
    const auto before = now_.by_begin.find(begin);
    is_other = is_other || before == now_.by_begin.end() || before->second != *one.content;
  }
  is_other = is_other || live.size() != now_.by_begin.size();
  allocated_ = std::move(live);
  if (!is_other) return;
  now_.by_begin.clear();
  for (const auto& [begin, one] : allocated_) now_.by_begin[begin] = *one.content;
  now_.rename();
}

DeferredWork::Found DeferredWork::found_by(const DeferredOperation& operation, const Contents& contents) const {
  if (!operation.depends_on) return {operation.name, contents.all};
  Found found{operation.name, {}};
  for (const std::uint64_t begin : *operation.depends_on) {
    const auto one = contents.by_begin.find(begin);
    if (one != contents.by_begin.end()) found.contents = content_name(found.contents, one->second);
  }
  return found;
}

const DeferredWork::Left* DeferredWork::known(const Found& found) const {
  const auto step = steps_.find(found);
  return step == steps_.end() ? nullptr : &step->second;
}

/// Carries out an operation: memory holds what it is to find, and every content has its name.
const DeferredWork::Left& DeferredWork::execute(const DeferredOperation& operation) {
  const Found found = found_by(operation, now_);
  const std::vector<std::uint64_t> written = operation.may_write();
  try {
    operation.carry_out();
  } catch (...) {
    for (const std::uint64_t begin : written) wrote(begin);
    throw;
  }
  ++executed_;
  Left left;
  for (const std::uint64_t begin : written) {
    const auto one = allocated_.find(begin);
    if (one == allocated_.end()) continue;  // memory that the host sees
    const ContentName content = content_of(begin, one->second.end);
    if (content == one->second.content) continue;
    one->second.content = content;
    left.emplace_back(begin, content);
  }
  now_.change(left);
  if (steps_.size() >= kMostSteps) steps_.clear();
  return steps_[found] = std::move(left);
}

/// Delivers the contents after the operations before this one, which are carried out first if they are not known.
void DeferredWork::look(const DeferredOperation& operation, const Contents& at, const std::function<void()>& catch_up) {
  const Found found = found_by(operation, at);
  auto known = looks_.find(found);
  if (known == looks_.end()) {
    catch_up();
    std::vector<std::byte> bytes = operation.look();
    if (bytes_of_looks_ + bytes.size() > kMostBytesOfLooks) {
      looks_.clear();
      bytes_of_looks_ = 0;
    }
    bytes_of_looks_ += bytes.size();
    known = looks_.emplace(found, std::move(bytes)).first;
  }
  operation.deliver(known->second);
}

void DeferredWork::go_through_log(bool memory_is_wanted) {
  if (log_.empty()) return;
  goes_to_host_ = false;
  const std::vector<std::shared_ptr<const DeferredOperation>> log = std::exchange(log_, {});
  kept_bytes_ = 0;
  look_at_memory();
  Contents at = now_;      // after the current operation, whether or not memory is in that state
  std::size_t behind = 0;  // operations before this one have been applied to memory
  const auto catch_up = [&](std::size_t end) {
    for (; behind < end; ++behind) {
      if (log[behind]->look) continue;  // already delivered
      const Left* const step = known(found_by(*log[behind], now_));
      if (step != nullptr && step->empty()) {
        ++left_out_;
      } else {
        execute(*log[behind]);
      }
    }
  };
  bool changes_nothing = false;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (log[i]->look) {
      look(*log[i], at, [&] { catch_up(i); });
      continue;
    }
    if (!(changes_nothing && i > 0 && log[i] == log[i - 1])) {
      const Left* step = known(found_by(*log[i], at));
      if (step == nullptr) {
        catch_up(i);
        at = now_;
        step = known(found_by(*log[i], at));
      }
      if (step == nullptr) {
        step = &execute(*log[i]);
        at = now_;
        behind = i + 1;
        changes_nothing = step->empty();
        continue;
      }
      changes_nothing = step->empty();
      at.change(*step);
    }
    // Memory is in the state that it would have here.
    if (at.all == now_.all) {
      left_out_ += i + 1 - behind;
      behind = i + 1;
    }
  }
  if (memory_is_wanted) return catch_up(log.size());
  for (; behind < log.size(); ++behind) {
    if (!log[behind]->look) add(log[behind]);
  }
}

void DeferredWork::add(std::shared_ptr<const DeferredOperation> operation) {
  if (log_.size() >= kMostOperations || kept_bytes_ + operation->kept_bytes > kMostKeptBytes) settle();
  kept_bytes_ += operation->kept_bytes;
  goes_to_host_ = goes_to_host_ || operation->look != nullptr;
  log_.push_back(std::move(operation));
}

void DeferredWork::carry_out(const DeferredOperation& operation) {
  settle();
  look_at_memory();
  execute(operation);
}

void DeferredWork::wrote(std::uint64_t begin) { allocated_[begin].content.reset(); }

void DeferredWork::wrote_anything() {
  for (const auto& [begin, end] : device_.own_allocations()) allocated_[begin].content.reset();
}

}  // namespace convladder::stand_in
