#include "devices/simulated/execution/block_context.hpp"

#include <fmt/format.h>

namespace convladder::simulated {

InstructionCounters& InstructionCounters::operator+=(const InstructionCounters& other) {
  warps += other.warps;
  lanes += other.lanes;
  divergent_branches += other.divergent_branches;
  requests += other.requests;
  sectors += other.sectors;
  wavefronts += other.wavefronts;
  bytes += other.bytes;
  return *this;
}

void BlockContext::fault(const WarpState& warp, const Operation& operation, int lane, const std::string& what) const {
  const ptx::Instruction& instruction = program->kernel->instructions[operation.instruction];
  const unsigned thread = static_cast<unsigned>(warp.index) * kLanes + static_cast<unsigned>(lane);
  std::string source;
  if (instruction.source.line > 0) {
    const std::string path = program->module->source_name(instruction.source.file);
    source = fmt::format(", {} line {}", path.substr(path.find_last_of('/') + 1), instruction.source.line);
  }
  throw KernelFault(fmt::format("{}: '{}' in {}, PTX line {}{}, block ({}, {}, {}), thread ({}, {}, {})", what,
                                instruction.opcode, program->kernel->name, instruction.position.line, source,
                                block_index.x, block_index.y, block_index.z, thread % block_size.x,
                                thread / block_size.x % block_size.y, thread / (block_size.x * block_size.y)));
}

}  // namespace convladder::simulated
