// A whole network as a problem: its item is an image, its constants are the weights of its layers, and its result are
// the scores of the classes.
//
// Problems of this kind are made when they are named. Variants are registered for the kind and not for one network: the
// networks that libraries do as a whole. The others are made of the variants of the layers (network_variant.hpp).
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "network/network.hpp"
#include "network/weights.hpp"
#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// For which variants of whole networks are registered (Problem::kind).
inline constexpr std::string_view kWholeNetworks = "network";

/// Floating-point operations of one image's convolutions and fully connected layers, a multiply and an add per weight.
double network_flop(const Network& network);

class NetworkProblem final : public Problem {
 public:
  /// The network must outlive this. `argument` is the text by which another process finds it: its name, or its file.
  NetworkProblem(const Network& network, std::string argument);
  explicit NetworkProblem(const Network& network) : NetworkProblem(network, network.name) {}

  const Network& network() const { return network_; }
  const std::string& argument() const { return argument_; }
  ProblemSize size(int batch) const { return {this, batch, {}}; }

  /// The network's weights as the problem's constants, on the host; they must outlive the result.
  std::vector<PlacedTensor> placed(const NetworkWeights& weights) const;
  /// The weights of a layer among the problem's constants.
  LayerConstants constants_of(std::size_t layer, const std::vector<PlacedTensor>& constants) const;
  /// The places of a layer's weights and bias among the problem's constants.
  struct Places {
    std::optional<std::size_t> weights;
    std::optional<std::size_t> bias;
  };
  const Places& places_of(std::size_t layer) const { return places_[layer]; }

  std::string_view name() const override { return network_.name; }
  std::string_view title() const override { return network_.title; }
  std::string_view kind() const override { return kWholeNetworks; }
  std::vector<Dimension> dimensions() const override { return {}; }
  std::vector<std::string> default_sizes() const override { return {std::string(kOnlySize)}; }
  std::vector<int> default_batches() const override { return network_.batches; }
  int introduction_rungs() const override;
  std::vector<ProblemTensor> inputs(const ProblemSize& size) const override;
  std::vector<ProblemTensor> outputs(const ProblemSize& size) const override;
  std::vector<ProblemTensor> constants(const ProblemSize& /*size*/) const override { return constants_; }
  ActivationShape input_image(const ProblemSize& /*size*/) const override { return network_.input; }
  ActivationShape output_image(const ProblemSize& /*size*/) const override { return network_.layers.back().output; }
  std::int64_t intermediate_elements(const ProblemSize& size) const override;
  double flop(const ProblemSize& /*size*/) const override { return network_flop(network_); }
  double most_saved_operations(const ProblemSize& size) const override;
  void fill(const ProblemSize& size, const PlacedTensor& tensor, SeededRandom& random, bool whole) const override;
  bool is_exact_on_whole_numbers(const ProblemSize& /*size*/, double /*tolerance*/) const override { return false; }
  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override;
  std::string reference_name() const override { return "float64 network"; }
  const std::vector<ProblemVariant>& variants() const override;

 private:
  const Network& network_;
  std::string argument_;
  std::vector<std::string> names_;  ///< of the constants
  std::vector<ProblemTensor> constants_;
  std::vector<Places> places_;                                           ///< by layer
  std::unordered_map<std::string_view, std::size_t> layer_of_constant_;  ///< by its name
  mutable std::once_flag listing_;
  mutable std::vector<ProblemVariant> variants_;
};

/// The network that a size of such a problem is of. Throws std::bad_cast for another problem.
const NetworkProblem& network_problem(const ProblemSize& size);

}  // namespace convladder
