#include "harness/commands/command.hpp"

#include <fmt/format.h>

#include <string_view>
#include <tuple>

#include "support/registry.hpp"

namespace convladder {
namespace {

auto place_in_order(const CommandInfo& command) { return std::tuple(command.group, std::string_view(command.name)); }

Registry<CommandInfo>& all_commands() {
  static Registry<CommandInfo> commands(
      {.before = [](const CommandInfo& a, const CommandInfo& b) { return place_in_order(a) < place_in_order(b); },
       .identity = [](const CommandInfo& one) { return fmt::format("command '{}'", one.name); }});
  return commands;
}

}  // namespace

CommandRegistration::CommandRegistration(const CommandInfo& command) { all_commands().add(command); }

const std::vector<CommandInfo>& registered_commands() { return all_commands().all(); }

}  // namespace convladder
