#include "simulator/device/other_orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <string_view>

#include "simulator/execution/grid_shape.hpp"

namespace convladder::simulated {
namespace {

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

}  // namespace

OtherOrders::OtherOrders(const Program& program, DeviceMemory& memory, LaunchConfiguration configuration,
                         LaunchMemory& kept)
    : program_(program), memory_(memory), configuration_(std::move(configuration)), kept_(kept) {
  configuration_.is_counted = false;
  configuration_.with_caches = false;
  configuration_.collect_findings = true;
}

LaunchResult OtherOrders::run(Schedule& schedule, AccessObserver* observer) {
  kept_.restore(LaunchMemory::before);
  LaunchConfiguration configuration = configuration_;
  configuration.schedule = &schedule;
  MakeObservers make;
  if (observer != nullptr) make = [observer](FindingLog& /*findings*/) { return std::vector{observer}; };
  return run_again(program_, memory_, configuration, make);
}

/// The difference that is left where floating-point sums of atomics are the same in any order.
std::optional<OtherOrders::Difference> OtherOrders::difference_of_bits(std::uint64_t seed) {
  if (!has_bits_) {
    Schedule in_order;
    in_order.add_bits();
    static_cast<void>(run(in_order));
    kept_.keep(LaunchMemory::of_bits);
    has_bits_ = true;
  }
  Schedule by_seed(seed, work_);
  by_seed.add_bits();
  static_cast<void>(run(by_seed));
  return kept_.difference_to(LaunchMemory::of_bits);
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
  const LaunchMemory::DifferentWord* word = &difference.words.front();
  if (of_bits) {  // a word that sums do not explain
    const auto is_left = [&](const LaunchMemory::DifferentWord& one) {
      return std::ranges::find(of_bits->words, one.address, &LaunchMemory::DifferentWord::address) !=
             of_bits->words.end();
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
      seed, difference.of_piece.at(word->piece), word->piece->contents[LaunchMemory::after].size(), label, offset);
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
    const std::string usual_value =
        value_text(word_at(word->piece->contents[LaunchMemory::after], offset), finding.opcode);
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

LaunchResult OtherOrders::run_usual_order() {
  const auto begin = std::chrono::steady_clock::now();
  Schedule in_order;
  LaunchResult result = run(in_order);
  work_ = {in_order.points(), configuration_.grid.count(),
           static_cast<unsigned>((configuration_.block.count() + kLanes - 1) / kLanes)};
  most_seconds_ = std::max(kLeastSeconds, kTimesUsual * seconds_from(begin));
  return result;
}

std::string OtherOrders::run_orders(const SchedulesWanted& wanted, const Look& look) {
  const LaunchWatch watch = configuration_.limits.watch;
  std::string interrupted;
  bool goes_on = true;
  for (std::uint64_t done = 0; done < wanted.count && goes_on; ++done) {
    const auto began = std::chrono::steady_clock::now();
    configuration_.limits.watch = [&, began, done](const LaunchProgress& progress) {
      if (watch) interrupted = watch({done, wanted.count, progress.operations, "orders"});
      if (!interrupted.empty()) return interrupted;
      return seconds_from(began) > most_seconds_ ? fmt::format("after {:.0f} s", most_seconds_) : std::string();
    };
    const std::uint64_t seed = wanted.first_seed + done;
    Schedule schedule(seed, work_);
    const LaunchResult result = run(schedule);
    if (!interrupted.empty()) break;
    goes_on = look(seed, result);
  }
  configuration_.limits.watch = watch;
  return interrupted;
}

std::optional<std::uint64_t> OtherOrders::first_other(const SchedulesWanted& wanted, const LaunchResult& usual) {
  if (!kept_.why_not_kept().empty()) return std::nullopt;
  kept_.keep(LaunchMemory::after);
  const std::vector<Finding> usual_findings = usual.findings.findings();
  const auto is_new = [&](const Finding& finding) {
    return std::ranges::none_of(usual_findings,
                                [&finding](const Finding& one) { return are_of_one_statement(one, finding); });
  };
  std::optional<std::uint64_t> first;
  static_cast<void>(run_usual_order());
  static_cast<void>(run_orders(wanted, [&](std::uint64_t seed, const LaunchResult& result) {
    const bool is_other = !result.stopped.empty() || std::ranges::any_of(result.findings.findings(), is_new) ||
                          (kept_.difference_to(LaunchMemory::after) && difference_of_bits(seed));
    if (is_other) first = seed;
    return !is_other;
  }));
  kept_.restore(LaunchMemory::after);
  return first;
}

void OtherOrders::leave_as(std::uint64_t seed) {
  Schedule by_seed(seed, work_);
  static_cast<void>(run(by_seed));
}

OrdersOutcome OtherOrders::try_them(const SchedulesWanted& wanted, const LaunchResult& usual) {
  OrdersOutcome outcome;
  outcome.tried.not_tried = kept_.why_not_kept();
  if (!outcome.tried.not_tried.empty()) return outcome;
  const auto begin = std::chrono::steady_clock::now();
  kept_.keep(LaunchMemory::after);
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
    const auto found = kept_.difference_to(LaunchMemory::after);
    if (!found) return;
    ++outcome.tried.differing;
    const auto of_bits = difference_of_bits(seed);
    outcome.tried.sums_only += of_bits ? 0 : 1;
    const bool is_worse = explained && explained->severity == Severity::note && of_bits;
    if (!explained || is_worse) explained = explain(seed, *found, of_bits);
  };

  look_at(0, run_usual_order());
  outcome.tried.orders = outcome.tried.differing + outcome.tried.failing;  // it counts where it is not as before
  std::uint64_t stopped = 0;
  std::string why_stopped;
  const std::string interrupted = run_orders(wanted, [&](std::uint64_t seed, const LaunchResult& result) {
    ++outcome.tried.orders;
    if (result.stopped.empty()) {
      look_at(seed, result);
    } else if (stopped++ == 0) {
      why_stopped = fmt::format("that of seed {} {}", seed, result.stopped);
    }
    return true;
  });
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
  kept_.restore(LaunchMemory::after);
  outcome.tried.seconds = seconds_from(begin);
  return outcome;
}

}  // namespace convladder::simulated
