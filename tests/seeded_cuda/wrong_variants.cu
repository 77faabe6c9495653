// CUDA variants for the simulated device that cheat or are wrong, each in one way, and one that is right. What is
// published of them there is no time but counters: those of a convolution that was not done, or was done elsewhere. All
// in one file, so that their kernels are compiled once. test_refused_cuda_variants.py of tests/end_to_end expects each
// to be refused.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cuda/layer_sizes.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

constexpr int wrong_variants_tile = 8;
constexpr int wrong_variants_threads = 128;

/// The convolution, but for one image that comes out a thousand times too large; none is -1.
__global__ void conv_but_one_image(const float* x, const float* w, float* y, LayerSizes sizes, int wrong_image) {
  const int tiles_across = (sizes.out_width - 1) / wrong_variants_tile + 1;
  const int row = static_cast<int>(blockIdx.z) / tiles_across * wrong_variants_tile + static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.z) % tiles_across * wrong_variants_tile + static_cast<int>(threadIdx.x);
  if (row >= sizes.out_height || column >= sizes.out_width) return;
  const std::size_t image = blockIdx.x;
  const int map = static_cast<int>(blockIdx.y);
  x += image * static_cast<std::size_t>(sizes.in_channels * sizes.height * sizes.width);
  y += image * static_cast<std::size_t>(sizes.out_channels * sizes.out_height * sizes.out_width);
  const int first_channel = map / sizes.maps_per_group * sizes.channels_per_group;
  float sum = 0.0F;
  for (int channel = 0; channel < sizes.channels_per_group; ++channel) {
    for (int p = 0; p < sizes.kernel; ++p) {
      for (int q = 0; q < sizes.kernel; ++q) {
        const int in_row = row * sizes.stride + p - sizes.padding;
        const int in_column = column * sizes.stride + q - sizes.padding;
        if (in_row < 0 || in_row >= sizes.height || in_column < 0 || in_column >= sizes.width) continue;
        sum += x[((first_channel + channel) * sizes.height + in_row) * sizes.width + in_column] *
               w[((map * sizes.channels_per_group + channel) * sizes.kernel + p) * sizes.kernel + q];
      }
    }
  }
  if (static_cast<int>(image) == wrong_image) sum *= 1000.0F;
  y[(map * sizes.out_height + row) * sizes.out_width + column] = sum;
}

__global__ void copy_floats(const float* from, float* to, int per_image) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(per_image);
  for (int i = static_cast<int>(threadIdx.x); i < per_image; i += static_cast<int>(blockDim.x)) {
    to[first + i] = from[first + i];
  }
}

__global__ void do_nothing(int nothing) { static_cast<void>(nothing); }

namespace {

KernelLaunch nothing_launch() { return make_launch(do_nothing, Dim3{1, 1, 1}, Dim3{1, 1, 1}, 0, 0); }

KernelLaunch conv_launch(const ConvShape& shape, const float* x, const float* w, float* y, int wrong_image) {
  return make_launch(conv_but_one_image, tiled_grid(shape, wrong_variants_tile),
                     Dim3{wrong_variants_tile, wrong_variants_tile, 1}, 0, x, w, y, layer_sizes(shape), wrong_image);
}

/// Where a call reads and writes.
struct ConvTensors {
  const float* input = nullptr;
  float* output = nullptr;
};

/// What all of them have: the weights on both sides, and a launch that is right.
class SeededCudaConv : public PreparedVariant {
 public:
  SeededCudaConv(Device& device, const ConvShape& shape, const float* weights, ConvTensors tensors)
      : device_(device), shape_(shape), host_weights_(weights, weights + shape.weight_elements()), tensors_(tensors) {
    weights_ = device.allocate(host_weights_.size() * sizeof(float), "weights");
    device.copy_to_device(weights_.address(), weights, weights_.bytes());
  }

 protected:
  Device& device() const { return device_; }
  const ConvShape& shape() const { return shape_; }
  const ConvTensors& tensors() const { return tensors_; }
  const std::vector<float>& host_weights() const { return host_weights_; }
  KernelLaunch launch_to(float* output, int wrong_image = -1) const {
    return conv_launch(shape_, tensors_.input, weights_.floats(), output, wrong_image);
  }
  void launch_conv() const { device_.launch(launch_to(tensors_.output)); }
  void launch_nothing() const { device_.launch(nothing_launch()); }
  std::vector<float> on_host(const float* address, std::int64_t elements) const {
    std::vector<float> values(static_cast<std::size_t>(elements));
    device_.copy_to_host(values.data(), address, values.size() * sizeof(float));
    return values;
  }
  void write(const std::vector<float>& values) const {
    device_.copy_to_device(tensors_.output, values.data(), values.size() * sizeof(float));
  }

 private:
  Device& device_;
  ConvShape shape_;
  std::vector<float> host_weights_;
  ConvTensors tensors_;
  DeviceBuffer weights_;
};

class Correct final : public SeededCudaConv {
 public:
  using SeededCudaConv::SeededCudaConv;
  void run() override { launch_conv(); }
};

/// A bug: the launch that matters is missing.
class IdleLaunch final : public SeededCudaConv {
 public:
  using SeededCudaConv::SeededCudaConv;
  void run() override { launch_nothing(); }
};

/// A cheat: after its first call there is nothing left to count.
class IdleAfterFirst final : public SeededCudaConv {
 public:
  using SeededCudaConv::SeededCudaConv;
  void run() override {
    if (std::exchange(called_, true)) return launch_nothing();
    launch_conv();
  }

 private:
  bool called_ = false;
};

/// A bug: image 5 of the batch is wrong.
class ImageFive final : public SeededCudaConv {
 public:
  using SeededCudaConv::SeededCudaConv;
  void run() override { device().launch(launch_to(tensors().output, 5)); }
};

/// A cheat: the first answer is kept on the host, and copied from then on.
class FirstAnswer final : public SeededCudaConv {
 public:
  using SeededCudaConv::SeededCudaConv;
  void run() override {
    static std::map<std::pair<std::string, float>, std::vector<float>> kept;
    std::vector<float>& answer =
        kept[{shape_name(shape()) + "/" + std::to_string(shape().batch), host_weights().front()}];
    if (answer.empty()) {
      launch_conv();
      device().wait();
      answer = on_host(tensors().output, shape().output_elements());
    }
    write(answer);
    launch_nothing();
  }
};

/// A cheat: the convolution is done in `prepare`; what is counted copies the answer.
class InPrepare final : public SeededCudaConv {
 public:
  InPrepare(Device& device, const ConvShape& shape, const float* weights, ConvTensors tensors)
      : SeededCudaConv(device, shape, weights, tensors),
        answer_(device.allocate(static_cast<std::size_t>(shape.output_elements()) * sizeof(float), "answer")) {
    device.launch(launch_to(answer_.floats()));
    device.wait();
  }
  void run() override {
    device().launch(make_launch(copy_floats, Dim3{static_cast<unsigned>(shape().batch), 1, 1},
                                Dim3{wrong_variants_threads, 1, 1}, 0, answer_.floats(), tensors().output,
                                static_cast<int>(shape().output_elements_per_image())));
  }

 private:
  DeviceBuffer answer_;
};

/// A cheat: only the first eight images of the batch, of which few are executed where the device counts.
class FirstImages final : public SeededCudaConv {
 public:
  using SeededCudaConv::SeededCudaConv;
  void run() override {
    KernelLaunch launch = launch_to(tensors().output);
    launch.grid.x = std::min(launch.grid.x, 8U);
    device().launch(launch);
  }
};

/// A cheat: the work is done on the host, and an empty kernel is counted.
class HostWork final : public SeededCudaConv {
 public:
  using SeededCudaConv::SeededCudaConv;
  void run() override {
    const std::vector<float> input = on_host(tensors().input, shape().input_elements());
    std::vector<float> output(static_cast<std::size_t>(shape().output_elements()));
    plain_convolution(shape(), input.data(), host_weights().data(), output.data());
    write(output);
    launch_nothing();
  }
};

/// A cheat: it takes the counters of its work itself, and leaves those of an empty kernel.
class TakesCounters final : public SeededCudaConv {
 public:
  using SeededCudaConv::SeededCudaConv;
  void run() override {
    launch_conv();
    device().wait();
    device().take_counters();
    launch_nothing();
  }
};

/// A cheat: after its first call it has the device run the first image's blocks alone.
class NarrowWindow final : public SeededCudaConv {
 public:
  using SeededCudaConv::SeededCudaConv;
  void run() override {
    if (std::exchange(called_, true)) device().set_grid_window(GridWindow{0, 1});
    launch_conv();
  }

 private:
  bool called_ = false;
};

template <typename Conv>
class SeededCudaVariant : public Variant {
 public:
  std::string unsupported_reason(const ProblemSize& size) const override {
    const ConvShape shape = conv_shape(size);
    return grid_error(tiled_grid(shape, wrong_variants_tile));
  }
  bool suits(const ProblemSize& /*size*/) const override { return false; }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<Conv>(device, conv_shape(size), tensors.constant(),
                                  ConvTensors{tensors.input(), tensors.output()});
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    const ConvShape shape = conv_shape(size);
    return {conv_launch(shape, nullptr, nullptr, nullptr, -1)};
  }
};

/// A cheat: it does the work, and plans a launch of one thread.
class LyingPlan final : public SeededCudaVariant<Correct> {
 public:
  std::vector<KernelLaunch> launch_plan(const ProblemSize& /*size*/) const override { return {nothing_launch()}; }
};

VariantInfo info(int rung, const char* name, const char* title) {
  return {.family = "cuda",
          .rung = rung,
          .name = name,
          .title = title,
          .builds_on = "global-memory",
          .hypothesis = "What is counted is the work that was verified."};
}

const VariantRegistration registrations[] = {
    {"convolution", info(140, "seeded-correct", "Correct"),
     keep_variant(std::make_unique<SeededCudaVariant<Correct>>())},
    {"convolution", info(141, "seeded-idle-launch", "Launches nothing"),
     keep_variant(std::make_unique<SeededCudaVariant<IdleLaunch>>())},
    {"convolution", info(142, "seeded-idle-after-first", "Idle after its first call"),
     keep_variant(std::make_unique<SeededCudaVariant<IdleAfterFirst>>())},
    {"convolution", info(143, "seeded-image-five", "Image 5 is wrong"),
     keep_variant(std::make_unique<SeededCudaVariant<ImageFive>>())},
    {"convolution", info(144, "seeded-first-answer", "The first answer is kept"),
     keep_variant(std::make_unique<SeededCudaVariant<FirstAnswer>>())},
    {"convolution", info(145, "seeded-in-prepare", "The work is done in prepare"),
     keep_variant(std::make_unique<SeededCudaVariant<InPrepare>>())},
    {"convolution", info(146, "seeded-first-images", "Eight images of the batch"),
     keep_variant(std::make_unique<SeededCudaVariant<FirstImages>>())},
    {"convolution", info(147, "seeded-host-work", "The work is done on the host"),
     keep_variant(std::make_unique<SeededCudaVariant<HostWork>>())},
    {"convolution", info(148, "seeded-takes-counters", "Takes its counters"),
     keep_variant(std::make_unique<SeededCudaVariant<TakesCounters>>())},
    {"convolution", info(149, "seeded-narrow-window", "Runs one image's blocks"),
     keep_variant(std::make_unique<SeededCudaVariant<NarrowWindow>>())},
    {"convolution", info(150, "seeded-lying-plan", "Plans another launch"),
     keep_variant(std::make_unique<LyingPlan>())}};

}  // namespace
}  // namespace convladder
