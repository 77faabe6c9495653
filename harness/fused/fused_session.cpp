#include "harness/fused/fused_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cases/counters.hpp"
#include "harness/fused/fused_problem.hpp"
#include "harness/isolation/served_process.hpp"
#include "harness/isolation/session.hpp"
#include "harness/plan/device_argument.hpp"
#include "harness/verification/changed_input.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr int kMostCalls = 100000;  // in a sample

DeviceBuffer on_device(Device& device, std::span<const float> values, const char* label) {
  if (values.empty()) return {};
  DeviceBuffer buffer = device.allocate(values.size_bytes(), label);
  device.copy_to_device(buffer.address(), values.data(), values.size_bytes());
  return buffer;
}

/// The convolution with what follows it, twice: as separate operators, prepared and bound as the network runner binds
/// them, and fused.
class BothSides {
 public:
  BothSides(Device& device, const RegisteredFused& fused, const FusedProblem& problem)
      : device_(device),
        problem_(problem),
        input_(device.allocate(problem.convolution.input.size_bytes(), "input")),
        bias_(on_device(device, problem.bias, "bias")),
        changed_(device, problem.convolution.shape, problem.convolution.input, input_.floats()) {
    const FusedShape& shape = problem.shape;
    sums_ = device.allocate(static_cast<std::size_t>(shape.convolution.output_elements()) * sizeof(float), "sums");
    for (DeviceBuffer& output : outputs_) output = device.allocate(shape.output_elements() * sizeof(float), "output");
    changed_.write_decoy();
    const float* const weights = problem.convolution.weights.data();
    convolution_ = find_variant(fused.info.family, fused.info.builds_on)
                       ->variant->prepare(device, shape.convolution, weights, {input_.floats(), sums_.floats()});
    add_operators(fused.info.family);
    fused_ = fused.variant->prepare(
        device, shape,
        {input_.floats(), weights, problem.bias.empty() ? nullptr : problem.bias.data(), outputs_[1].floats()});
    device.wait();
  }

  std::size_t steps() const { return 1 + operators_.size(); }
  void run_step(std::size_t step) {
    if (step > 0) return operators_[step - 1]->run();
    convolution_->load_input();
    convolution_->convolve();
    convolution_->store_output();
  }
  void run_separate() {
    for (std::size_t step = 0; step < steps(); ++step) run_step(step);
  }
  void run_fused() { fused_->run(); }
  std::string choice() const { return fused_->choice(); }

  /// The input of the next calls, and what both outputs hold before.
  void set(const InputChange& change, const OutputFill& fill) {
    changed_.set(change);
    for (const DeviceBuffer& output : outputs_) {
      fill_output(device_, output.floats(), static_cast<std::int64_t>(problem_.shape.output_elements()), fill);
    }
  }
  ChangedInput& input() { return changed_; }
  /// Of the separate operators, or of the fused variant.
  std::span<const float> output(bool fused) const {
    return {outputs_[fused ? 1 : 0].floats(), problem_.shape.output_elements()};
  }

 private:
  void add_operators(std::string_view family) {
    const FusedShape& shape = problem_.shape;
    const ConvShape& convolution = shape.convolution;
    const ActivationShape sums{convolution.out_channels, convolution.out_height(), convolution.out_width()};
    // The others work in place.
    const auto add = [&](OperatorType type, const ActivationShape& output, float* to) {
      const OperatorShape of_operator{.type = type,
                                      .batch = convolution.batch,
                                      .input = sums,
                                      .output = output,
                                      .pool_size = shape.pool_size,
                                      .pool_stride = shape.pool_stride};
      operators_.push_back(
          default_operator(family, type)
              .implementation->prepare(device_, of_operator, {sums_.floats(), nullptr, bias_.floats(), to}));
    };
    if (shape.has_bias) add(OperatorType::bias, sums, sums_.floats());
    add(shape.activation, sums, sums_.floats());
    add(OperatorType::max_pool, shape.output(), outputs_[0].floats());
  }

  Device& device_;
  const FusedProblem& problem_;
  DeviceBuffer input_;
  DeviceBuffer bias_;
  ChangedInput changed_;
  DeviceBuffer sums_;
  DeviceBuffer outputs_[2];  ///< of the separate operators, of the fused variant
  std::unique_ptr<PreparedConv> convolution_;
  std::vector<std::unique_ptr<PreparedOperator>> operators_;
  std::unique_ptr<PreparedOperator> fused_;
};

class FusedSession final : public Session {
 public:
  FusedSession(const std::string& id, const RegisteredFused& fused, const FusedShape& layer, const std::string& device,
               const Workload& workload, const SharedMemory& window)
      : Session(id, find_device_kind(device).open()),
        fused_(fused),
        window_(window),
        integers_(make_fused_problem(layer, conv_problem(workload.integers()), true)),
        real_(make_fused_problem(layer, conv_problem(workload.real()), false)) {}

 private:
  ordered_json carry_out(const std::string& what, const ordered_json& request) override {
    if (what == "prepare") return prepare(request.at("problem") == "integers" ? integers_ : real_);
    if (what == "set") {
      sides_->set(change_from_json(request.at("change")), fill_from_json(request.at("fill")));
      return ordered_json::object();
    }
    if (what == "call") return call();
    if (what == "read") return read(request);
    if (what == "calibrate") return calibrate(request.at("sample_ns"));
    if (what == "round") return round(request);
    if (what == "count") return count();
    throw std::logic_error(fmt::format("unknown request '{}'", what));
  }

  ordered_json prepare(const FusedProblem& problem) {
    sides_.reset();
    sides_.emplace(device(), fused_, problem);
    return {{"choice", sides_->choice()}};
  }

  /// Call number 1, of both sides.
  ordered_json call() {
    sides_->input().before_call(1);
    sides_->run_separate();
    sides_->run_fused();
    device().wait();
    return ordered_json::object();
  }

  ordered_json read(const ordered_json& request) {
    const std::span<const float> output = sides_->output(request.at("fused"));
    const auto first = request.at("first").get<std::size_t>();
    const auto count = request.at("count").get<std::size_t>();
    if (first > output.size() || count > output.size() - first || count * sizeof(float) > window_.bytes()) {
      throw std::logic_error(fmt::format("{} elements from {} on are not the output's", count, first));
    }
    device().copy_to_host(window_.data(), output.data() + first, count * sizeof(float));
    return ordered_json::object();
  }

  /// A call of the separate operators, each step's nanoseconds added to `ns`.
  void add_separate(std::vector<double>& ns) {
    for (std::size_t step = 0; step < ns.size(); ++step) {
      ns[step] += device().time_ns([&] { sides_->run_step(step); });
    }
  }

  ordered_json calibrate(double sample_ns) {
    const auto calls = [&](const auto& call) {
      double total = 0;
      int done = 0;
      for (; total < sample_ns / 2 && done < 1000; ++done) total += call();
      return static_cast<int>(std::clamp(std::ceil(sample_ns * done / std::max(total, 1.0)), 1.0, 1.0 * kMostCalls));
    };
    const int separate = calls([&] { return device().time_ns([&] { sides_->run_separate(); }); });
    const int fused = calls([&] { return device().time_ns([&] { sides_->run_fused(); }); });
    return {{"separate", separate}, {"fused", fused}};
  }

  ordered_json round(const ordered_json& request) {
    const int separate_calls = request.at("separate");
    const int fused_calls = request.at("fused");
    std::vector<double> separate(sides_->steps(), 0.0);
    double fused = 0;
    std::int64_t call = 0;
    ordered_json last = {{"separate", 0}, {"fused", 0}};
    const auto take_fused = [&] {
      for (int i = 0; i < fused_calls; ++i) {
        sides_->input().before_call(++call);
        fused += device().time_ns([&] { sides_->run_fused(); });
      }
      last["fused"] = call;
    };
    const bool fused_first = request.at("fused_first");
    if (fused_first) take_fused();
    for (int i = 0; i < separate_calls; ++i) {
      sides_->input().before_call(++call);
      add_separate(separate);
    }
    last["separate"] = call;
    if (!fused_first) take_fused();
    for (double& ns : separate) ns /= separate_calls;
    return {{"separate", separate}, {"fused", fused / fused_calls}, {"last_call", std::move(last)}};
  }

  ordered_json count() {
    const int batch = real_.shape.convolution.batch;
    const auto counted = [&](const auto& work) {
      device().take_counters();
      work();
      device().wait();
      return counters_json(device().take_counters(), batch);
    };
    ordered_json separate = ordered_json::array();
    for (std::size_t step = 0; step < sides_->steps(); ++step) {
      separate.push_back(counted([&] { sides_->run_step(step); }));
    }
    return {{"separate", std::move(separate)}, {"fused", counted([&] { sides_->run_fused(); })}};
  }

  RegisteredFused fused_;
  const SharedMemory& window_;
  FusedProblem integers_;
  FusedProblem real_;
  std::optional<BothSides> sides_;
};

}  // namespace

OpenCase start_fused_process(const FusedCase& planned, const Workload& workload, double timeout_seconds) {
  const FusedShape& shape = planned.shape;
  return start_session({planned.id, workload.descriptor(), workload.header(), timeout_seconds}, "serve-fused",
                       output_window(static_cast<std::int64_t>(shape.output().elements())),
                       {{"id", planned.id},
                        {"device", planned.device},
                        {"family", planned.fused.info.family},
                        {"fused", planned.fused.info.name},
                        {"bias", shape.has_bias},
                        {"activation", static_cast<int>(shape.activation)},
                        {"pool", {shape.pool_size, shape.pool_stride}}});
}

namespace {

int serve_fused(int socket_descriptor, int workload_descriptor, int window_descriptor) {
  const auto make = [](const ordered_json& hello, const Workload& workload,
                       const SharedMemory& window) -> std::unique_ptr<CaseClient> {
    const RegisteredFused* const fused =
        find_fused_variant(hello.at("family").get<std::string>(), hello.at("fused").get<std::string>());
    if (fused == nullptr) return nullptr;
    const FusedShape layer{.convolution = conv_shape(workload.real().shape),
                           .has_bias = hello.at("bias"),
                           .activation = static_cast<OperatorType>(hello.at("activation").get<int>()),
                           .pool_size = hello.at("pool").at(0),
                           .pool_stride = hello.at("pool").at(1)};
    return std::make_unique<FusedSession>(hello.at("id").get<std::string>(), *fused, layer,
                                          hello.at("device").get<std::string>(), workload, window);
  };
  return serve_session<Workload>(socket_descriptor, workload_descriptor, window_descriptor, make);
}

const ServedRegistration serve_fused_registration("serve-fused", serve_fused);

}  // namespace

}  // namespace convladder
