#include "simulator/execution/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>

#include "simulator/execution/grid_shape.hpp"
#include "simulator/execution/open_clusters.hpp"

namespace convladder::simulated {
namespace {

/// The results of one host thread.
struct ThreadResult {
  std::vector<InstructionCounters> counters;
  FindingLog findings;
  std::string printed;  ///< blocks that print run in order, on one thread
  std::string asserted;
  std::uint64_t faulty_block = ~std::uint64_t{0};  ///< the first in the order of blocks
  std::exception_ptr error;

  void note(std::uint64_t block, std::exception_ptr what) {
    if (block >= faulty_block) return;
    faulty_block = block;
    error = std::move(what);
  }
};

/// The number of host threads that get something to do.
std::size_t threads_for(int host_threads, std::uint64_t blocks) {
  return std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(1, host_threads)),
                                 std::max<std::uint64_t>(1, blocks));
}

/// The blocks of a launch go in waves: every multiprocessor runs as many as it could hold at a time, then the requests
/// of the L1 caches to the L2 are merged. Host threads take whole multiprocessors, and then slices of the L2. Clusters
/// take as many multiprocessors as they have blocks.
///
/// Blocks that communicate run on one host thread, in order, and a wave has one block for each multiprocessor. If some
/// wait for others, as many begin as the GPU could hold at a time, and then they go on in turn.
class Launch {
 public:
  Launch(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
         const MakeObservers& make_observers)
      : program_(program),
        memory_(memory),
        configuration_(configuration),
        make_observers_(make_observers),
        grid_(configuration),
        results_(program.needs_block_order || make_observers || configuration.schedule != nullptr
                     ? 1
                     : threads_for(configuration.host_threads, grid_.blocks())),
        running_(grid_.blocks()),
        phase_done_(static_cast<std::ptrdiff_t>(results_.size()), NextPhase{this}) {
    const std::uint64_t threads = configuration.block.count();
    const std::uint64_t shared = std::uint64_t{program.static_shared_bytes} + configuration.dynamic_shared_bytes;
    if (configuration.with_caches) {
      if (configuration.caches == nullptr) own_caches_ = std::make_unique<CacheHierarchy>(*configuration.gpu);
      caches_ = configuration.caches == nullptr ? own_caches_.get() : configuration.caches;
      caches_->begin(l1_cache_bytes(*configuration.gpu, threads, shared));
    }
    resident_ = resident_blocks(*configuration.gpu, threads, shared);
  }

  LaunchResult run() {
    std::vector<std::thread> others;
    try {
      others.reserve(results_.size());
      for (std::size_t thread = 1; thread < results_.size(); ++thread) {
        others.emplace_back([this, thread] { work(thread); });
      }
    } catch (const std::system_error&) {  // the system has no more threads: these do the work
      for (std::size_t missing = others.size() + 1; missing < results_.size(); ++missing) phase_done_.arrive_and_drop();
    }
    program_.needs_block_order || configuration_.schedule != nullptr ? work_in_order() : work(0);
    for (std::thread& thread : others) thread.join();

    LaunchResult result;
    const auto first = std::ranges::min_element(results_, {}, &ThreadResult::faulty_block);
    try {
      if (first->error) std::rethrow_exception(first->error);
    } catch (const LaunchStopped& stopped) {
      result.stopped = stopped.what();
    } catch (KernelFault& fault) {
      for (const ThreadResult& partial : results_) fault.asserted += partial.asserted;
      throw;
    }
    result.blocks = grid_.blocks();
    result.counters.resize(program_.kernel->instructions.size());
    for (const ThreadResult& partial : results_) {
      for (std::size_t i = 0; i < partial.counters.size(); ++i) result.counters[i] += partial.counters[i];
      result.findings.merge(partial.findings);
      result.printed += partial.printed;
      result.asserted += partial.asserted;
    }
    if (caches_ != nullptr) {
      result.has_caches = true;
      result.caches = caches_->finish();
    }
    return result;
  }

 private:
  /// Called by one thread when all threads have ended a phase.
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
    first_of_wave_ += grid_.side_by_side() * resident_;
    stopped_ = stopped_ || first_of_wave_ >= grid_.clusters() ||
               std::ranges::any_of(results_, [](const ThreadResult& result) { return result.error != nullptr; });
  }

  /// Runs blocks on a host thread and collects the results.
  class Worker {
   public:
    Worker(Launch& launch, ThreadResult& result) : launch_(launch), result_(result), totals_(launch.program_) {
      if (launch.make_observers_) observers_ = launch.make_observers_(result.findings);
    }
    std::unique_ptr<ClusterRunner> make_runner() {
      auto runner = std::make_unique<ClusterRunner>(launch_.program_, launch_.memory_, launch_.configuration_,
                                                    launch_.running_, totals_);
      if (launch_.configuration_.collect_findings) runner->set_findings(&result_.findings);
      runner->set_observers(observers_);
      return runner;
    }
    void bring_back() {
      result_.counters = counters_of(launch_.program_, totals_);
      result_.printed = std::move(totals_.printed);
      result_.asserted = std::move(totals_.asserted);
    }

   private:
    Launch& launch_;
    ThreadResult& result_;
    RunTotals totals_;
    std::vector<AccessObserver*> observers_;
  };

  void work(std::size_t thread) noexcept {
    ThreadResult& result = results_[thread];
    std::optional<Worker> worker;
    std::unique_ptr<ClusterRunner> runner;
    try {
      worker.emplace(*this, result);
      runner = worker->make_runner();
    } catch (...) {
      result.note(0, std::current_exception());
    }
    while (!stopped_) {
      for (std::uint64_t place = next_++; place < grid_.side_by_side() && runner; place = next_++) {
        run_resident(*runner, place, result);
      }
      phase_done_.arrive_and_wait();
      for (std::uint64_t slice = next_++; caches_ != nullptr && slice < CacheHierarchy::kSlices; slice = next_++) {
        merge(slice, result);
      }
      phase_done_.arrive_and_wait();
    }
    if (runner) worker->bring_back();
  }

  void merge(std::uint64_t slice, ThreadResult& result) noexcept {
    try {
      caches_->merge(slice);
    } catch (...) {
      result.note(grid_.block_number(first_of_wave_, 0), std::current_exception());
    }
  }

  /// Runs the clusters of a wave that share one place, one after another.
  void run_resident(ClusterRunner& runner, std::uint64_t place, ThreadResult& result) {
    const BlockPatience patience = grid_.blocks_per_cluster() > 1 ? kPatienceAmongWaiting : kRunsToItsEnd;
    for (std::uint64_t turn = 0; turn < resident_; ++turn) {
      const std::uint64_t cluster = first_of_wave_ + turn * grid_.side_by_side() + place;
      if (cluster >= grid_.clusters()) return;
      try {
        runner.begin(grid_, cluster, caches_);
        BlockProgress progress = BlockProgress::yields;
        while (progress == BlockProgress::yields) progress = runner.go_on(patience);
        if (progress == BlockProgress::waits) runner.give_up("");
      } catch (...) {
        result.note(grid_.block_number(cluster, 0), std::current_exception());
        return;
      }
    }
  }

  void work_in_order() noexcept {
    ThreadResult& result = results_[0];
    std::optional<Worker> worker;
    try {
      worker.emplace(*this, result);
      const std::uint64_t room = std::max<std::uint64_t>(1, grid_.side_by_side() * resident_);
      OpenClusters open([&worker] { return worker->make_runner(); }, room);
      chooses(configuration_.schedule) ? run_by(*configuration_.schedule, open, result) : run_in_order(open, result);
    } catch (...) {
      result.note(0, std::current_exception());  // the only thread
    }
    if (worker) worker->bring_back();
  }

  void run_in_order(OpenClusters& open, ThreadResult& result) {
    std::uint64_t next = 0;
    while ((next < grid_.clusters() || !open.empty()) && result.error == nullptr) {
      first_of_wave_ = next;
      for (std::uint64_t begun = 0; begun < grid_.side_by_side() && next < grid_.clusters() && open.has_room();
           ++begun) {
        open.begin(grid_, next++, caches_);
      }
      const bool may_begin_more = next < grid_.clusters() && open.has_room();
      if (!may_begin_more && !open.empty() && !open.go_on()) open.give_up(waiting_text(open, next));
      for (std::uint64_t slice = 0; caches_ != nullptr && slice < CacheHierarchy::kSlices; ++slice)
        merge(slice, result);
    }
  }

  /// Clusters begin in groups of neighbours. A group begins as a whole, so that none waits for an earlier one for which
  /// there is no room.
  void run_by(Schedule& schedule, OpenClusters& open, ThreadResult& result) {
    std::uint64_t next = 0;
    while ((next < grid_.clusters() || !open.empty()) && result.error == nullptr) {
      const bool goes_on = open.go_on_by(schedule);
      const bool may_begin = next < grid_.clusters() && open.has_room();
      if (may_begin && (!goes_on || open.count() < schedule.open_at_a_time())) {
        const std::uint64_t wanted = goes_on ? schedule.open_at_a_time() - open.count() : schedule.open_at_a_time();
        std::vector<std::uint64_t> group(
            std::min({std::max<std::uint64_t>(1, wanted), open.room() - open.count(), grid_.clusters() - next}));
        std::iota(group.begin(), group.end(), next);
        next += group.size();
        schedule.order(group);
        for (const std::uint64_t cluster : group) open.open(grid_, cluster, caches_);
      } else if (!goes_on && !open.empty()) {
        open.give_up(waiting_text(open, next));
      }
    }
  }

  /// Says why blocks wait, none of which can go on.
  std::string waiting_text(const OpenClusters& open, std::uint64_t begun) const {
    const std::uint64_t of_cluster = grid_.blocks_per_cluster();
    if (grid_.blocks() == of_cluster) return "";
    const std::uint64_t waiting = open.count() * of_cluster;
    std::string text =
        fmt::format(", nor can another block: {} wait, {} have ended", waiting, begun * of_cluster - waiting);
    if (begun < grid_.clusters()) {
      text += fmt::format(", and {} have not begun, as {} holds {} of them at a time",
                          grid_.blocks() - begun * of_cluster, configuration_.gpu->title, open.room() * of_cluster);
    }
    return text;
  }

  const Program& program_;
  DeviceMemory& memory_;
  const LaunchConfiguration& configuration_;
  const MakeObservers& make_observers_;
  GridShape grid_;
  std::uint64_t resident_ = 1;  // clusters in one place in a wave, at most
  std::vector<ThreadResult> results_;
  std::unique_ptr<CacheHierarchy> own_caches_;
  CacheHierarchy* caches_ = nullptr;
  RunningLaunch running_;

  // Between two phases only `next_phase` runs, so these members need no lock.
  std::uint64_t first_of_wave_ = 0;  // cluster
  bool merging_ = false;
  bool stopped_ = false;
  std::atomic<std::uint64_t> next_{0};  // the next place or slice to be taken by a thread
  std::barrier<NextPhase> phase_done_;
};

}  // namespace

LaunchResult execute(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
                     const MakeObservers& make_observers) {
  return Launch(program, memory, configuration, make_observers).run();
}

}  // namespace convladder::simulated
