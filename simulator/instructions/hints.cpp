// Instructions that inform the hardware and change no value: registers that a warp gives back or asks for, the order
// of launches, events of a profiler (PTX ISA 9.0, 9.7.13.13 griddepcontrol, 9.7.19.5 setmaxnreg, 9.7.19.3 pmevent).
// Here a launch begins when the one before has ended, and registers cost nothing.

#include <algorithm>

#include "simulator/instructions/instruction_decoder.hpp"

namespace convladder::simulated {
namespace {

struct Hint {
  std::string_view opcode;
  std::size_t operands;
};
constexpr Hint kHints[] = {
    {"griddepcontrol.launch_dependents", 0},
    {"griddepcontrol.wait", 0},
    {"setmaxnreg.inc.sync.aligned.u32", 1},
    {"setmaxnreg.dec.sync.aligned.u32", 1},
    {"pmevent", 1},
    {"pmevent.mask", 1},
};

void change_nothing(WarpState& /*warp*/, const Operation& /*operation*/) {}

}  // namespace

bool decode_hint(InstructionDecoder& decoder) {
  const auto* const hint = std::ranges::find(kHints, decoder.instruction().opcode, &Hint::opcode);
  if (hint == std::end(kHints)) return false;
  decoder.expect_operands(hint->operands);
  decoder.emit(change_nothing, {});
  return true;
}

}  // namespace convladder::simulated
