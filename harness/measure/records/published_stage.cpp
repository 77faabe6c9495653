#include "harness/measure/records/published_stage.hpp"

#include <algorithm>

namespace convladder {
namespace {

constexpr PublishedStage kStages[] = {
    {"fa17-ladder", "gpu baseline (global memory)", "global-memory", "k80"},
    {"fa17-checkpoints", "gpu textbook kernel", "local-accumulation", "k80"},
    {"fa17-ladder", "grid (B,1,1), loop over output maps inside", "block-remap", "k80"},
    {"fa17-ladder", "loop unrolling (25 lines)", "loop-unrolling", "k80"},
    {"fa17-ladder", "final: unrolling and compile-time constants", "compile-time", "k80"},
    {"fa18-batches", "gpu baseline (global memory)", "global-memory", "v100"},
};

}  // namespace

std::optional<PublishedStage> published_stage(const PublishedFigure& figure) {
  if (figure.layer.empty() || (figure.what != "op time" && figure.what != "kernel time")) return std::nullopt;
  const auto* const found = std::ranges::find_if(kStages, [&figure](const PublishedStage& one) {
    return one.source == figure.source && one.stage == figure.stage;
  });
  return found == std::end(kStages) ? std::nullopt : std::optional(*found);
}

}  // namespace convladder
