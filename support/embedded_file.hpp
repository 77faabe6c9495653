// A file built into the program by cmake/EmbedFiles.cmake.
#pragma once

#include <string>
#include <vector>

namespace convladder {

struct EmbeddedFile {
  std::string name;  ///< base name, "lenet28.json"
  std::string content;
};

}  // namespace convladder
