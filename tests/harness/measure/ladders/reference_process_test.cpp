#include "harness/measure/ladders/reference_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/errors.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

using testing::HasSubstr;

constexpr const char* kProblem = R"({
  "name": "rows", "dimensions": {"R": {"name": "rows"}, "C": {"name": "columns"}},
  "tensors": [
    {"name": "x", "role": "in", "type": "f32", "shape": ["R", "C"]},
    {"name": "y", "role": "out", "type": "f32", "shape": ["R"], "compare": {"tolerance": 1e-3}}],
  "scalars": [{"name": "scale", "type": "f32", "value": "1 / 3"}],
  "sizes": ["R3C5"], "work": {"flop": "R * C"}})";

/// A reference.py, asked for rows of one and two.
class ReferenceProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) GTEST_SKIP() << "no NumPy";
  }

  std::vector<ReferenceOutput> ask(const std::string& text) {
    const std::filesystem::path file = std::filesystem::path(folder_.path()) / "reference.py";
    std::ofstream(file) << text;
    problem_.set_reference(reference_process(file, "reference.py", folder_.path()), "Python");
    const ProblemSize size = parse_size(problem_, "R2C3");
    std::vector<float> x{1, 2, 3, 4, 5, 6};
    ProblemTensors item;
    item.inputs = {{problem_.inputs(size)[0], x.data()}};
    return problem_.reference(size, item);
  }
  std::string error_of(const std::string& text) {
    try {
      ask(text);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  FolderProblem problem_{kProblem, "problem.json"};
};

TEST_F(ReferenceProcessTest, TakesWhatPythonReturns) {
  for (const char* const returned :
       {"x.sum(axis=1) * scale, abs(x).sum(axis=1)", "{'y': x.sum(axis=1) * scale}", "x.sum(axis=1) * scale"}) {
    const std::vector<ReferenceOutput> outputs =
        ask(std::string("def reference(x, scale, R, C):\n  assert x.shape == (R, C)\n  return ") + returned + "\n");
    ASSERT_EQ(outputs.size(), 1U);
    EXPECT_DOUBLE_EQ(outputs[0].value[0], 6 * double{1.0F / 3}) << returned;
    EXPECT_DOUBLE_EQ(outputs[0].value[1], 15 * double{1.0F / 3}) << returned;
    EXPECT_GT(outputs[0].magnitude[0], 1);
  }
}

TEST_F(ReferenceProcessTest, SaysInOneLineWhatIsWrong) {
  EXPECT_THAT(error_of("def reference(x, scale, R, C):\n  return x\n"),
              HasSubstr("reference.py: WrongReference: 'y' has the shape (2, 3), not (2,)"));
  EXPECT_THAT(error_of("def reference(x, scale, R, C):\n  return 1 / 0\n"), HasSubstr("division by zero (line 2)"));
  EXPECT_THAT(error_of("def reference(x):\n  return x\n"), HasSubstr("unexpected keyword argument"));
  EXPECT_THAT(error_of("def other():\n  pass\n"), HasSubstr("does not define a function reference"));
  EXPECT_THAT(error_of("import os\nos._exit(3)\n"), HasSubstr("ended with exit code 3"));
  EXPECT_THAT(error_of("def reference(x, scale, R, C):\n  return {'z': x}\n"), HasSubstr("'z', which is none of y"));
  EXPECT_THAT(error_of("syntax error"), HasSubstr("SyntaxError"));
}

}  // namespace
}  // namespace convladder
