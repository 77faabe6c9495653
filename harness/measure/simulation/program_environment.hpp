// The environment in which a program finds the stand-in: for a program that is started here, and for a shell.
#pragma once

#include <string>
#include <vector>

#include "simulator/stand_in/settings.hpp"

namespace convladder {

/// How a variable gets its value.
enum class Setting {
  set,         ///< whatever it was
  in_front,    ///< of a list with colons
  in_list,     ///< as in_front, but once: LD_AUDIT loads twice what it names twice, and has room for a dozen
  unless_set,  ///< what the user has set stays
};

struct ProgramVariable {
  std::string name;
  std::string value;
  Setting setting = Setting::set;
};

/// The variables with which the dynamic linker finds the stand-in, the stand-in its settings, and Python and what is
/// written in it the places that are prepared for them (docs/use/python.md). Throws UserError without a stand-in.
std::vector<ProgramVariable> program_variables(const stand_in::Settings& settings);

/// Our environment with these variables: "NAME=value".
std::vector<std::string> environment_with(const std::vector<ProgramVariable>& variables);

/// The lines that a shell evaluates to have them.
std::string shell_text(const std::vector<ProgramVariable>& variables);

}  // namespace convladder
