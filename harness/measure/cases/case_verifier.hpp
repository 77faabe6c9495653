// The harness's side of verifying a case: it sets the input of the next calls and compares their output.
#pragma once

#include <array>
#include <cstdint>

#include "harness/measure/cases/case_messages.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/verification/part_comparison.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

/// Whether each call gets its own input: no; in one element of each image; or in the window of every output. Without
/// its own input, a call gets the problem's: counts may depend on it.
enum class Pokes { none, one, everywhere };

/// Draws the input and output contents for the next calls: different rotation, sign, size and fill each time. `whole`:
/// a problem of integers, whose sums stay where float32 holds them exactly. `linear`: the computation is linear, so the
/// input may be larger and of another sign. `looked_at`: the calls whose outputs may be compared.
CallSetting draw_setting(const Expectation& expected, SeededRandom& random, bool whole, bool linear, Pokes pokes,
                         const std::array<std::int64_t, 2>& looked_at = {});

/// Nanoseconds that changing the input between so many calls may take. `on_host`: everywhere, otherwise in one element
/// of an image. `renewed`: all of it is written anew.
double untimed_ns(const InputLayout& shape, std::int64_t calls, bool on_host, bool renewed = false);

/// The request for that setting. `probe`: the seed of the elements that are looked at right after calls.
to_case::Set set_request(const CallSetting& setting, std::uint64_t probe);

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

  /// Has the case prepare for a problem, and verifies one call.
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

  /// Has the input changed and the output filled, both anew.
  void set(Pokes pokes, std::int64_t looked_at = 1, FillPart part = FillPart::all);
  /// As `set`, for this many timed calls, each of which gets as many replaced elements as possible. Where several
  /// follow each other only the first finds the fill, and pieces of it at that. A call that runs alone finds the same
  /// fill each time: code that skips work where its own output still lies does not get away with it now and then.
  /// `varied`: the device changes the calls' inputs itself, where that is cheap, too.
  void set_for_timing(std::int64_t calls, bool varied);
  /// As `set_for_timing`, for one more call, which finds its output as the last call left it.
  void set_for_following_call();
  /// Nanoseconds that changing the input between calls may have taken, beyond the time that the calls claim.
  double untimed_ns() const { return untimed_ns_; }
  /// Compares the output that call number `call` since `set` left. Makes no call of its own.
  Check check(std::int64_t call);
  /// Compares a few elements that some of the first `calls` since `set` had left. They were read right after those
  /// calls (OutputProbe), before any other work, and nobody knows in advance which calls they are.
  Check check_behind(std::int64_t calls);

  /// Elements of the batch's last image that hold what `set` put there; none where that may be by chance.
  std::int64_t left_in_last_image() const;

 private:
  std::vector<float> read_part(const VariantPart& part, int items) const;
  double tolerance() const;
  Check check_behind_call(std::int64_t call);

  OpenCase open_;
  const Workload& workload_;
  double tolerance_;
  double wanted_tolerance_;
  bool on_host_;
  double untimed_ns_ = 0;
  SeededRandom random_;
  ProblemKind kind_ = ProblemKind::real;
  CallSetting setting_;
  std::uint64_t probe_ = 0;
};

}  // namespace convladder
