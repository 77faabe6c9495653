// Kernels of which every thread reads words of its own and writes words of its own.
#pragma once

#include <string>
#include <vector>

#include "simulator/ptx_kernels.hpp"

namespace convladder::simulated {

using Words = std::vector<std::uint32_t>;

/// In the body: %r1 = %tid.x, %rd4 = where the thread's `out_words` results go, %rd5 = where its `in_words` values are,
/// %rd1 and %rd2 = the begins of both; further registers %r2 to %r39, %rd6 to %rd19, %f0 to %f39, %p1 to %p8.
struct LaneKernel {
  LaneKernel(const std::string& body, const Words& input, std::size_t out_words_in_all, int in_words = 1,
             int out_words = 1)
      : run(kernel_text(".param .u64 out, .param .u64 in",
                        ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<40>;\n"
                        "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];\n"
                        "mul.wide.u32 %rd3, %r1, " +
                            std::to_string(4 * out_words) + "; add.s64 %rd4, %rd1, %rd3;\nmul.wide.u32 %rd3, %r1, " +
                            std::to_string(4 * in_words) + "; add.s64 %rd5, %rd2, %rd3;\n" + body)),
        out_count(out_words_in_all) {
    out = run.array(Words(out_count, 0xffffffffU), "out");
    in = run.array(input, "in");
    run.set(0, out);
    run.set(1, in);
  }
  LaunchResult launch(unsigned threads = 32, std::uint32_t shared_bytes = 0) {
    return run.launch({1}, {threads}, shared_bytes);
  }
  Words result() const { return run.read<std::uint32_t>(out, out_count); }
  Words results(unsigned threads = 32, std::uint32_t shared_bytes = 0) {
    launch(threads, shared_bytes);
    return result();
  }
  /// The message of the fault that ends the launch.
  std::string fault(unsigned threads = 32, std::uint32_t shared_bytes = 0) {
    try {
      launch(threads, shared_bytes);
    } catch (const KernelFault& fault) {
      return fault.what();
    }
    return "no fault";
  }
  /// The findings of a launch that goes on behind them.
  std::vector<Finding> findings(unsigned threads = 32, std::uint32_t shared_bytes = 0) {
    LaunchConfiguration configuration;
    configuration.block = {threads};
    configuration.dynamic_shared_bytes = shared_bytes;
    configuration.collect_findings = true;
    return run.launch(configuration).findings.findings();
  }

  KernelRun run;
  std::size_t out_count;
  std::uint64_t out = 0;
  std::uint64_t in = 0;
};

/// Numbers without a pattern.
inline Words noise(std::size_t count) {
  Words values(count);
  std::uint32_t state = 12345;
  for (std::uint32_t& value : values) value = state = state * 1664525U + 1013904223U;
  return values;
}

}  // namespace convladder::simulated
