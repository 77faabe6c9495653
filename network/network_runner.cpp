#include "network/network_runner.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>

#include "devices/copy_pipeline.hpp"
#include "devices/nvtx_range.hpp"
#include "devices/variant_device.hpp"
#include "network/prepared_network.hpp"

namespace convladder {
namespace {

/// The host's clock and the activities that it timed.
class PassLog {
 public:
  explicit PassLog(std::vector<Activity>& activities) : activities_(activities) {}

  template <typename Work>
  void phase(std::string_view name, const Work& work) {
    const NvtxRange range{std::string(name)};
    const double start = now_ns();
    work();
    activities_.push_back({std::string(activity_group::kHost), std::string(name), start, now_ns() - start});
  }
  void step(const std::string& name, double start_ns, double duration_ns) {
    activities_.push_back({std::string(activity_group::kLayers), name, start_ns, duration_ns});
  }
  double now_ns() const {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<Activity>& activities_;
};

class Pass {
 public:
  Pass(Device& device, const Network& network, const std::vector<NetworkStep>& steps, const NetworkWeights& weights,
       const PassOptions& options, PassResult& result)
      : device_(device),
        for_steps_(device),
        network_(network),
        steps_(steps),
        weights_(weights),
        options_(options),
        result_(result),
        log_(result.activities) {
    result_.counters.resize(steps.size());
  }

  void run(const float* images, int count) {
    const double start = log_.now_ns();
    result_.scores.resize(static_cast<std::size_t>(count) * network_.layers.back().output.elements());
    const int chunk = std::min(options_.chunk, count);
    if (options_.overlap) {
      run_overlapped(images, count, chunk);
    } else {
      run_in_turn(images, count, chunk);
    }
    result_.total_ns = log_.now_ns() - start;
  }

 private:
  void run_in_turn(const float* images, int count, int chunk) {
    const int rest = count % chunk;
    log_.phase(pass_phase::kAllocate, [&] { memory_.emplace(device_, network_, chunk); });
    log_.phase(pass_phase::kPrepare, [&] {
      const NetworkEnds ends{memory_->activations(0), nullptr};
      whole_[0] = prepare_network(for_steps(), steps_, weights_, *memory_, chunk, ends);
      if (rest > 0) rest_ = prepare_network(for_steps(), steps_, weights_, *memory_, rest, ends);
      device_.wait();
      for_steps_.allow_copies(false);
    });
    for (int first = 0; first < count; first += chunk) {
      const int images_now = std::min(chunk, count - first);
      run_chunk(images_now == chunk ? whole_[0] : rest_, first, images_now, images);
    }
    log_.phase(pass_phase::kFree, [&] { free(); });
  }

  void run_overlapped(const float* images, int count, int chunk) {
    const std::size_t chunks = static_cast<std::size_t>((count - 1) / chunk + 1);
    const int rest = count % chunk;
    const std::size_t image_bytes = network_.input.elements() * sizeof(float);
    const std::size_t score_bytes = network_.layers.back().output.elements() * sizeof(float);
    const auto images_of = [&](std::size_t i) { return i + 1 == chunks && rest > 0 ? rest : chunk; };
    PinnedBuffer pinned_images;
    PinnedBuffer pinned_scores;
    log_.phase(pass_phase::kAllocate, [&] {
      memory_.emplace(device_, network_, chunk);
      for (std::size_t slot = 0; slot < 2; ++slot) {
        slot_memory_[slot][0] = device_.allocate(image_bytes * static_cast<std::size_t>(chunk), "images");
        slot_memory_[slot][1] = device_.allocate(score_bytes * static_cast<std::size_t>(chunk), "scores");
      }
      pinned_images = device_.allocate_pinned(image_bytes * static_cast<std::size_t>(count), "pinned images");
      pinned_scores = device_.allocate_pinned(score_bytes * static_cast<std::size_t>(count), "pinned scores");
    });
    std::array<PipelineSlot, 2> slots;
    log_.phase(pass_phase::kPrepare, [&] {
      for (std::size_t slot = 0; slot < 2; ++slot) {
        slots[slot] = {slot_memory_[slot][0].address(), slot_memory_[slot][1].address()};
        const NetworkEnds ends{slot_memory_[slot][0].floats(), slot_memory_[slot][1].floats()};
        whole_[slot] = prepare_network(for_steps(), steps_, weights_, *memory_, chunk, ends);
        if (rest > 0 && (chunks - 1) % 2 == slot) {
          rest_ = prepare_network(for_steps(), steps_, weights_, *memory_, rest, ends);
        }
      }
      device_.wait();
    });
    log_.phase(pass_phase::kPinImages, [&] { std::memcpy(pinned_images.address(), images, pinned_images.bytes()); });
    log_.phase(pass_phase::kLayers, [&] {
      std::vector<PipelineChunk> list;
      for (std::size_t i = 0; i < chunks; ++i) {
        const std::size_t first = i * static_cast<std::size_t>(chunk);
        const auto images_now = static_cast<std::size_t>(images_of(i));
        list.push_back(
            {static_cast<std::byte*>(pinned_images.address()) + first * image_bytes, images_now * image_bytes,
             static_cast<std::byte*>(pinned_scores.address()) + first * score_bytes, images_now * score_bytes});
      }
      run_copy_pipeline(device_, list, slots, [&](std::size_t i, std::size_t slot) {
        const PreparedNetwork& network = images_of(i) == chunk ? whole_[slot] : rest_;
        for (std::size_t step = 0; step < network.steps.size(); ++step)
          run_step(network.steps[step], step, images_of(i));
      });
    });
    log_.phase(pass_phase::kSynchronize, [&] { device_.wait(); });
    std::memcpy(result_.scores.data(), pinned_scores.address(), pinned_scores.bytes());
    log_.phase(pass_phase::kFree, [&] {
      free();
      pinned_images = {};
      pinned_scores = {};
    });
  }

  void free() {
    whole_ = {};
    rest_ = {};
    slot_memory_ = {};
    memory_.reset();
  }

  void run_chunk(const PreparedNetwork& network, int first, int images_now, const float* images) {
    const std::size_t image_elements = network_.input.elements();
    const std::size_t classes = network_.layers.back().output.elements();
    log_.phase(pass_phase::kCopyImages, [&] {
      device_.copy_to_device(memory_->activations(0), images + first * image_elements,
                             images_now * image_elements * sizeof(float));
    });
    log_.phase(pass_phase::kLayers, [&] {
      if (options_.time_steps && device_.is_asynchronous() && options_.observer == nullptr) return time_steps(network);
      for (std::size_t i = 0; i < network.steps.size(); ++i) run_step(network.steps[i], i, images_now);
    });
    log_.phase(pass_phase::kSynchronize, [&] { device_.wait(); });
    log_.phase(pass_phase::kCopyScores, [&] {
      device_.copy_to_host(result_.scores.data() + first * classes, network.scores,
                           images_now * classes * sizeof(float));
    });
  }

  /// All steps are enqueued before the device has come to the first: a step then takes as long as its work, and not as
  /// long as enqueueing it. The first runs once more, untimed: meanwhile the others arrive.
  void time_steps(const PreparedNetwork& network) {
    double start = log_.now_ns();
    const auto before = [&](std::size_t i) {
      if (i > 0) return;
      device_.flush_caches();  // long enough for the next ones to be enqueued
      network.steps[0].run();
    };
    const std::vector<double> times =
        device_.times_ns(network.steps.size(), before, [&](std::size_t i) { network.steps[i].run(); });
    for (std::size_t i = 0; i < times.size(); ++i) {
      log_.step(network.steps[i].step->name, start, times[i]);
      start += times[i];
    }
  }

  void run_step(const PreparedStep& prepared, std::size_t index, int images_now) {
    const NetworkStep& step = *prepared.step;
    const NvtxRange range(step.name);
    if (options_.observer != nullptr) observe_before(prepared, images_now);
    if (options_.time_steps && !options_.overlap) {
      const double start = log_.now_ns();
      log_.step(step.name, start, device_.time_ns([&] { prepared.run(); }));
    } else {
      prepared.run();
    }
    if (!device_.has_clock()) {
      for (KernelCounters& counters : device_.take_counters()) {
        result_.counters[index].push_back(std::move(counters));
      }
    }
    if (options_.observer == nullptr) return;
    device_.wait();
    observe_after(prepared, images_now);
  }

  void observe_before(const PreparedStep& prepared, int images_now) {
    const NetworkStep& step = *prepared.step;
    if (prepared.whole == nullptr) {
      return options_.observer->before(step, images_now, prepared.input, prepared.output);
    }
    if (step.in_place()) return;
    observed_.resize(step.output.elements() * static_cast<std::size_t>(images_now));
    options_.observer->before(step, images_now, nullptr, observed_.data());
    prepared.whole->write_output(prepared.index, observed_.data());
  }

  /// A library has layouts of its own, so an observer is shown a copy in ours.
  void observe_after(const PreparedStep& prepared, int images_now) {
    const NetworkStep& step = *prepared.step;
    if (prepared.whole == nullptr) return options_.observer->after(step, images_now, prepared.output);
    observed_.resize(step.output.elements() * static_cast<std::size_t>(images_now));
    prepared.whole->read_output(prepared.index, observed_.data());
    options_.observer->after(step, images_now, observed_.data());
  }

  /// The device that the steps get: where work is counted and not timed, one that refuses uncounted work.
  Device& for_steps() {
    if (device_.has_clock()) return device_;
    return for_steps_;
  }

  Device& device_;
  VariantDevice for_steps_;
  const Network& network_;
  const std::vector<NetworkStep>& steps_;
  const NetworkWeights& weights_;
  const PassOptions& options_;
  PassResult& result_;
  PassLog log_;
  std::optional<NetworkMemory> memory_;                     // outlives what is prepared on it
  std::array<std::array<DeviceBuffer, 2>, 2> slot_memory_;  // [slot]: images, scores
  std::array<PreparedNetwork, 2> whole_;                    // by slot; only the first without overlap
  PreparedNetwork rest_;
  std::vector<float> observed_;  // the output of a whole network's step
};

}  // namespace

PassResult run_pass(Device& device, const Network& network, const std::vector<NetworkStep>& steps,
                    const NetworkWeights& weights, const float* images, int count, const PassOptions& options) {
  PassResult result;
  device.take_counters();  // drops those of earlier work
  Pass(device, network, steps, weights, options, result).run(images, count);
  return result;
}

double activity_ns(std::span<const Activity> activities, std::string_view group, std::string_view name) {
  double sum = 0;
  for (const Activity& activity : activities) {
    if (activity.group == group && activity.name == name) sum += activity.duration_ns;
  }
  return sum;
}

}  // namespace convladder
