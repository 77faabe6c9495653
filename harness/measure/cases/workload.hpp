// The data that the cases of a group compute on: inputs and weights, which they see, and the expected outputs, which
// they do not.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/isolation/shared_memory.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/verification/expected_output.hpp"

namespace convladder {

/// The layer's own tensors, or a small problem of integers for the bit-exact check.
enum class ProblemKind { real, integers };

/// The description by which another process opens a workload, besides the memory's descriptor.
struct WorkloadHeader {
  std::size_t bytes = 0;  ///< of the memory
  std::string input_kind;
  int planned_batch = 0;
  std::vector<int> real;  ///< the size: the batch, then the values of the dimensions
  std::vector<int> integers;
  std::optional<std::string> problem;     ///< its name; none for the convolution: other builds may know no other
  std::optional<std::string> definition;  ///< of a folder's problem: its problem.json
  static void each_field(auto&& field, auto& its) {
    field("bytes", its.bytes, "input_kind", its.input_kind, "planned_batch", its.planned_batch, "real", its.real,
          "integers", its.integers, "problem", its.problem, "definition", its.definition);
  }
};

/// The real problem and a small one of integers. Their tensors lie in memory that every case's process can map and none
/// can write to; the expected outputs are this process's own.
class Workload {
 public:
  /// Computes the inputs on all cores. `images` feed first layers directly and later ones through the layers before
  /// them; shapes with more than one channel and no network get random input, and other problems fill their own. With
  /// `most_images` the real problem of a convolution is only the first images of the batch, for devices that count
  /// instead of timing; no other problem says how its blocks share the items.
  Workload(const LayerWork& work, const ImageSet& images, std::uint64_t seed,
           int most_images = std::numeric_limits<int>::max());
  /// Opens, in another process, the workload that `header` describes. Throws std::exception for one that does not fit
  /// its problem.
  Workload(const WorkloadHeader& header, int descriptor);

  WorkloadHeader header() const;
  int descriptor() const { return memory_->descriptor(); }

  const ProblemData& real() const { return real_; }
  const ProblemData& integers() const { return integers_; }
  const ProblemData& problem(ProblemKind kind) const { return kind == ProblemKind::real ? real_ : integers_; }
  /// The expected output; computed when it is first asked for.
  const Expectation& expected(ProblemKind kind) const;
  /// The expected output of a convolution. Throws std::bad_cast for another problem.
  const ExpectedOutput& expected_convolution(ProblemKind kind) const {
    return dynamic_cast<const ExpectedOutput&>(expected(kind));
  }
  /// Images of the case's batch; the real problem may hold fewer.
  int planned_batch() const { return planned_batch_; }
  /// "images", "upstream activations" or "random".
  const std::string& input_kind() const { return input_kind_; }

 private:
  void attach();
  std::unique_ptr<SharedMemory> memory_;
  std::string input_kind_;
  int planned_batch_ = 0;
  ProblemData real_;
  ProblemData integers_;
  mutable std::mutex expecting_;
  mutable std::array<std::unique_ptr<Expectation>, 2> expected_;
};

}  // namespace convladder
