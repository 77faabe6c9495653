#include "devices/simulated/execution/executor.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>

#include "devices/simulated/execution/block_runner.hpp"

namespace convladder::simulated {
namespace {

/// What one host thread brings back.
struct ThreadResult {
  std::vector<InstructionCounters> counters;
  FindingLog findings;
  std::string printed;                             ///< blocks that print run in order, on one thread
  std::uint64_t faulty_block = ~std::uint64_t{0};  ///< the first in the order of blocks
  std::exception_ptr error;

  void note(std::uint64_t block, std::exception_ptr what) {
    if (block >= faulty_block) return;
    faulty_block = block;
    error = std::move(what);
  }
};

/// The grid of those blocks that run.
Dim3 part_of(Dim3 grid, const PlacesOfBlocks& window) {
  if (window.count > 0) extent(grid, window.axis) = window.count;
  return grid;
}

/// Host threads that have something to do.
std::size_t threads_for(int host_threads, std::uint64_t blocks) {
  return std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(1, host_threads)),
                                 std::max<std::uint64_t>(1, blocks));
}

/// The blocks of a launch go in waves: every multiprocessor runs as many as it could hold at a time, then what the L1
/// caches asked of the L2 is merged. Host threads take whole multiprocessors, and then slices of the L2.
class Launch {
 public:
  Launch(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
         const MakeObservers& make_observers)
      : program_(program),
        memory_(memory),
        configuration_(configuration),
        make_observers_(make_observers),
        part_(part_of(configuration.grid, configuration.window)),
        blocks_(part_.count()),
        multiprocessors_(static_cast<std::uint64_t>(configuration.gpu->multiprocessors)),
        results_(program.needs_block_order || make_observers ? 1 : threads_for(configuration.host_threads, blocks_)),
        running_(blocks_),
        phase_done_(static_cast<std::ptrdiff_t>(results_.size()), NextPhase{this}) {
    const std::uint64_t threads = configuration.block.count();
    const std::uint64_t shared = std::uint64_t{program.static_shared_bytes} + configuration.dynamic_shared_bytes;
    if (configuration.with_caches) {
      caches_ =
          std::make_unique<CacheHierarchy>(*configuration.gpu, l1_cache_bytes(*configuration.gpu, threads, shared));
    }
    // In the order of blocks there is one block of each multiprocessor in a wave.
    blocks_per_turn_ = program.needs_block_order ? 1 : resident_blocks(*configuration.gpu, threads, shared);
  }

  LaunchResult run() {
    std::vector<std::thread> others;
    try {
      others.reserve(results_.size());
      for (std::size_t thread = 1; thread < results_.size(); ++thread) {
        others.emplace_back([this, thread] { work(thread); });
      }
    } catch (const std::system_error&) {  // the system has no more threads for us: these do it
      for (std::size_t missing = others.size() + 1; missing < results_.size(); ++missing) phase_done_.arrive_and_drop();
    }
    work(0);
    for (std::thread& thread : others) thread.join();

    LaunchResult result;
    const auto first = std::ranges::min_element(results_, {}, &ThreadResult::faulty_block);
    try {
      if (first->error) std::rethrow_exception(first->error);
    } catch (const LaunchStopped& stopped) {
      result.stopped = stopped.what();
    }
    result.blocks = blocks_;
    result.counters.resize(program_.kernel->instructions.size());
    for (const ThreadResult& partial : results_) {
      for (std::size_t i = 0; i < partial.counters.size(); ++i) result.counters[i] += partial.counters[i];
      result.findings.merge(partial.findings);
      result.printed += partial.printed;
    }
    if (caches_) {
      result.has_caches = true;
      result.caches = caches_->finish();
    }
    return result;
  }

 private:
  /// Called by one thread when all have ended a phase.
  struct NextPhase {
    Launch* launch;
    void operator()() noexcept { launch->next_phase(); }
  };

  void next_phase() noexcept {
    next_.store(0);
    if (!merging_) {
      stopped_ = std::ranges::any_of(results_, [](const ThreadResult& result) { return result.error != nullptr; });
      merging_ = true;
      return;
    }
    merging_ = false;
    first_of_wave_ += multiprocessors_ * blocks_per_turn_;
    stopped_ = stopped_ || first_of_wave_ >= blocks_ ||
               std::ranges::any_of(results_, [](const ThreadResult& result) { return result.error != nullptr; });
  }

  void work(std::size_t thread) noexcept {
    ThreadResult& result = results_[thread];
    std::unique_ptr<BlockRunner> runner;
    try {
      runner = std::make_unique<BlockRunner>(program_, memory_, configuration_, running_);
      if (configuration_.collect_findings) runner->set_findings(&result.findings);
      if (make_observers_) runner->set_observers(make_observers_(result.findings));
    } catch (...) {
      result.note(0, std::current_exception());
    }
    while (!stopped_) {
      for (std::uint64_t sm = next_++; sm < multiprocessors_ && runner; sm = next_++)
        run_multiprocessor(*runner, sm, result);
      phase_done_.arrive_and_wait();
      for (std::uint64_t slice = next_++; caches_ && slice < CacheHierarchy::kSlices; slice = next_++) {
        try {
          caches_->merge(slice);
        } catch (...) {
          result.note(first_of_wave_, std::current_exception());
        }
      }
      phase_done_.arrive_and_wait();
    }
    if (!runner) return;
    result.counters = runner->counters();
    result.printed = runner->printed();
  }

  void run_multiprocessor(BlockRunner& runner, std::uint64_t sm, ThreadResult& result) {
    for (std::uint64_t turn = 0; turn < blocks_per_turn_; ++turn) {
      const std::uint64_t block = first_of_wave_ + turn * multiprocessors_ + sm;
      if (block >= blocks_) return;
      try {
        if (caches_) runner.set_l1(&caches_->l1(sm));
        Dim3 index{static_cast<unsigned>(block % part_.x), static_cast<unsigned>(block / part_.x % part_.y),
                   static_cast<unsigned>(block / part_.x / part_.y)};
        if (configuration_.window.count > 0) extent(index, configuration_.window.axis) += configuration_.window.first;
        runner.run(index, block);
      } catch (...) {
        result.note(block, std::current_exception());
        return;
      }
    }
  }

  const Program& program_;
  DeviceMemory& memory_;
  const LaunchConfiguration& configuration_;
  const MakeObservers& make_observers_;
  Dim3 part_;
  std::uint64_t blocks_;
  std::uint64_t multiprocessors_;
  std::uint64_t blocks_per_turn_ = 1;
  std::vector<ThreadResult> results_;
  std::unique_ptr<CacheHierarchy> caches_;
  RunningLaunch running_;

  // Between two phases only `next_phase` runs, so these need no lock.
  std::uint64_t first_of_wave_ = 0;
  bool merging_ = false;
  bool stopped_ = false;
  std::atomic<std::uint64_t> next_{0};  // multiprocessor or slice that a thread takes
  std::barrier<NextPhase> phase_done_;
};

}  // namespace

LaunchResult execute(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
                     const MakeObservers& make_observers) {
  return Launch(program, memory, configuration, make_observers).run();
}

}  // namespace convladder::simulated
