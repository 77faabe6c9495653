#include "cudnn_settings.hpp"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

namespace library_of_tests {
namespace {

const nlohmann::json& settings() {
  static const nlohmann::json of_cudnn = [] {
    const char* const text = std::getenv("CONVLADDER_TEST_LIBRARIES");
    return (text == nullptr ? nlohmann::json::object() : nlohmann::json::parse(text))
        .value("cudnn", nlohmann::json::object());
  }();
  return of_cudnn;
}

Way changed(Way way, const nlohmann::json& by) {
  way.passes = by.value("passes", way.passes);
  way.error = by.value("error", way.error);
  way.workspace = by.value("workspace", way.workspace);
  way.status = static_cast<cudnnStatus_t>(by.value("status", static_cast<int>(way.status)));
  way.size_status = static_cast<cudnnStatus_t>(by.value("size_status", static_cast<int>(way.size_status)));
  return way;
}

std::string algorithm_name(cudnnConvolutionFwdAlgo_t algorithm) {
  switch (algorithm) {
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM:
      return "IMPLICIT_GEMM";
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM:
      return "IMPLICIT_PRECOMP_GEMM";
    case CUDNN_CONVOLUTION_FWD_ALGO_GEMM:
      return "GEMM";
    case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED:
      return "WINOGRAD_NONFUSED";
    default:
      return "other";
  }
}

std::string math_name(cudnnMathType_t math) {
  if (math == CUDNN_FMA_MATH) return "FMA math";
  return math == CUDNN_TENSOR_OP_MATH ? "tensor op math" : "default math";
}

}  // namespace

Way algorithm(cudnnConvolutionFwdAlgo_t algorithm, cudnnMathType_t math, const Way& standard) {
  const nlohmann::json all = settings().value("algorithms", nlohmann::json::object());
  const std::string name = algorithm_name(algorithm);
  const std::string with_math = name + " in " + math_name(math);
  if (all.contains(with_math)) return changed(standard, all.at(with_math));
  return all.contains(name) ? changed(standard, all.at(name)) : standard;
}

const std::vector<Engine>& engines() {
  static const std::vector<Engine> all = [] {
    std::vector<Engine> made;
    for (const nlohmann::json& one : settings().value("engines", nlohmann::json::array())) {
      made.push_back({one.at("index"), one.value("tile", std::int64_t{0}), one.value("notes", std::vector<int>()),
                      one.value("modes", std::vector<int>{CUDNN_HEUR_MODE_A}), changed({}, one)});
    }
    return made;
  }();
  return all;
}

}  // namespace library_of_tests
