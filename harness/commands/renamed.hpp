// Names of earlier versions: each is answered with one line that says today's.
#pragma once

#include <string>
#include <string_view>

namespace convladder {

/// "'env' is now 'list --machine'"; empty if no command was called so.
std::string renamed_command(std::string_view command);

/// The same for an option of a command as it is called today; `option` without a value.
std::string renamed_option(std::string_view command, std::string_view option);

}  // namespace convladder
