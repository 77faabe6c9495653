// The cases of `convladder fused`: each convolution that is followed by an activation and a max pooling, fused and not.
#pragma once

#include <string>
#include <vector>

#include "harness/plan/plan.hpp"
#include "variants/fused/fused_variant.hpp"

namespace convladder {

struct FusedOptions {
  std::vector<std::string> networks;  ///< names or files; empty: those that `run` takes by default
  std::vector<std::string> layers;    ///< "conv1" or "lenet72.conv1"; empty: every layer that can be asked for
  std::vector<std::string> variants;  ///< fused ones; empty: all
  std::vector<std::string> devices;   ///< empty: the CPU, and a GPU where one is
  std::vector<int> batches;           ///< empty: kFusedBatch, or kCountedImages where the device counts
  std::string data_folder;            ///< IDX files; empty: the built-in synthetic images
  std::uint64_t seed = 1;
  double budget_seconds = 2.0;       ///< of rounds for each case, at least three of them
  std::optional<int> repetitions;    ///< exactly this many rounds
  double sample_milliseconds = 5.0;  ///< a sample repeats its calls for at least so long
};

inline constexpr int kFusedBatch = 100;

/// An operator that the fused variant replaces: a part of the other side of the comparison.
struct SeparateStep {
  std::string name;            ///< "conv1", "conv1 bias", "activation1", "pool1"
  std::string type;            ///< "convolution", or the operator's
  std::string implementation;  ///< the variant's or operator's name
};

/// A fused variant and the separate operators on one layer, batch and device: what is verified, timed and counted.
struct FusedCase {
  std::string id;  ///< device/fused variant/network.layer/batch
  LayerWork work;
  FusedShape shape;  ///< with the batch
  RegisteredFused fused;
  RegisteredVariant convolution;  ///< the stage that the fused variant builds on
  std::vector<SeparateStep> steps;
  std::string device;
  bool has_clock = true;    ///< whether the device times; if not it counts
  std::string skipped;      ///< why it is not run on this machine; empty if it is
  std::string unsupported;  ///< why it cannot be fused so, or why the stage it builds on cannot run it
  bool runs() const { return skipped.empty() && unsupported.empty(); }
};

/// All cases, by device, layer, batch and variant. Throws UserError for names that are not known, nearest first, and
/// where nothing is left.
std::vector<FusedCase> make_fused_plan(const FusedOptions& options);

}  // namespace convladder
