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
#include "harness/measure/cases/case_messages.hpp"
#include "harness/measure/cases/outputs_at_return.hpp"
#include "harness/measure/cases/time_of.hpp"
#include "harness/measure/cases/workload.hpp"
#include "harness/measure/isolation/session.hpp"
#include "harness/measure/verification/changed_input.hpp"
#include "harness/measure/verification/output_probe.hpp"
#include "variants/variant.hpp"

namespace convladder {

class CaseSession final : public Session<CaseMessages> {
 public:
  /// `id` names the case's NVTX range. The device is the case's own. Outputs are handed out in `window`.
  CaseSession(std::string id, std::unique_ptr<Device> device, const ProblemVariant& variant, const Workload& workload,
              const SharedMemory& window);

 private:
  Answer carry_out(const Request& request) override;
  to_case::Prepared answer(const to_case::Prepare& wanted);
  Done answer(const to_case::Set& wanted);
  to_case::Called answer(const to_case::Call& wanted);
  Done answer(const to_case::RunPart& wanted);
  Done answer(const to_case::WarmUp& wanted);
  to_case::Calibrated answer(const to_case::Calibrate& wanted);
  to_case::Counted answer(const to_case::Count& wanted);
  Done answer(const to_case::Profile& wanted);
  to_case::Sampled answer(const to_case::Sample& wanted);
  to_case::SlotTaken answer(const to_case::Slot& wanted);
  to_case::StateOfDevice answer(const to_case::State& wanted);
  Done answer(const to_case::Probed& wanted);
  Done answer(const ReadElements& wanted);
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
  std::size_t elements_of(std::size_t part) const;
  void read_part(std::size_t part, std::size_t first, std::size_t count);
  bool calls_are_alike() const;
  void renew(const std::string& of);
  void before_call(const std::string& of, std::int64_t call);
  void behind_call(const std::string& of, std::int64_t call);
  void keep_outputs();
  void refuse_late_writes() const;
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
  OutputsAtReturn at_return_;               ///< of the last call
  std::vector<ChangedInput> changed_;       ///< the inputs, then the in-outs
  std::vector<OutputProbe> probes_;         ///< of the outputs, on the host of the in-outs as well; of none on a
                                            ///< device that only counts
  std::int64_t last_call_ = 0;              ///< the call whose input they hold
  std::int64_t probed_calls_ = 0;           ///< since `set`
  double enqueue_ns_ = 0;                   ///< host time of a call, for the calls enqueued last; 0: not known
  std::vector<VariantPart> variant_parts_;  ///< of the prepared problem
  std::vector<float> part_on_host_;  ///< the output of the part that was run last, in a layout of the variant's own
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
