// Files of kernels, looked at without running anything: what is wrong in them, and what costs time for no use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "harness/measure/simulation/cuda_source.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "simulator/lints/lint.hpp"
#include "support/report.hpp"
#include "support/text_pattern.hpp"

namespace convladder {

/// Facts about the launches of all kernels, and which kernels are looked at.
struct LintOptions {
  CudaCompiler compiler;
  std::optional<Dim3> block;
  std::optional<std::uint64_t> dynamic_bytes;
  const GpuFacts* gpu = nullptr;
  TextPattern kernels;  ///< names as they are written
};

struct LintedFile {
  std::string file;
  std::string registers_of;  ///< the architecture whose registers are known, "sm_90"; empty: none
  std::vector<simulated::LintedKernel> kernels;

  std::uint64_t count(simulated::Severity severity) const;
};

/// Throws UserError, or ptx::PtxError for PTX that cannot be read.
LintedFile lint_file(const std::string& file, const LintOptions& options);

/// A table for each kernel; `verbose`: also those in which nothing was found.
Report lint_report(const std::vector<LintedFile>& files, bool verbose);
/// The "kind" of the JSON.
inline constexpr const char* kLintsKind = "lints";
std::string lints_json(const std::vector<LintedFile>& files);

}  // namespace convladder
