#include "simulator/state/block_context.hpp"

#include <utility>

namespace convladder::simulated {

InstructionCounters& InstructionCounters::operator+=(const InstructionCounters& other) {
  warps += other.warps;
  lanes += other.lanes;
  divergent_branches += other.divergent_branches;
  requests += other.requests;
  sectors += other.sectors;
  wavefronts += other.wavefronts;
  ideal_wavefronts += other.ideal_wavefronts;
  bytes += other.bytes;
  return *this;
}

InstructionCounters& InstructionCounters::operator*=(std::uint64_t times) {
  for (std::uint64_t* const count :
       {&warps, &lanes, &divergent_branches, &requests, &sectors, &wavefronts, &ideal_wavefronts, &bytes}) {
    *count *= times;
  }
  return *this;
}

Finding finding_of(const Program& program, int instruction) {
  const ptx::Instruction& found = program.kernel->instructions[static_cast<std::size_t>(instruction)];
  Finding finding;
  finding.kernel = program.kernel->name;
  finding.opcode = found.opcode;
  finding.ptx_line = found.position.line;
  if (const std::vector<SourcePlace> places = places_of(*program.module, found.source); !places.empty()) {
    finding.source_file = places[0].file;
    finding.source_line = places[0].line;
    finding.callers.assign(places.begin() + 1, places.end());
  }
  return finding;
}

Finding BlockContext::finding_at(const WarpState& warp, const Operation& operation, int lane, Checker checker,
                                 std::string problem) const {
  const unsigned thread = static_cast<unsigned>(warp.index) * kLanes + static_cast<unsigned>(lane);
  Finding finding = finding_of(*program, operation.instruction);
  finding.checker = checker;
  finding.problem = std::move(problem);
  finding.block = block_index;
  finding.thread = {thread % block_size.x, thread / block_size.x % block_size.y,
                    thread / (block_size.x * block_size.y)};
  finding.count = 1;
  return finding;
}

}  // namespace convladder::simulated
