// One case, step by step: prepare, verify, sample, verify again. Runs inside the case's own process.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "devices/device.hpp"
#include "devices/nvtx_range.hpp"
#include "harness/verify.hpp"
#include "harness/workload.hpp"
#include "variants/registry.hpp"

namespace convladder {

/// Which part of the work a time is of, as in the record.
namespace time_of {
inline constexpr const char* kOp = "op";
inline constexpr const char* kLayer = "layer";
inline constexpr const char* kLoadInput = "load input";
inline constexpr const char* kStoreOutput = "store output";
inline constexpr const char* kPrepare = "prepare";
}  // namespace time_of

class CaseSession {
 public:
  /// `id` names the case's NVTX range. The device is the case's own.
  CaseSession(std::string id, std::unique_ptr<Device> device, const RegisteredVariant& variant,
              const Workload& workload);
  ~CaseSession();
  CaseSession(const CaseSession&) = delete;
  CaseSession& operator=(const CaseSession&) = delete;

  /// Carries out one request and returns the reply; what fails is in the reply, as a status and a reason.
  ///   {"do": "prepare"}                        -> {"prepare_ns", "own_layout", "choice", "can_be_cold", "has_clock"}
  ///   {"do": "verify"}                         -> {"check", "compared", "call_ns"}: real inputs, poisoned output
  ///   {"do": "verify integers"}                -> {"check"}: prepares anew, on the small problem, and back
  ///   {"do": "calibrate", "of", "sample_ns"}   -> {"iterations"}: so that a sample takes at least that long
  ///   {"do": "count"}                          -> {"counters"}: instead of sampling, where the device has no clock
  ///   {"do": "profile", "calls"}               -> {}: so many calls of `convolve` and a wait, nothing else
  ///   {"do": "sample", "of", "iterations", "cold"} -> {"ns", "state"}: mean nanoseconds of a call
  ///   {"do": "slot", "of", "iterations", "sub_runs", "extra_percent"} -> {"ns", "state"}: of each sub-run the
  ///       nanoseconds of (100 + extra_percent) % of the iterations, which must be a whole number, divided by the
  ///       iterations: with 5 % of extra work, an otherwise equal case takes 5 % longer
  nlohmann::ordered_json answer(const nlohmann::ordered_json& request);

 private:
  nlohmann::ordered_json carry_out(const nlohmann::ordered_json& request);
  nlohmann::ordered_json prepare();
  nlohmann::ordered_json verify();
  nlohmann::ordered_json verify_integers();
  nlohmann::ordered_json calibrate(const std::string& of, double sample_ns);
  nlohmann::ordered_json sample(const std::string& of, int iterations, bool cold);

  nlohmann::ordered_json slot(const nlohmann::ordered_json& request);
  nlohmann::ordered_json count();
  nlohmann::ordered_json profile(int calls);

  void bind(const Problem& problem, int batch);
  std::vector<KernelCounters> count_images(int images, int batch);
  void repeat_images(int images, int batch);
  Check run_and_check(const Problem& problem, double tolerance, double* call_ns);
  void call(const std::string& of);
  double timed_call(const std::string& of, bool cold);

  NvtxRange range_;
  std::string id_;
  RegisteredVariant variant_;  // a copy: what it came from may be a temporary
  const Workload& workload_;
  std::unique_ptr<Device> device_;
  DeviceBuffer input_;
  DeviceBuffer output_;
  std::unique_ptr<PreparedConv> prepared_;  // before the device and the buffers it uses are gone
};

}  // namespace convladder
