// cuDNN's graph interface: a graph of one convolution, the engine configurations that its heuristics name for it, and a
// plan for each. Attributes and their types come from NVIDIA's cuDNN Backend API reference.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <set>

#include "devices/device_error.hpp"
#include "variants/convolution/cuda/cudnn_library.hpp"
#include "variants/convolution/cuda/cudnn_way.hpp"

namespace convladder {
namespace {

/// Some engines are compiled when their plan is made, for up to a second each. After this time the others are passed
/// over.
constexpr double kLongestPlanningSeconds = 10;
constexpr std::int64_t kInputId = 1;
constexpr std::int64_t kWeightsId = 2;
constexpr std::int64_t kOutputId = 3;
constexpr std::int64_t kMostAligned = 16;  // a vector of four; more is of no use

/// A descriptor of the graph interface, destroyed with its owner.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    require_cudnn(cudnn_.cudnnBackendCreateDescriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (descriptor_ != nullptr) cudnn_.cudnnBackendDestroyDescriptor(descriptor_);
  }

  cudnnBackendDescriptor_t get() const { return descriptor_; }

  template <typename Value, std::size_t kCount>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           const std::array<Value, kCount>& values) {
    require_cudnn(cudnn_.cudnnBackendSetAttribute(descriptor_, name, type, kCount, values.data()),
                  "cudnnBackendSetAttribute");
  }
  template <typename Value>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const Value& value) {
    set(name, type, std::array{value});
  }
  void set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.get());
  }
  void finalize() { require_cudnn(cudnn_.cudnnBackendFinalize(descriptor_), "cudnnBackendFinalize"); }

  template <typename Value>
  Value get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const {
    Value value{};
    get(name, type, 1, &value);
    return value;
  }
  /// Reads at most as many values as there is room for; returns how many there are.
  template <typename Value>
  std::int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t room,
                   Value* values) const {
    std::int64_t count = 0;
    require_cudnn(cudnn_.cudnnBackendGetAttribute(descriptor_, name, type, room, &count, values),
                  "cudnnBackendGetAttribute");
    return count;
  }
  /// The descriptors of this type in an attribute, at most `most`: the caller makes the descriptors, and cuDNN copies
  /// into them.
  std::vector<Descriptor> parts(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                std::int64_t most) const {
    std::vector<Descriptor> made;
    std::vector<cudnnBackendDescriptor_t> filled;
    for (std::int64_t i = 0; i < most; ++i) filled.push_back(made.emplace_back(type).get());
    const std::int64_t count = get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, filled.data());
    while (static_cast<std::int64_t>(made.size()) > std::max<std::int64_t>(count, 0)) made.pop_back();
    return made;
  }

 private:
  const CudnnLibrary& cudnn_ = cudnn_library();
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

/// A tensor or a filter of `count` x `channels` x `height` x `width`.
Descriptor tensor(std::int64_t id, const void* address, bool channels_last, std::int64_t count, std::int64_t channels,
                  std::int64_t height, std::int64_t width) {
  using Four = std::array<std::int64_t, 4>;
  const std::int64_t image = channels * height * width;
  std::int64_t aligned = kMostAligned;
  while (reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(aligned) != 0) aligned /= 2;
  Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, Four{count, channels, height, width});
  made.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64,
           channels_last ? Four{image, 1, width * channels, channels} : Four{image, height * width, width, 1});
  made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, aligned);
  made.finalize();
  return made;
}

/// The graph of the convolution alone. Its groups follow from the channels of input and weights.
Descriptor operation_graph(cudnnHandle_t handle, const CudnnProblem& problem) {
  using Two = std::array<std::int64_t, 2>;
  const ConvShape& shape = problem.shape;
  Descriptor convolution(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  convolution.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, std::int64_t{2});
  convolution.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  convolution.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
  convolution.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, Two{shape.padding, shape.padding});
  convolution.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, Two{shape.padding, shape.padding});
  convolution.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, Two{1, 1});
  convolution.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, Two{shape.stride, shape.stride});
  convolution.finalize();

  const Descriptor input =
      tensor(kInputId, problem.input, problem.channels_last, shape.batch, shape.in_channels, shape.height, shape.width);
  const Descriptor weights = tensor(kWeightsId, problem.weights, problem.channels_last, shape.out_channels,
                                    shape.channels_per_group(), shape.kernel, shape.kernel);
  const Descriptor output = tensor(kOutputId, problem.output, problem.channels_last, shape.batch, shape.out_channels,
                                   shape.out_height(), shape.out_width());
  Descriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, input);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, weights);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, output);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1.0F);
  operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 0.0F);
  operation.finalize();

  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  graph.finalize();
  return graph;
}

/// The engine configurations that one mode of the heuristics names, the best first.
std::vector<Descriptor> named_by(const Descriptor& graph, cudnnBackendHeurMode_t mode) {
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  heuristic.finalize();
  const std::int64_t count =
      heuristic.get<void>(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
  return heuristic.parts(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, count);
}

/// An engine configuration as cuDNN's own logs write it, "eng38_k2=12_k14=3", and its engine's notes about its numbers.
struct NamedEngine {
  std::string name;
  std::set<cudnnBackendNumericalNote_t> notes;
};

NamedEngine engine_of(const Descriptor& chosen) {
  const std::vector<Descriptor> engines = chosen.parts(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  if (engines.empty()) throw DeviceError("cudnnBackendGetAttribute: an engine configuration without an engine");
  const Descriptor& engine = engines.front();
  NamedEngine found{fmt::format("eng{}", engine.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64)),
                    {}};
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
  const std::int64_t count =
      engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, notes.size(), notes.data());
  found.notes.insert(notes.begin(), notes.begin() + std::min<std::int64_t>(count, notes.size()));
  for (const Descriptor& knob :
       chosen.parts(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    found.name += fmt::format(
        "_k{}={}",
        static_cast<int>(knob.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE)),
        knob.get<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64));
  }
  return found;
}

/// Whether the engine computes as the arithmetic allows. An engine of float32 that uses tensor cores rounds to tf32;
/// one that converts its inputs rounds further, as does one that sums with fewer bits.
bool agrees(const std::set<cudnnBackendNumericalNote_t>& notes, const CudnnArithmetic& arithmetic) {
  if (notes.contains(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
      notes.contains(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) {
    return false;
  }
  if (notes.contains(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) && !arithmetic.tf32) return false;
  const bool transforms = std::ranges::any_of(
      std::array{CUDNN_NUMERICAL_NOTE_FFT, CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
                 CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13},
      [&](cudnnBackendNumericalNote_t note) { return notes.contains(note); });
  return !transforms || arithmetic.transforms;
}

Descriptor plan_of(cudnnHandle_t handle, const Descriptor& configuration) {
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  plan.finalize();
  return plan;
}

class Plan final : public CudnnWay {
 public:
  Plan(std::string name, cudnnHandle_t handle, Descriptor plan, const CudnnProblem& problem)
      : CudnnWay(std::move(name), static_cast<std::size_t>(plan.get<std::int64_t>(
                                      CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64))),
        handle_(handle),
        plan_(std::move(plan)),
        problem_(problem) {}

  void run(void* workspace) override {
    if (tensors_ == nullptr || workspace != workspace_) bind(workspace);
    require_cudnn(cudnn_library().cudnnBackendExecute(handle_, plan_.get(), tensors_->get()), "cudnnBackendExecute");
  }

 private:
  void bind(void* workspace) {
    auto pack = std::make_unique<Descriptor>(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    const std::array<const void*, 3> addresses = {problem_.input, problem_.weights, problem_.output};
    pack->set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, std::array{kInputId, kWeightsId, kOutputId});
    pack->set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, addresses);
    pack->set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
    pack->finalize();
    tensors_ = std::move(pack);
    workspace_ = workspace;
  }

  cudnnHandle_t handle_;
  Descriptor plan_;
  CudnnProblem problem_;
  std::unique_ptr<Descriptor> tensors_;  ///< where the tensors and the workspace lie
  void* workspace_ = nullptr;
};

/// Runs `work`; the message of an exception is the reason why `name` is passed over.
template <typename Work>
void try_way(CudnnWays& found, const std::string& name, const Work& work) {
  try {
    work();
  } catch (const NothingForSize& error) {
    found.passed_over.push_back({name, error.what(), true});
  } catch (const DeviceError& error) {
    found.passed_over.push_back({name, error.what(), false});
  }
}

}  // namespace

CudnnWays cudnn_plans(cudnnHandle_t handle, const CudnnProblem& problem, const CudnnArithmetic& arithmetic) {
  CudnnWays found;
  const auto begin = std::chrono::steady_clock::now();
  try_way(found, "graph", [&] {
    const Descriptor graph = operation_graph(handle, problem);
    std::set<std::string> seen;
    std::size_t left_out = 0;
    const auto consider = [&](const Descriptor& named) {
      const NamedEngine engine = engine_of(named);
      if (!seen.insert(engine.name).second || !agrees(engine.notes, arithmetic)) return;
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (spent.count() > kLongestPlanningSeconds) {
        ++left_out;
        return;
      }
      try_way(found, engine.name, [&] {
        found.ways.push_back(std::make_unique<Plan>(engine.name, handle, plan_of(handle, named), problem));
      });
    };
    for (const auto& [mode, name] : {std::pair{CUDNN_HEUR_MODE_A, "heuristic A"},
                                     {CUDNN_HEUR_MODE_B, "heuristic B"},
                                     {CUDNN_HEUR_MODE_FALLBACK, "fallback list"}}) {
      try_way(found, name, [&, mode = mode] {
        for (const Descriptor& one : named_by(graph, mode)) consider(one);
      });
    }
    if (left_out > 0) {
      found.passed_over.push_back({fmt::format("{} plans", left_out),
                                   fmt::format("{} s were spent on making others", kLongestPlanningSeconds), false});
    }
  });
  return found;
}

}  // namespace convladder
