// Whether a stage writes its result after it has returned: a thread that it left behind would then work while no clock
// runs, and its result be right by the time that somebody looks at it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace convladder {

/// Why a stage is refused that does so.
inline constexpr const char* kWroteLate = "it went on writing its results after it had returned";

/// Up to 4096 places of host memory, at even distances, as they were when a call returned. Memory of at most 256 KiB is
/// kept whole; of more, what is written late must be shorter than 1/4096 of it to go unseen.
class OutputsAtReturn {
 public:
  /// Adds the places of one tensor, the last first: who writes late writes those last.
  void keep(std::span<const std::byte> memory);
  /// Whether any place holds something else by now.
  bool changed() const;
  void forget() { kept_.clear(); }

 private:
  struct Kept {
    std::span<const std::byte> memory;
    std::vector<std::size_t> places;  ///< offsets
    std::vector<std::byte> content;   ///< in their order, each of the same size
  };
  std::vector<Kept> kept_;
};

}  // namespace convladder
