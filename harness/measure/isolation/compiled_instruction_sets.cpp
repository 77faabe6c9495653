// Defines nothing but a number, so that this file contains no instruction that the processor may lack.
#include "harness/measure/isolation/instruction_sets.hpp"

#include <string_view>

namespace convladder {
namespace {

#define CONVLADDER_TEXT(x) #x
#define CONVLADDER_BIT(name, macro, builtin) \
  bits |= (std::string_view(CONVLADDER_TEXT(macro)) == "1" ? bit : 0), bit <<= 1;

constexpr std::uint32_t compiled() {
  std::uint32_t bits = 0;
  std::uint32_t bit = 1;
  CONVLADDER_INSTRUCTION_SETS(CONVLADDER_BIT)
  return bits;
}

}  // namespace

constinit const std::uint32_t kCompiledInstructionSets = compiled();

}  // namespace convladder
