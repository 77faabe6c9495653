// One case, step by step: prepare, set, call, hand out the output. Runs inside the case's own process, which knows no
// expected output: the harness's side (case_verifier.hpp) compares.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "devices/variant_device.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/isolation/session.hpp"
#include "harness/measure/verification/changed_input.hpp"
#include "harness/measure/verification/output_probe.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// The part of the work that a time is of, as in the record.
namespace time_of {
inline constexpr const char* kOp = "op";
inline constexpr const char* kLayer = "layer";
inline constexpr const char* kLoadInput = "load input";
inline constexpr const char* kStoreOutput = "store output";
inline constexpr const char* kPrepare = "prepare";
/// A launch of a kernel that does nothing, timed as a single call is: the part of a single call's time that is not
/// work.
inline constexpr const char* kEmptyKernel = "empty kernel";
/// How calls follow each other. Hot: back to back, so that caches hold what the call before has used. Launched: back to
/// back, with the host enqueuing each call separately, where the hot ones were recorded. Cold: after a flush of the
/// last-level cache.
inline constexpr const char* kHot = "hot";
inline constexpr const char* kLaunched = "launched";
inline constexpr const char* kCold = "cold";
/// A part of the variant, by its name.
inline std::string part(const std::string& name) { return "part " + name; }
}  // namespace time_of

/// A kind of time: which part of the work, and how its calls come to the device.
struct TimedKind {
  std::string of;         ///< time_of::…
  bool cold = false;      ///< the last-level cache is flushed before each call
  bool replayed = false;  ///< the calls were recorded once: the host enqueues many of them with one call
  bool varied = false;    ///< each call has an input of its own, and its output is looked at
};

class CaseSession final : public Session {
 public:
  /// `id` names the case's NVTX range. The device is the case's own. Outputs are handed out in `window`.
  CaseSession(std::string id, std::unique_ptr<Device> device, const ProblemVariant& variant, const Workload& workload,
              const SharedMemory& window);

  /// Answers; KIND stands for "of", and "cold", "replayed" and "varied" where they are true
  ///   {"do": "prepare", "problem": "real" or "integers"} -> {"prepare_ns", "own_layout", "choice", "parts",
  ///       "can_be_cold", "has_clock", "is_asynchronous"}: on an input that no call will see
  ///   {"do": "set", "change", "fills", "probe"} -> {}: writes the changed input, and a fill into each output;
  ///       "probe" is the seed of the elements that are looked at right after calls (OutputProbe)
  ///   {"do": "call"}                           -> {"ns"}: call number 1 of the change, all of the layer
  ///   {"do": "warm up", KIND, "least_ns"}      -> {}: untimed calls, at least so long and until the clock stays
  ///   {"do": "calibrate", KIND, "sample_ns"}   -> {"iterations"}: so that a sample takes at least that long. 0 where
  ///       calls were to be recorded and cannot be
  ///   {"do": "count"}                          -> {"counters"}: instead of sampling, where the device has no clock
  ///   {"do": "profile", "calls"}               -> {}: so many calls of `run` and a wait, nothing else
  ///   {"do": "sample", KIND, "iterations"}     -> {"ns", "last_call", "probed", "enqueue_ns"}: mean nanoseconds of a
  ///       call. The calls are numbered from 1, `last_call` is the one whose change the input has now; the untimed rest
  ///       of the layer is done as well, so that the output is that of this call. Calls 1 to `probed` were looked at
  ///       right after they ended: 0 on devices without fill kernels, and where something other than the layer is
  ///       timed. "enqueue_ns" is the host time for enqueuing a call, where that is known
  ///   {"do": "slot", "of", "iterations", "sub_runs", "extra_percent"} -> {"ns", "last_call"}: of each sub-run the
  ///       nanoseconds of (100 + extra_percent) % of the iterations, which must be a whole number, divided by the
  ///       iterations: with 5 % of extra work, an otherwise equal case takes 5 % longer
  ///   {"do": "state"}                          -> {"clock_mhz", "temperature_celsius", "held_ns", "held_now"}: what
  ///       the device reports about itself, if it does; its clock during the sample or slot before. No answer that is
  ///       judged waits for that
  ///   {"do": "read", "tensor", "first", "count"}  -> {}: so many elements of the tensor, into the window
  ///   {"do": "probed", "output", "call"}       -> {}: an output's probed elements as that call had left them, into the
  ///       window
  /// A failure is {"status", "reason"}.
 private:
  nlohmann::ordered_json carry_out(const std::string& what, const nlohmann::ordered_json& request) override;
  nlohmann::ordered_json prepare(ProblemKind kind);
  nlohmann::ordered_json set(const nlohmann::ordered_json& request);
  nlohmann::ordered_json call_once();
  nlohmann::ordered_json warm_up(const std::string& of, double least_ns);
  nlohmann::ordered_json calibrate(const TimedKind& kind, double sample_ns);
  /// The number of calls in a sample, and the time of one.
  struct EnqueuedCalls {
    int calls = 1;
    double call_ns = 1;
  };
  std::unique_ptr<Recording> recording_of(const std::string& of, std::int64_t calls);
  bool record(const std::string& of, std::int64_t calls);
  bool record_for_samples(const std::string& of, const EnqueuedCalls& launched);
  void run_ahead(const std::string& of, std::int64_t call);
  double enqueued_calls_ns(const TimedKind& kind, std::int64_t iterations, std::int64_t call = 1);
  double replayed_calls_ns(const std::string& of, std::int64_t iterations);
  double launched_calls_ns(const std::string& of, std::int64_t iterations);
  double single_calls_ns(const TimedKind& kind, std::int64_t iterations);
  double varied_calls_ns(const TimedKind& kind, std::int64_t iterations);
  void begin_varied_call(const TimedKind& kind, std::int64_t call);
  EnqueuedCalls enqueued_calls(const TimedKind& kind, double sample_ns);
  nlohmann::ordered_json sample(const TimedKind& kind, int iterations);
  nlohmann::ordered_json slot(const nlohmann::ordered_json& request);
  nlohmann::ordered_json count();
  nlohmann::ordered_json profile(int calls);
  nlohmann::ordered_json read(const std::string& tensor, std::int64_t first, std::int64_t count);

  nlohmann::ordered_json probed(std::size_t output, std::int64_t call);

  std::vector<KernelCounters> count_images(int images, int batch);
  void repeat_images(int images, int batch);
  Device& for_variant();
  /// A tensor of all items, on the device.
  struct HeldTensor {
    ProblemTensor tensor;
    DeviceBuffer buffer;
    std::int64_t elements() const { return static_cast<std::int64_t>(buffer.bytes() / element_bytes(tensor.type)); }
  };
  std::vector<HeldTensor> hold(const std::vector<ProblemTensor>& tensors, int items);
  bool calls_are_alike() const;
  void renew(const std::string& of);
  void before_call(const std::string& of, std::int64_t call);
  void behind_call(const std::string& of, std::int64_t call);
  void before_timed(const std::string& of, std::int64_t call);
  void timed(const std::string& of, std::optional<std::size_t> part);
  std::optional<std::size_t> part_of(const std::string& of) const;
  void run_parts(std::size_t first, std::size_t end);
  void after_timed(const std::string& of);
  double timed_call(const std::string& of, std::int64_t call, bool cold);

  std::string id_;
  ProblemVariant variant_;  // a copy: what it came from may be a temporary
  const Workload& workload_;
  const SharedMemory& window_;
  PinnedBuffer pinned_window_;  ///< outputs of gigabytes go through it
  VariantDevice for_variant_;
  const ProblemData* problem_ = nullptr;  // the one that is prepared
  std::vector<HeldTensor> inputs_;
  std::vector<HeldTensor> outputs_;
  std::vector<HeldTensor> in_outs_;
  std::vector<ChangedInput> changed_;          ///< the inputs, then the in-outs
  std::vector<OutputProbe> probes_;            ///< of the outputs, where the device has fill kernels
  std::int64_t last_call_ = 0;                 ///< the call whose input they hold
  std::int64_t probed_calls_ = 0;              ///< since `set`
  double enqueue_ns_ = 0;                      ///< host time of a call, for the calls enqueued last; 0: not known
  std::unique_ptr<PreparedVariant> prepared_;  // destroyed before the device and the buffers it uses
  struct RecordedCalls {
    std::unique_ptr<Recording> recording;
    std::int64_t calls = 0;               ///< in the recording
    std::unique_ptr<Recording> one_call;  ///< for calls that do not make up a whole recording
  };
  std::map<std::string, RecordedCalls> recorded_;  ///< by the part of the work that they are of; destroyed before the
                                                   ///< prepared variant
};

}  // namespace convladder
