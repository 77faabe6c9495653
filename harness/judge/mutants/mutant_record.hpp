// The record of mutants: results/mutants.schema.json. It is written after every mutant, and read to go on with it.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/mutants/tried_mutant.hpp"
#include "support/report.hpp"

namespace convladder {

struct MutantRecord {
  std::string what;      ///< "./program 64"; the ladder and its sizes
  std::string material;  ///< a hash of all that the verdicts come from: ProgramTest::material; a ladder's files
  std::string version;   ///< of convladder
  std::vector<TriedMutant> mutants;

  static void each_field(auto&& field, auto& its) {
    field("what", its.what, "material", its.material, "convladder", its.version, "mutants", its.mutants);
  }
  std::size_t count(MutantVerdict verdict) const;
};

/// A hash of the contents of those of the paths that are files.
std::string hash_of_files(const std::vector<std::string>& paths);

std::string mutant_record_json(const MutantRecord& record);
/// Takes over the verdicts of a file, if there is one, on the same mutants. Returns their number. Throws UserError for
/// a file that is no such record, or of something else.
std::size_t take_known_verdicts(const std::string& file, MutantRecord& record);

/// Lists the mutants that the test accepts, with the lines; `shows_all` also lists what it rejects.
Report mutant_report(const MutantRecord& record, bool shows_all);

}  // namespace convladder
