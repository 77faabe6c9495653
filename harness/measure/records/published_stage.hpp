// Which of our stages the stages of published ladders are, and which GPU they were most likely measured on.
#pragma once

#include <optional>
#include <string_view>

#include "harness/measure/records/published.hpp"

namespace convladder {

struct PublishedStage {
  std::string_view source;   ///< "fa17-ladder"
  std::string_view stage;    ///< in the source's words
  std::string_view variant;  ///< of ours: the same idea, not the same code
  std::string_view gpu;      ///< the nearest of simulator/gpus: the reports name only an architecture
};

/// Of a figure of a convolution alone; none if no stage of ours has the same idea.
std::optional<PublishedStage> published_stage(const PublishedFigure& figure);

}  // namespace convladder
