// The harness's side of verifying a case: it sets the input of the next calls and compares their output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/measure/cases/case_messages.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/verification/part_comparison.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

/// Whether each call gets its own input: no; in one element of each image; in the window of every output; or in every
/// element. Without its own input, a call gets the problem's: counts may depend on it.
enum class Pokes { none, one, everywhere, fresh };

/// Draws the input and output contents for the next calls: different rotation, sign, size and fill each time. `whole`:
/// a problem of integers, whose sums stay where float32 holds them exactly. `linear`: the computation is linear, so the
/// input may be larger and of another sign.
CallSetting draw_setting(const Expectation& expected, SeededRandom& random, bool whole, bool linear, Pokes pokes);

/// Nanoseconds that changing the input between so many calls may take. `fresh`: in every element, otherwise in one
/// element of an image. `renewed`: all of it is written anew.
double untimed_ns(const InputLayout& shape, std::int64_t calls, bool fresh, bool renewed = false);

/// The seed of the elements that are looked at right after calls, and how many calls there are for one that is looked
/// at; 0: none is.
struct ProbeSetting {
  std::uint64_t seed = 0;
  std::int64_t every = 0;
};

/// The request for that setting.
to_case::Set set_request(const CallSetting& setting, const ProbeSetting& probe);

/// Sends requests to a case and checks its output. Everything here throws CaseFailure where the case has ended.
class CaseVerifier {
 public:
  /// `tolerance` is the variant's. `seed` decides what inputs and outputs look like before calls. `on_host`: inputs are
  /// in the host's memory, where it is cheap to change much of them between calls.
  CaseVerifier(OpenCase open, const Workload& workload, double tolerance, std::uint64_t seed, bool on_host);

  /// The case's answer.
  template <typename Request>
  typename Request::Reply ask(const Request& request) const {
    return open_.ask(request);
  }
  /// How long the last answer took by the harness's clock; 0 where it was not looked at.
  ObservedAnswer last_answer() const { return open_.client->last_answer(); }

  /// Has the case prepare for a problem, and verifies a call, on the host some more on inputs that differ from each
  /// other in single elements.
  to_case::Prepared prepare(ProblemKind kind);
  struct Verified {
    Check check;
    double call_ns = 0;
  };
  Verified verify();

  /// Runs the parts of the variant one after the other and compares the output of each with float64, on the input that
  /// it really had. Of very large outputs only those of the first items are compared. Throws CaseFailure for the first
  /// part that is wrong.
  std::vector<StepCheck> verify_parts(const std::vector<VariantPart>& parts);

  /// Has the input changed and the output filled, both anew. `probe_every`: one call in so many is looked at right
  /// after it, on the host; on a GPU every one is.
  void set(Pokes pokes, FillPart part = FillPart::all, std::int64_t probe_every = 0);
  /// As `set`, for this many timed calls. All of their inputs are drawn from one distribution: nothing in a call's
  /// input tells whether anybody looks at it. On the host each of them is all new. Where several follow each other only
  /// the first finds the fill, and pieces of it at that. A call that runs alone finds the same fill each time: code
  /// that skips work where its own output still lies does not get away with it now and then. `varied`: the device
  /// changes the calls' inputs itself, where that is cheap, too.
  void set_for_timing(std::int64_t calls, bool varied);
  /// As `set_for_timing`, for more calls, of which the first finds its output as the last call left it.
  void set_for_following_call();
  /// Nanoseconds that changing the input between calls may have taken, beyond the time that the calls claim.
  double untimed_ns() const { return untimed_ns_; }
  /// Compares the output that call number `call` since `set` left. Makes no call of its own.
  Check check(std::int64_t call);
  /// Compares a few elements that some of the calls 1 to `last` since `set` had left, as long as that takes no more
  /// than `most_ns`, but at least those of one call. They were read right after these calls (OutputProbe), before any
  /// other work, and nobody knows in advance which calls they are.
  struct Probes {
    Check check;
    int calls = 0;  ///< that were looked at
  };
  Probes check_behind(std::int64_t last, double most_ns = 20e6);

  /// Elements of the batch's last image that hold what `set` put there; none where that may be by chance.
  std::int64_t left_in_last_image() const;

 private:
  std::vector<float> read_part(const VariantPart& part, int items) const;
  double tolerance() const;
  std::vector<std::int64_t> some_probed_calls(std::int64_t last) const;
  Check compare_probed(std::int64_t call, const std::vector<std::vector<std::byte>>& found, std::size_t place) const;

  OpenCase open_;
  const Workload& workload_;
  double tolerance_;
  double wanted_tolerance_;
  bool on_host_;
  double untimed_ns_ = 0;
  SeededRandom random_;
  ProblemKind kind_ = ProblemKind::real;
  CallSetting setting_;
  ProbeSetting probe_;
};

}  // namespace convladder
