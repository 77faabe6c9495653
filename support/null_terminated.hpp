// Texts in the form that C takes: argv, environ.
#pragma once

#include <string>
#include <vector>

namespace convladder {

/// The beginning of each text, and a null pointer at the end. Valid while the texts exist and do not change.
inline std::vector<char*> null_terminated(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace convladder
