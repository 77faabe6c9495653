// The folder of a record that cannot be resumed.
#pragma once

#include <filesystem>

namespace convladder {

/// Creates the folder of `file`. Throws UserError if it cannot, or if the file is there already.
void create_record_folder(const std::filesystem::path& file);

}  // namespace convladder
