// The steps of a network run: its layers, each with its implementation.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/network.hpp"
#include "network/weights.hpp"
#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// Which variants a network is run with, all of one family. Layers around the convolutions that are not named take the
/// family's default ones.
struct NetworkChoice {
  std::string family;
  std::map<std::size_t, ProblemVariant> convolutions;  ///< by the layer's index; every convolution has one
  std::map<std::string, ProblemVariant> operators;     ///< by the step's type: "max_pool"
  std::map<std::size_t, ProblemVariant> fused =
      {};  ///< instead of the convolution and the layers that it is fused with
  /// A library does all of it, and nothing above is used.
  std::optional<ProblemVariant> whole = std::nullopt;
};

/// The computation of a step, which decides what it is compared with.
enum class StepKind {
  convolution,    ///< without its bias
  fused,          ///< a convolution, or a fully connected layer, with its bias and the layers that it is fused with
  layer_operator  ///< a bias or another layer
};

struct NetworkStep {
  std::string name;                 ///< "conv1", "conv1 bias", "pool1"
  std::string_view type;            ///< "convolution", "bias", or the layer's
  std::string_view implementation;  ///< the variant's name
  std::size_t layer = 0;            ///< index in the network's layers
  StepKind kind = StepKind::convolution;
  ProblemSize size;                     ///< with batch 1
  const Variant* variant = nullptr;     ///< null for a step of a library's network
  ActivationShape output;               ///< of one image
  std::vector<std::string> fused_with;  ///< the layers that a fused step does besides its own
  const Layer* source = nullptr;        ///< the layer itself

  /// The largest allowed |error| / magnitude of its output.
  double tolerance() const;
  ActivationShape input() const { return size.problem->input_image(size); }
  /// Whether its kernels are launched through the CUDA runtime, and not through the device.
  bool launches_by_itself() const { return variant != nullptr && variant->launches_by_itself(); }
  /// Whether it can write its output over its input.
  bool in_place() const { return size.problem->works_in_place(); }
  bool is_fully_connected() const { return source->type == LayerType::fully_connected; }
};

/// The tensors of a call; the layer's weights are on the host.
ProblemTensors step_tensors(const ProblemSize& size, const LayerConstants& weights, const float* input, float* output);

/// Empty if the fused variant can do the convolution `layer` and the layers behind it, otherwise why not, in one line.
std::string fusion_error(const Network& network, std::size_t layer, const Variant& variant);

/// The network's steps in order. The network must outlive them. Throws std::out_of_range for a convolution without a
/// variant. What the choice fuses must have no fusion_error.
std::vector<NetworkStep> network_steps(const Network& network, const NetworkChoice& choice);

/// The steps in which a library does the network: as much in each as the reference can check.
std::vector<NetworkStep> library_steps(const Network& network, std::string_view library);

std::vector<std::string> step_names(const std::vector<NetworkStep>& steps);

/// Why the network cannot be run with these steps, naming layer and implementation; empty if it can. `batch` is the
/// number of images per call. A library's network answers for itself.
std::string unsupported_reason(const std::vector<NetworkStep>& steps, int batch);

/// Why times of these steps say nothing, naming layer and implementation; empty if they do.
std::string why_untimed(const std::vector<NetworkStep>& steps);

/// The first step whose kernels are not ours, in one line; empty if all are. A device without a clock can execute only
/// ours.
std::string without_own_kernels(const std::vector<NetworkStep>& steps, int batch);

/// Bytes a pass holds for each image of a chunk: the image, two buffers as large as the largest activation, and as much
/// again for a convolution's own layout.
std::size_t bytes_per_image(const Network& network);

/// Bytes of the weights, and as much again for the order a variant or operator keeps them in.
std::size_t weight_bytes(const Network& network);

/// Images that go through the network at once: all of a batch if that leaves a fifth of `free_bytes`, otherwise equal
/// chunks of as many as do. At least 1.
int chunk_images(const Network& network, int batch, std::size_t free_bytes);

/// Images that go through the network at once so that a step's output stays in the caches of as many cores as OpenMP
/// has threads until the next step reads it: as many as do, in whole vectors of any stage, if these are 128 images or
/// more; otherwise, and if there would be no two such chunks, all of a batch. With fewer images at once the weights
/// would be read too often.
int chunk_for_caches(const std::vector<NetworkStep>& steps, int batch);

}  // namespace convladder
