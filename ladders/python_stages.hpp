// Stages in Python. One with @launch lines holds kernels of Triton, Gluon, Numba, Warp, TileLang or CuTe DSL: the
// package compiles them to PTX once, without a driver and without a GPU, and a library in C++ holds that PTX as it does
// for a stage in PTX, so that no Python runs where calls are timed. One with a function `solve` runs on the CPU: a
// library in C++ has the interpreter beside it, in the process of the case.
//
// The interpreter is the one that the environment variable PYTHON names. Its packages are asked by a program in Python
// (python_stages/), which gets a request and leaves a result.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ladders/ladder_folder.hpp"
#include "ladders/launch_plan.hpp"

namespace convladder {

/// The answer of the program in Python.
struct PythonResult {
  std::string error = {};                ///< why the stage does not compile, in one line
  std::string missing = {};              ///< what is not installed, in one line
  std::vector<std::string> files = {};   ///< the files that the result depends on
  std::vector<PtxLaunch> launches = {};  ///< of a stage for GPUs, one for each @launch line
  std::string library = {};              ///< the interpreter as a library, for a stage on the CPU
  std::string home = {};                 ///< where that finds its own modules
  std::string prefix = {};               ///< the environment of its packages
  std::vector<std::string> path = {};    ///< where modules are found
  std::vector<std::pair<std::string, std::string>> modules = {};  ///< those beside the stage: names and files
};

/// All that the result depends on, besides the files that are read.
std::string python_request(const LadderFolder& folder, const StageSource& stage, const std::filesystem::path& source,
                           const std::string& python, const StageDefinitions& parameters);

/// Asks: runs the interpreter, confined as a compiler is. It writes in `scratch` only; the program in Python lies in
/// `cache`. Throws UserError where the cache cannot be written.
PythonResult compile_python(const std::string& request, const std::string& python,
                            const std::vector<std::filesystem::path>& readable, const std::filesystem::path& scratch,
                            const std::filesystem::path& cache);

/// The C++ source of a library whose `solve` calls that of a stage on the CPU. `text` is the stage's.
std::string python_call_source(const LadderProblem& problem, const std::filesystem::path& source,
                               const std::string& text, const StageDefinitions& parameters, const PythonResult& result);

}  // namespace convladder
