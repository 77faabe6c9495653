// A network's forward and backward pass by oneDNN's primitives. Of the mathematics only two lines are our own: the loss
// gradient (softmax minus one-hot) and the update.
#pragma once

#include <cstdint>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "network/network.hpp"
#include "network/weights.hpp"

namespace convladder {

/// All batches have the same size. Layouts are the library's own between the layers. The results depend on the number
/// of threads, and on one machine on nothing else.
class OnednnNetwork {
 public:
  /// The network must be one that training_unsupported (training.hpp) has nothing against. Inputs are taken as they
  /// are: where they are scaled, `weights` must be those for scaled inputs. Throws dnnl::error where the library
  /// refuses.
  OnednnNetwork(const Network& network, int batch, const NetworkWeights& weights);
  OnednnNetwork(const OnednnNetwork&) = delete;
  OnednnNetwork& operator=(const OnednnNetwork&) = delete;
  ~OnednnNetwork() = default;

  /// The inputs, NCHW, to be written before forward().
  std::span<float> inputs() { return floats(input_); }

  void forward();

  /// After forward(): the softmax of the network's outputs, batch x outputs.
  std::span<const float> probabilities() const { return floats(probabilities_); }

  /// After forward(): the gradients of the batch's mean cross entropy with these labels, one for each image. Returns
  /// that mean.
  double backward(std::span<const std::uint8_t> labels);

  /// One step of SGD with momentum (Sutskever et al., On the importance of initialization and momentum, 2013, in
  /// PyTorch's form): velocity = momentum * velocity + gradient; weight -= learning_rate * velocity.
  void update(float learning_rate, float momentum);

  /// Changes a layer's weights, which `change` gets in the program's own layout.
  void change_weights(const std::string& layer, const std::function<void(std::span<float>)>& change);

  /// The layers' weights, or their gradients, in the program's own layouts. Without name and checksum.
  NetworkWeights weights();
  NetworkWeights gradients();

 private:
  using Arguments = std::unordered_map<int, dnnl::memory>;
  struct Step {
    dnnl::primitive primitive;
    Arguments arguments;
  };
  /// A weight or bias tensor. All three memories have the layout that the forward primitive asks for.
  struct Parameter {
    std::string layer;
    bool is_bias;
    dnnl::memory::desc plain;
    dnnl::memory value;
    dnnl::memory gradient;
    dnnl::memory velocity;
  };
  using Steps = std::vector<Step>;
  using MemoryDescription = dnnl::memory::desc;

  void build(const Network& network, int batch, const NetworkWeights& weights);
  dnnl::memory add_layer(const Layer& layer, const dnnl::memory& source, const NetworkWeights& weights);
  dnnl::memory add_convolution(const Layer& layer, const dnnl::memory& source, const LayerWeights& weights);
  dnnl::memory add_fully_connected(const Layer& layer, const dnnl::memory& source, const LayerWeights& weights);
  /// Adds a layer with weights. The last three arguments describe its primitives (onednn_description).
  template <typename Primitives, typename Forward, typename BackwardWeights, typename BackwardData>
  dnnl::memory add_weighted(const Layer& layer, const dnnl::memory& source, const LayerWeights& weights,
                            const MemoryDescription& plain, const MemoryDescription& bias, const Forward& forward_of,
                            const BackwardWeights& weights_of, const BackwardData& data_of);
  dnnl::memory add_activation(const Layer& layer, const dnnl::memory& source);
  dnnl::memory add_max_pool(const Layer& layer, const dnnl::memory& source);

  /// `memory` in the layout `wanted`: itself, or the result of a reorder added to `steps`.
  dnnl::memory in_layout(const dnnl::memory& memory, const MemoryDescription& wanted, Steps& steps);
  /// A new parameter, in the layout `wanted`. Returns its index.
  std::size_t add_parameter(const Layer& layer, bool is_bias, const MemoryDescription& plain,
                            const MemoryDescription& wanted, const std::vector<float>& values);
  dnnl::memory new_memory(const MemoryDescription& description);
  void execute(const Steps& steps);
  NetworkWeights plain_copy(dnnl::memory Parameter::*which);
  static std::span<float> floats(const dnnl::memory& memory);

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::memory input_;
  dnnl::memory probabilities_;
  dnnl::memory loss_gradient_;  ///< with respect to the outputs before the softmax
  std::vector<Parameter> parameters_;
  Steps forward_;
  Steps backward_;
  /// By layer: adds its backward steps, given its output's gradient, and returns its input's.
  std::vector<std::function<dnnl::memory(const dnnl::memory&)>> add_backward_;
};

}  // namespace convladder
