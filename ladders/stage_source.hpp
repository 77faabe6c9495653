// The description at the head of a stage's source. A stage is ordinary source: 03_shared_tiles.cu is rung 3,
// `shared-tiles`. In Python the head's lines begin with `#`.
//
//   // @title Tiles in shared memory
//   // @builds-on 02_coalesced
//   // @hypothesis each element is read once for a tile instead of once for a thread
//   // @parameter TILE 8 16 32
//   // @libraries cublas
//   // @requires mod(M, 128) == 0
//   // @target sm_90a
//   // @launch tiles grid(div(N + 31, 32), div(M + 7, 8)) block(32, 8) shared(4 * TILE * K) args(a, b, c, M, N, K)
//   //
//   // The description, as long as it needs to be.
//
// @launch is for a source with kernels and no `solve`: always in PTX, in CUDA C++ if one likes. In Python it says that
// the stage is one for GPUs. Several are launched in their order (launch_plan.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ladders/launch_line.hpp"

namespace convladder {

enum class StageLanguage : std::uint8_t { cpp, cuda, ptx, python };

/// The parameters that are compiled in, by name and value: -DTILE=16.
using StageDefinitions = std::vector<std::pair<std::string, int>>;

/// The architecture that GPU stages are compiled for where their head names none: every later GPU takes its PTX.
inline constexpr const char* kUsualTarget = "sm_80";

/// The words for the languages, which are the endings of files: "cpp", "cu", "ptx".
std::vector<std::string> stage_languages();
/// The language of that word; none for another word.
std::optional<StageLanguage> stage_language(std::string_view word);

/// A parameter that a sweep may choose: compiled in by -DNAME=value. The first value is taken where nobody chooses.
struct StageParameter {
  std::string name;
  std::vector<int> values;
};

struct StageSource {
  std::string file;  ///< its name in the folder
  StageLanguage language = StageLanguage::cpp;
  int rung = 0;  ///< 0: beside the ladder, as libraries are
  std::string name;
  std::string title;       ///< its name with spaces where the head has none
  std::string builds_on;   ///< the name of a stage; empty for the one below
  std::string hypothesis;  ///< empty if there is none
  std::vector<StageParameter> parameters;
  std::vector<std::string> libraries;  ///< the libraries that it is linked with: "cublas" for -lcublas
  std::vector<std::string> needs;      ///< expressions of the dimensions; all are nonzero for a size that it can run
  std::vector<StageLaunch> launches;   ///< the launches that replace a call of `solve`; empty where that is called
  std::string target = kUsualTarget;   ///< the architecture that it is compiled for: "sm_90a"
  std::string description;             ///< the rest of the comment, without its marks

  /// The family of devices that it runs on: "cpu", "cuda".
  const char* family() const { return is_cuda() ? "cuda" : "cpu"; }
  /// Whether it is on the CUDA ladder. A stage in Python is where it has kernels to launch.
  bool is_cuda() const {
    return language == StageLanguage::python ? !launches.empty() : language != StageLanguage::cpp;
  }
};

/// Whether a file of this name is a stage: "01_naive.cu", "library_openblas.cpp".
bool is_stage_name(std::string_view file);
/// Whether a file is meant as a stage, even under a wrong name: "02-tiles.cu". `parse_stage` says how to name it.
bool is_meant_as_stage(std::string_view file);

/// Reads the comment that the text begins with. Throws UserError "PLACE:line: what", for example for an unknown @word.
StageSource parse_stage(std::string_view text, const std::string& file, const std::string& place);

}  // namespace convladder
