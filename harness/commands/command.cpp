#include "harness/commands/command.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace convladder {
namespace {

/// Filled while the program is loaded, in whatever order the linker chose.
std::vector<CommandInfo>& all_commands() {
  static std::vector<CommandInfo> commands;
  return commands;
}

}  // namespace

CommandRegistration::CommandRegistration(const CommandInfo& command) { all_commands().push_back(command); }

std::vector<CommandInfo> registered_commands() {
  std::vector<CommandInfo> commands = all_commands();
  std::ranges::sort(commands, [](const CommandInfo& a, const CommandInfo& b) {
    return std::make_tuple(a.group, std::string_view(a.name)) < std::make_tuple(b.group, std::string_view(b.name));
  });
  return commands;
}

}  // namespace convladder
