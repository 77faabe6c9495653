// NVIDIA's nvJitLink, where this machine has one: it compiles LTO-IR, without a GPU.
#pragma once

#include <string>
#include <vector>

namespace convladder::stand_in::nvjitlink {

struct Compiled {
  bool succeeded = false;
  std::string text;  ///< the PTX, or why there is none
};

/// Compiles LTO-IR to one PTX text, with the options of nvJitLinkCreate.
Compiled compile(const std::vector<std::string>& options, const std::vector<std::string>& intermediates);

/// That of the real library; 13.0 where there is none.
void version(unsigned& major, unsigned& minor);

}  // namespace convladder::stand_in::nvjitlink
