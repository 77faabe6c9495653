#include "harness/measure/cases/google_engine.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <exception>

#include "support/errors.hpp"

namespace convladder {
namespace {

/// Keeps the result instead of printing it.
class Capture final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      nanoseconds_per_call_ = run.real_accumulated_time * 1e9 / static_cast<double>(run.iterations);
    }
  }
  double nanoseconds_per_call() const { return nanoseconds_per_call_; }

 private:
  double nanoseconds_per_call_ = 0;
};

}  // namespace

void initialize_google_benchmark(const std::vector<std::string>& flags) {
  // Google Benchmark keeps the address of the program's name, and reports it.
  static std::vector<std::string> storage;
  storage = {"convladder"};
  storage.insert(storage.end(), flags.begin(), flags.end());
  std::vector<char*> arguments;
  for (std::string& text : storage) arguments.push_back(text.data());
  auto count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) throw UserError(fmt::format("Google Benchmark does not know '{}'", arguments[1]));
}

double google_benchmark_sample(const std::string& name, int iterations, const std::function<double()>& timed_call) {
  // Google Benchmark is not built to be unwound through: an exception is carried around it.
  std::exception_ptr error;
  const auto body = [&](benchmark::State& state) {
    for (auto _ : state) {
      if (error) break;
      try {
        state.SetIterationTime(timed_call() * 1e-9);
      } catch (...) {
        error = std::current_exception();
        state.SkipWithError("failed");
      }
    }
  };
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(name.c_str(), body)->Iterations(iterations)->UseManualTime();
  Capture capture;
  benchmark::RunSpecifiedBenchmarks(&capture, nullptr, "all");
  if (error) std::rethrow_exception(error);
  return capture.nanoseconds_per_call();
}

}  // namespace convladder
