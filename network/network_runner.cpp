#include "network/network_runner.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>

#include "devices/copy_pipeline.hpp"
#include "devices/nvtx_range.hpp"
#include "devices/variant_device.hpp"

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

/// Where a chunk enters the device and leaves it, and the network prepared for it.
struct Slot {
  DeviceBuffer input;
  DeviceBuffer scores;
  std::unique_ptr<PreparedVariant> network;  // destroyed before the buffers it uses
};

class Pass {
 public:
  Pass(Device& device, const RunnableNetwork& network, const PassOptions& options, PassResult& result)
      : device_(device),
        for_steps_(device),
        network_(network),
        image_elements_(network.problem.network().input.elements()),
        classes_(network.problem.network().layers.back().output.elements()),
        options_(options),
        result_(result),
        log_(result.activities) {}

  void run(const float* images, int count) {
    const double start = log_.now_ns();
    result_.scores.resize(static_cast<std::size_t>(count) * classes_);
    const int chunk = std::min(options_.chunk, count);
    if (options_.overlap) {
      run_overlapped(images, count, chunk);
    } else {
      run_in_turn(images, count, chunk);
    }
    result_.total_ns = log_.now_ns() - start;
  }

 private:
  void allocate(Slot& slot, int images) {
    const auto all = static_cast<std::size_t>(images) * sizeof(float);
    slot.input = device_.allocate(image_elements_ * all, "images");
    slot.scores = device_.allocate(classes_ * all, "scores");
  }

  void run_in_turn(const float* images, int count, int chunk) {
    const int rest = count % chunk;
    log_.phase(pass_phase::kAllocate, [&] { allocate(slots_[0], chunk); });
    log_.phase(pass_phase::kPrepare, [&] {
      prepare(slots_[0], chunk);
      if (rest > 0) rest_ = network_.prepare(for_steps(), rest, slots_[0].input, slots_[0].scores);
      device_.wait();
      for_steps_.allow_copies(false);
    });
    for (int first = 0; first < count; first += chunk) {
      const int images_now = std::min(chunk, count - first);
      run_chunk(images_now == chunk ? *slots_[0].network : *rest_, first, images_now, images);
    }
    log_.phase(pass_phase::kFree, [&] { free(); });
  }

  void run_overlapped(const float* images, int count, int chunk) {
    const std::size_t chunks = static_cast<std::size_t>((count - 1) / chunk + 1);
    const int rest = count % chunk;
    const std::size_t image_bytes = image_elements_ * sizeof(float);
    const std::size_t score_bytes = classes_ * sizeof(float);
    const auto images_of = [&](std::size_t i) { return i + 1 == chunks && rest > 0 ? rest : chunk; };
    PinnedBuffer pinned_images;
    PinnedBuffer pinned_scores;
    log_.phase(pass_phase::kAllocate, [&] {
      for (Slot& slot : slots_) allocate(slot, chunk);
      pinned_images = device_.allocate_pinned(image_bytes * static_cast<std::size_t>(count), "pinned images");
      pinned_scores = device_.allocate_pinned(score_bytes * static_cast<std::size_t>(count), "pinned scores");
    });
    std::array<PipelineSlot, 2> places;
    log_.phase(pass_phase::kPrepare, [&] {
      for (std::size_t i = 0; i < 2; ++i) {
        Slot& slot = slots_[i];
        places[i] = {slot.input.address(), slot.scores.address()};
        prepare(slot, chunk);
        if (rest > 0 && (chunks - 1) % 2 == i) rest_ = network_.prepare(for_steps(), rest, slot.input, slot.scores);
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
      run_copy_pipeline(device_, list, places, [&](std::size_t i, std::size_t slot) {
        run_parts(images_of(i) == chunk ? *slots_[slot].network : *rest_, images_of(i));
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

  void prepare(Slot& slot, int images) {
    slot.network = network_.prepare(for_steps(), images, slot.input, slot.scores);
    names_ = slot.network->parts();
    result_.counters.resize(names_.size());
  }

  void free() {
    rest_.reset();
    slots_ = {};
  }

  void run_chunk(PreparedVariant& network, int first, int images_now, const float* images) {
    const auto before = static_cast<std::size_t>(first);
    const std::size_t bytes = static_cast<std::size_t>(images_now) * sizeof(float);
    log_.phase(pass_phase::kCopyImages, [&] {
      device_.copy_to_device(slots_[0].input.address(), images + before * image_elements_, image_elements_ * bytes);
    });
    log_.phase(pass_phase::kLayers, [&] {
      if (options_.time_steps && device_.is_asynchronous() && options_.observer == nullptr) return time_steps(network);
      run_parts(network, images_now);
    });
    log_.phase(pass_phase::kSynchronize, [&] { device_.wait(); });
    log_.phase(pass_phase::kCopyScores, [&] {
      device_.copy_to_host(result_.scores.data() + before * classes_, slots_[0].scores.address(), classes_ * bytes);
    });
  }

  /// All steps are enqueued before the device has come to the first: a step then takes as long as its work, and not as
  /// long as enqueueing it. The first runs once more, untimed: meanwhile the others arrive.
  void time_steps(PreparedVariant& network) {
    double start = log_.now_ns();
    const auto before = [&](std::size_t i) {
      if (i > 0) return;
      device_.flush_caches();  // long enough for the next ones to be enqueued
      network.run_part(0);
    };
    const std::vector<double> times =
        device_.times_ns(names_.size(), before, [&](std::size_t i) { network.run_part(i); });
    for (std::size_t i = 0; i < times.size(); ++i) {
      log_.step(names_[i], start, times[i]);
      start += times[i];
    }
  }

  void run_parts(PreparedVariant& network, int images_now) {
    for (std::size_t part = 0; part < names_.size(); ++part) run_part(network, part, images_now);
  }

  void run_part(PreparedVariant& network, std::size_t part, int images_now) {
    const NvtxRange range(names_[part]);
    if (options_.observer != nullptr) options_.observer->before(part, images_now, network);
    if (options_.time_steps && !options_.overlap) {
      const double start = log_.now_ns();
      log_.step(names_[part], start, device_.time_ns([&] { network.run_part(part); }));
    } else {
      network.run_part(part);
    }
    if (!device_.has_clock()) {
      for (KernelCounters& counters : device_.take_counters()) {
        result_.counters[part].push_back(std::move(counters));
      }
    }
    if (options_.observer == nullptr) return;
    device_.wait();
    options_.observer->after(part, images_now, network);
  }

  /// The device that the steps get: where work is counted and not timed, one that refuses uncounted work.
  Device& for_steps() {
    if (device_.has_clock()) return device_;
    return for_steps_;
  }

  Device& device_;
  VariantDevice for_steps_;
  const RunnableNetwork& network_;
  std::size_t image_elements_;
  std::size_t classes_;
  const PassOptions& options_;
  PassResult& result_;
  PassLog log_;
  std::vector<std::string> names_;         // of the parts
  std::array<Slot, 2> slots_;              // only the first without overlap
  std::unique_ptr<PreparedVariant> rest_;  // for the last images, in the slot of their turn
};

}  // namespace

std::unique_ptr<PreparedVariant> RunnableNetwork::prepare(Device& device, int images, const DeviceBuffer& input,
                                                          const DeviceBuffer& scores) const {
  const ProblemSize size = problem.size(images);
  ProblemTensors tensors;
  tensors.inputs = {{problem.inputs(size).front(), input.address()}};
  tensors.outputs = {{problem.outputs(size).front(), scores.address()}};
  tensors.constants = constants;
  return variant.prepare(device, size, tensors);
}

PassResult run_pass(Device& device, const RunnableNetwork& network, const float* images, int count,
                    const PassOptions& options) {
  PassResult result;
  device.take_counters();  // drops those of earlier work
  Pass(device, network, options, result).run(images, count);
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
