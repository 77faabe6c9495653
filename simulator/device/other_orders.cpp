#include "simulator/device/other_orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <span>
#include <string_view>

#include "devices/cpu/cpu_facts.hpp"
#include "simulator/execution/grid_shape.hpp"
#include "simulator/state/device_runtime.hpp"

namespace convladder::simulated {
namespace {

/// The most memory of a launch that is kept, up to three times, and compared; at most a part of what is available.
constexpr std::uint64_t kMostComparedBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kPartOfMemory = 6;
constexpr std::size_t kMostDifferentWords = 1024;

/// Time for one order, beyond which it is ended: so many times the usual one's, and at least some seconds.
constexpr double kTimesUsual = 200;
constexpr double kLeastSeconds = 10;

double seconds_from(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The bits of a word as the instruction that accesses it takes them.
std::string value_text(std::uint32_t bits, std::string_view opcode) {
  if (opcode.ends_with(".f32")) return fmt::format("{}", std::bit_cast<float>(bits));
  if (opcode.ends_with(".s32")) return fmt::format("{}", static_cast<std::int32_t>(bits));
  if (opcode.ends_with(".u32") || bits < 1U << 16) return fmt::format("{}", bits);
  return fmt::format("0x{:08x}", bits);
}

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(sizeof word, bytes.size() - at));
  return word;
}

}  // namespace

OtherOrders::OtherOrders(const Program& program, DeviceMemory& memory, LaunchConfiguration configuration,
                         const std::vector<std::uint64_t>& written)
    : program_(program), memory_(memory), configuration_(std::move(configuration)) {
  configuration_.is_counted = false;
  configuration_.with_caches = false;
  configuration_.collect_findings = true;
  std::uint64_t bytes = 0;
  for (const std::uint64_t begin : written) bytes += memory_.find(begin)->end - begin;
  const std::uint64_t most = std::min<std::uint64_t>(kMostComparedBytes, available_memory_bytes() / kPartOfMemory);
  if (bytes > most) {
    not_tried_ = fmt::format("it may write {} MiB, and at most {} are compared here", bytes >> 20, most >> 20);
    return;
  }
  for (const std::uint64_t begin : written) {
    const std::byte* const at = memory_.host(begin);
    const Allocation& allocation = *memory_.find(begin);
    pieces_.push_back({begin, allocation.label, {at, at + (allocation.end - begin)}});
  }
}

void OtherOrders::restore(std::vector<std::byte> Piece::*content) {
  for (const Piece& piece : pieces_) {
    const std::vector<std::byte>& wanted = piece.*content;
    std::byte* const at = memory_.host(piece.begin);
    // The host may have mapped some of it for reading only.
    if (std::memcmp(at, wanted.data(), wanted.size()) != 0) std::ranges::copy(wanted, at);
  }
}

LaunchResult OtherOrders::run(Schedule& schedule, AccessObserver* observer) {
  restore(&Piece::before);
  LaunchConfiguration configuration = configuration_;
  configuration.schedule = &schedule;
  DeviceRuntime runtime;
  if (configuration_.runtime != nullptr) {
    runtime.host = configuration_.runtime->host;
    runtime.depth = configuration_.runtime->depth;
    configuration.runtime = &runtime;
  }
  MakeObservers make;
  if (observer != nullptr) make = [observer](FindingLog& /*findings*/) { return std::vector{observer}; };
  const LaunchResult result = simulated::execute(program_, memory_, configuration, make);
  for (const auto& [address, bytes] : runtime.buffers) memory_.free(address);  // of launches that this order asked for
  return result;
}

void OtherOrders::keep(std::vector<std::byte> Piece::*content) {
  for (Piece& piece : pieces_) {
    const std::byte* const at = memory_.host(piece.begin);
    (piece.*content).assign(at, at + piece.before.size());
  }
}

std::optional<OtherOrders::Difference> OtherOrders::difference_to(std::vector<std::byte> Piece::*content) const {
  std::optional<Difference> found;
  for (const Piece& piece : pieces_) {
    const std::vector<std::byte>& other = piece.*content;
    const std::span<const std::byte> now(memory_.host(piece.begin), other.size());
    if (std::memcmp(now.data(), other.data(), other.size()) == 0) continue;
    if (!found) found.emplace();
    std::uint64_t& differ = found->of_piece[&piece];
    for (std::size_t at = 0; at < other.size(); at += 4) {
      const std::uint64_t before = differ;
      for (std::size_t i = at; i < std::min(at + 4, other.size()); ++i) differ += now[i] != other[i] ? 1 : 0;
      if (differ == before || found->words.size() >= kMostDifferentWords) continue;
      found->words.push_back({&piece, piece.begin + at, word_at(now, at)});
    }
  }
  return found;
}

/// The difference that is left where floating-point sums of atomics are the same in any order.
std::optional<OtherOrders::Difference> OtherOrders::difference_of_bits(std::uint64_t seed) {
  if (!has_bits_) {
    Schedule in_order;
    in_order.add_bits();
    static_cast<void>(run(in_order));
    keep(&Piece::of_bits);
    has_bits_ = true;
  }
  Schedule by_seed(seed, work_);
  by_seed.add_bits();
  static_cast<void>(run(by_seed));
  return difference_to(&Piece::of_bits);
}

Finding OtherOrders::finding_at(const LastWrite& write) const {
  if (write.instruction < 0) return {};
  Finding finding = finding_of(program_, write.instruction);
  finding.checker = Checker::order;
  const GridShape grid(configuration_);
  const std::uint64_t of_cluster = grid.blocks_per_cluster();
  finding.block = grid.block_index(write.by.block / of_cluster, static_cast<unsigned>(write.by.block % of_cluster));
  finding.thread = GridShape::place_in(configuration_.block, static_cast<std::uint64_t>(write.by.thread));
  return finding;
}

std::string OtherOrders::place_text(const LastWrite& write) const {
  const Finding at = finding_at(write);
  const SourcePlace* const caller = at.callers.empty() ? nullptr : &at.callers.back();
  const std::string line = caller != nullptr    ? simulated::place_text(*caller)
                           : at.source_line > 0 ? simulated::place_text(SourcePlace{at.source_file, at.source_line})
                                                : fmt::format("PTX line {}", at.ptx_line);
  return fmt::format("{}, thread ({}, {}, {}) of block ({}, {}, {})", line, at.thread.x, at.thread.y, at.thread.z,
                     at.block.x, at.block.y, at.block.z);
}

/// Finds the lines where the two orders part. Runs the launch some times more.
Finding OtherOrders::explain(std::uint64_t seed, const Difference& difference,
                             const std::optional<Difference>& of_bits) {
  const DifferentWord* word = &difference.words.front();
  if (of_bits) {  // a word that sums do not explain
    const auto is_left = [&](const DifferentWord& one) {
      return std::ranges::find(of_bits->words, one.address, &DifferentWord::address) != of_bits->words.end();
    };
    const auto left = std::ranges::find_if(difference.words, is_left);
    if (left != difference.words.end()) word = &*left;
  }
  OrderRecorder usual(program_);
  Schedule in_order;
  static_cast<void>(run(in_order, &usual));
  OrderRecorder other(program_, &usual.reads());
  Schedule by_seed(seed, work_);
  static_cast<void>(run(by_seed, &other));

  const LastWrite last = other.last_write(word->address);
  const LastWrite last_usual = usual.last_write(word->address);
  const std::uint64_t offset = word->address - word->piece->begin;
  const std::string& label = word->piece->label;
  const std::string where = fmt::format(
      "the results depend on the order of the work: with seed {}, {} of {} bytes of '{}' are not those of "
      "the usual order, the first at offset {}",
      seed, difference.of_piece.at(word->piece), word->piece->after.size(), label, offset);
  Finding finding;
  const bool same_writer = last.instruction == last_usual.instruction && last.by == last_usual.by;
  const auto read = std::ranges::find(other.differing(), last.by, &ReadSeen::by);
  std::optional<ReadSeen> in_usual;
  if (same_writer && last.instruction >= 0 && read != other.differing().end()) {
    OrderRecorder probe(program_);
    probe.look_for(read->by, read->number);
    Schedule again;
    static_cast<void>(run(again, &probe));
    in_usual = probe.found();
  }
  if (in_usual && in_usual->bytes.size() == read->bytes.size()) {
    const auto parts = std::ranges::mismatch(read->bytes, in_usual->bytes).in1 - read->bytes.begin();
    const std::size_t at = std::min<std::size_t>(static_cast<std::size_t>(parts), read->bytes.size() - 1) / 4 * 4;
    finding = finding_at({read->instruction, read->by});
    const auto text_of = [&](const ReadSeen& one) {
      const LastWrite& write = one.written_by[at / 4];
      return fmt::format(
          "{}, {}", value_text(word_at(one.bytes, at), finding.opcode),
          write.instruction < 0 ? "which was there before the launch" : "written at " + place_text(write));
    };
    finding.problem = fmt::format("{}. On the way to it this line reads {}; in the usual order {}", where,
                                  text_of(*read), text_of(*in_usual));
    finding.space = read->is_shared ? "shared" : "global";
    finding.address = read->address;
  } else {
    finding = finding_at(last.instruction >= 0 ? last : last_usual);
    if (finding.kernel.empty()) finding.kernel = program_.kernel->name;
    finding.checker = Checker::order;
    const std::string value = value_text(word->bits, finding.opcode);
    const std::string usual_value = value_text(word_at(word->piece->after, offset), finding.opcode);
    if (last.instruction < 0) {
      finding.problem = fmt::format("{}: nobody writes it, and it stays {}; in the usual order this line writes {}",
                                    where, value, usual_value);
    } else if (same_writer) {
      finding.problem = fmt::format("{}: this line writes {}; in the usual order {}", where, value, usual_value);
    } else if (last_usual.instruction < 0) {
      finding.problem = fmt::format("{}: this line writes {}; in the usual order nobody writes, and it stays {}", where,
                                    value, usual_value);
    } else {
      finding.problem = fmt::format("{}: this line writes {} there last; in the usual order {} is written last, at {}",
                                    where, value, usual_value, place_text(last_usual));
    }
    finding.space = "global";
    finding.address = word->address;
  }
  finding.allocation = label;
  if (!of_bits) {
    finding.severity = Severity::note;
    finding.problem += ". Only floating-point sums by atomics, in another order";
  }
  return finding;
}

OrdersOutcome OtherOrders::try_them(const SchedulesWanted& wanted, const LaunchResult& usual) {
  OrdersOutcome outcome;
  outcome.tried.not_tried = not_tried_;
  if (!not_tried_.empty()) return outcome;
  const auto begin = std::chrono::steady_clock::now();
  keep(&Piece::after);
  const std::vector<Finding> usual_findings = usual.findings.findings();
  std::vector<Finding> told;  // without the seed in their texts
  std::optional<Finding> explained;
  const auto look_at = [&](std::uint64_t seed, const LaunchResult& result) {
    bool fails = false;
    for (const Finding& finding : result.findings.findings()) {
      const auto same = [&finding](const Finding& one) { return are_of_one_statement(one, finding); };
      if (std::ranges::any_of(usual_findings, same)) continue;
      fails = true;
      if (std::ranges::any_of(told, same)) continue;
      told.push_back(finding);
      outcome.findings.push_back(finding);
      outcome.findings.back().problem = fmt::format("in the order of seed {}: {}", seed, finding.problem);
    }
    if (fails) {
      ++outcome.tried.failing;
      return;
    }
    const auto found = difference_to(&Piece::after);
    if (!found) return;
    ++outcome.tried.differing;
    const auto of_bits = difference_of_bits(seed);
    outcome.tried.sums_only += of_bits ? 0 : 1;
    const bool is_worse = explained && explained->severity == Severity::note && of_bits;
    if (!explained || is_worse) explained = explain(seed, *found, of_bits);
  };

  Schedule in_order;
  LaunchResult first = run(in_order);
  const double usual_seconds = seconds_from(begin);
  work_ = {in_order.points(), configuration_.grid.count(),
           static_cast<unsigned>((configuration_.block.count() + kLanes - 1) / kLanes)};
  look_at(0, first);
  outcome.tried.orders = outcome.tried.differing + outcome.tried.failing;  // it counts where it is not as before
  const double most_seconds = std::max(kLeastSeconds, kTimesUsual * usual_seconds);
  std::uint64_t stopped = 0;
  std::string why_stopped;
  const LaunchWatch watch = configuration_.limits.watch;
  std::string interrupted;  // the reason of whoever watches
  for (std::uint64_t seed = wanted.first_seed; seed - wanted.first_seed < wanted.count; ++seed) {
    const auto began = std::chrono::steady_clock::now();
    const std::uint64_t done = seed - wanted.first_seed;
    configuration_.limits.watch = [&, began, done](const LaunchProgress& progress) {
      if (watch) interrupted = watch({done, wanted.count, progress.operations, "orders"});
      if (!interrupted.empty()) return interrupted;
      return seconds_from(began) > most_seconds ? fmt::format("after {:.0f} s", most_seconds) : std::string();
    };
    Schedule schedule(seed, work_);
    const LaunchResult result = run(schedule);
    if (!interrupted.empty()) break;
    ++outcome.tried.orders;
    if (result.stopped.empty()) {
      look_at(seed, result);
    } else if (stopped++ == 0) {
      why_stopped = fmt::format("that of seed {} {}", seed, result.stopped);
    }
  }
  configuration_.limits.watch = watch;
  if (!interrupted.empty()) {
    outcome.tried.not_tried = "they were ended " + interrupted;
  } else if (stopped > 0) {
    outcome.tried.not_tried =
        fmt::format("{} of its orders had not come to an end when they were ended: {}", stopped, why_stopped);
  }
  if (explained) {
    explained->count = outcome.tried.differing;
    outcome.findings.push_back(std::move(*explained));
  }
  outcome.tried.launches = 1;
  const std::uint64_t orders = orders_with_one_interruption(work_);
  outcome.tried.complete = orders > 0 && wanted.count / 2 >= orders ? 1 : 0;
  restore(&Piece::after);
  outcome.tried.seconds = seconds_from(begin);
  return outcome;
}

}  // namespace convladder::simulated
