// Mutants of the CUDA stages of ladders, with this program's own verification and checkers as the test.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "harness/judge/mutants/tried_mutant.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/simulation/check_cases.hpp"

namespace convladder {

/// A case that did not pass without any mutant, or could not run, and why.
struct LeftOutCase {
  std::string id;
  std::string reason;
};

/// The cases of `check`, as tests of their kernels.
class LadderTest {
 public:
  /// Checks all cases as they are. `groups` must outlive it.
  LadderTest(const std::vector<CaseGroup>& groups, const CheckSettings& check, const MutantSettings& settings);

  /// The mutants of all cases that pass.
  std::vector<TriedMutant> mutants() const { return mutants_; }
  const std::vector<LeftOutCase>& left_out() const { return left_out_; }
  /// Checks a case with one of its mutants.
  void run(TriedMutant& one, const MutantSettings& settings) const;

 private:
  struct Place {
    std::size_t group = 0;
    std::size_t index = 0;
    std::string host_reads;  ///< without any mutant
    double seconds = 0;      ///< the same, all launches listed
  };
  CheckSettings check_;
  std::deque<CheckedGroup> groups_;      ///< where they are made: data of a case stay in place
  std::map<std::string, Place> places_;  ///< by TriedMutant::of
  std::vector<TriedMutant> mutants_;
  std::vector<LeftOutCase> left_out_;
};

}  // namespace convladder
