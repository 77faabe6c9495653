// Which of our stages correspond to the stages of published ladders, and on which GPU these were most likely measured.
#pragma once

#include <optional>
#include <string_view>

#include "harness/measure/records/published.hpp"

namespace convladder {

struct PublishedStage {
  std::string_view source;   ///< "fa17-ladder"
  std::string_view stage;    ///< in the source's words
  std::string_view variant;  ///< our stage with the same idea, not the same code
  std::string_view gpu;      ///< the nearest of simulator/gpus: the reports name only an architecture
};

/// The stage of a published figure for a convolution alone; none if no stage of ours has the same idea.
std::optional<PublishedStage> published_stage(const PublishedFigure& figure);

}  // namespace convladder
