// ONNX Runtime as a library: what it says of a model that it cannot run, and of a tensor of the wrong size. That it is
// right is found by the tests of all CPU variants. Skipped where CONVLADDER_ONNXRUNTIME names no library and none is
// found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "devices/cpu/other_threads.hpp"
#include "devices/device_error.hpp"
#include "variants/convolution/cpu/libraries/onnx_model.hpp"
#include "variants/convolution/cpu/libraries/onnxruntime_library.hpp"

namespace convladder {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class OnnxRuntimeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!onnxruntime_library().missing.empty()) GTEST_SKIP() << onnxruntime_library().missing;
  }
};

/// y = relu(x) for two numbers.
std::string model_of(std::string_view operation) {
  OnnxModel model;
  model.add_input("x", {2});
  model.add_node(operation, {"x"}, "y", {});
  model.add_output("y", {2});
  return model.bytes();
}

TEST_F(OnnxRuntimeTest, RunsAModelOnTheCallersMemory) {
  float input[] = {-1.5F, 2.5F};
  float output[] = {7, 7};
  OnnxRuntimeSession session(model_of("Relu"), 2, {"x", {2}, input}, {"y", {2}, output});
  session.run();
  EXPECT_THAT(output, testing::ElementsAre(0, 2.5F));
  input[0] = 3;
  session.run();
  EXPECT_THAT(output, testing::ElementsAre(3, 2.5F)) << "what is there now";
}

TEST_F(OnnxRuntimeTest, SaysWhatItHasAgainstAModel) {
  float numbers[2] = {};
  const auto session = [&](const std::string& model) {
    OnnxRuntimeSession(model, 1, {"x", {2}, numbers}, {"y", {2}, numbers});
  };
  EXPECT_THAT([&] { session(model_of("NoSuchOperator")); },
              ThrowsMessage<DeviceError>(HasSubstr("ONNX Runtime's CreateSessionFromArray: ")));
  EXPECT_THAT([&] { session("no model"); }, ThrowsMessage<DeviceError>(HasSubstr("CreateSessionFromArray: ")));
}

TEST_F(OnnxRuntimeTest, SaysWhatItHasAgainstATensor) {
  float numbers[3] = {};
  OnnxRuntimeSession session(model_of("Relu"), 1, {"x", {3}, numbers}, {"y", {3}, numbers});
  EXPECT_THAT([&] { session.run(); }, ThrowsMessage<DeviceError>(HasSubstr("ONNX Runtime's Run: ")));
}

}  // namespace
}  // namespace convladder
