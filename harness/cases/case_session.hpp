// One case, step by step: prepare, set, call, hand out the output. Runs inside the case's own process, which knows no
// expected output: the harness's side (case_verifier.hpp) compares.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "devices/variant_device.hpp"
#include "harness/cases/workload.hpp"
#include "harness/isolation/session.hpp"
#include "harness/verification/changed_input.hpp"
#include "harness/verification/output_probe.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// Which part of the work a time is of, as in the record.
namespace time_of {
inline constexpr const char* kOp = "op";
inline constexpr const char* kLayer = "layer";
inline constexpr const char* kLoadInput = "load input";
inline constexpr const char* kStoreOutput = "store output";
inline constexpr const char* kPrepare = "prepare";
/// Whether caches hold what the call before has used.
inline constexpr const char* kHot = "hot";
inline constexpr const char* kCold = "cold";
/// Of a variant's part, by its name.
inline std::string part(const std::string& name) { return "part " + name; }
}  // namespace time_of

class CaseSession final : public Session {
 public:
  /// `id` names the case's NVTX range. The device is the case's own. Outputs are handed out in `window`.
  CaseSession(std::string id, std::unique_ptr<Device> device, const ProblemVariant& variant, const Workload& workload,
              const SharedMemory& window);

  /// Answers
  ///   {"do": "prepare", "problem": "real" or "integers"} -> {"prepare_ns", "own_layout", "choice", "parts",
  ///       "can_be_cold", "has_clock"}: on an input that no call will see
  ///   {"do": "set", "change", "fills", "probe"} -> {}: writes the changed input, and a fill into each output; "probe"
  ///   is
  ///       the seed of the elements that are looked at right behind calls (OutputProbe)
  ///   {"do": "call"}                           -> {"ns"}: call number 1 of the change, all of the layer
  ///   {"do": "calibrate", "of", "sample_ns", "cold"}   -> {"iterations"}: so that a sample takes at least that long
  ///   {"do": "count"}                          -> {"counters"}: instead of sampling, where the device has no clock
  ///   {"do": "profile", "calls"}               -> {}: so many calls of `run` and a wait, nothing else
  ///   {"do": "sample", "of", "iterations", "cold"} -> {"ns", "last_call", "probed", "state"}: mean nanoseconds of a
  ///   call.
  ///       The calls are numbered from 1, `last_call` is the one whose change the input has now; what of the layer is
  ///       not timed is done as well, so that the output is that of this call. Calls 1 to `probed` were looked at right
  ///       behind them: 0 on devices that do not fill by themselves, and where it is not the layer that is timed
  ///   {"do": "slot", "of", "iterations", "sub_runs", "extra_percent"} -> {"ns", "last_call", "state"}: of each sub-run
  ///       the nanoseconds of (100 + extra_percent) % of the iterations, which must be a whole number, divided by the
  ///       iterations: with 5 % of extra work, an otherwise equal case takes 5 % longer
  ///   {"do": "read", "tensor", "first", "count"}  -> {}: so many elements of the tensor, into the window
  ///   {"do": "probed", "output", "call"} -> {}: what that call had left of an output's probed elements, into the
  ///   window
  /// A failure is {"status", "reason"}.
 private:
  nlohmann::ordered_json carry_out(const std::string& what, const nlohmann::ordered_json& request) override;
  nlohmann::ordered_json prepare(ProblemKind kind);
  nlohmann::ordered_json set(const nlohmann::ordered_json& request);
  nlohmann::ordered_json call_once();
  nlohmann::ordered_json calibrate(const std::string& of, double sample_ns, bool cold);
  void run_ahead(const std::string& of, std::int64_t call);
  double enqueued_calls_ns(const std::string& of, std::int64_t iterations, bool cold, std::int64_t call = 1);
  int enqueued_calls(const std::string& of, double sample_ns, bool cold);
  nlohmann::ordered_json sample(const std::string& of, int iterations, bool cold);
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
  const ProblemData* problem_ = nullptr;  // that is prepared
  std::vector<HeldTensor> inputs_;
  std::vector<HeldTensor> outputs_;
  std::vector<HeldTensor> in_outs_;
  std::vector<ChangedInput> changed_;          ///< the inputs, then what goes in and out
  std::vector<OutputProbe> probes_;            ///< of the outputs, where the device fills by itself
  std::int64_t last_call_ = 0;                 ///< whose input they hold
  std::int64_t probed_calls_ = 0;              ///< since `set`
  std::unique_ptr<PreparedVariant> prepared_;  // before the device and the buffers it uses are gone
};

}  // namespace convladder
