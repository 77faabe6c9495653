// A network computed as a choice says, for passes and loaded networks.
#pragma once

#include <memory>

#include "network/network_runner.hpp"
#include "network/network_variant.hpp"

namespace convladder {

/// The network and its weights must outlive this.
class ChosenNetwork {
 public:
  ChosenNetwork(const Network& network, const NetworkWeights& weights, const NetworkChoice& choice)
      : problem_(network),
        variant_(network_variant(choice)),
        runnable_{problem_, *variant_, problem_.placed(weights)} {}

  operator const RunnableNetwork&() const { return runnable_; }
  std::string unsupported_reason(int batch) const { return variant_->unsupported_reason(problem_.size(batch)); }

 private:
  NetworkProblem problem_;
  std::shared_ptr<const Variant> variant_;
  RunnableNetwork runnable_;
};

}  // namespace convladder
