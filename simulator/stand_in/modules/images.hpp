// What programs load at run time: PTX as text, fat binaries, and what cannot be run.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace convladder::stand_in {

/// As nvcc lays it out beside the fat binary that it is about.
struct FatBinaryWrapper {
  static constexpr unsigned kMagic = 0x466243B1;
  unsigned magic;
  unsigned version;
  const void* data;
  const void* linked;
};

/// The PTX of an image that a program has given the address of, for a GPU of that architecture. Throws Failure with
/// what helps: no PTX in it, or no image at all. Nobody says how long an image is: text ends with a zero, and the
/// others say it themselves.
std::string ptx_of_image(const void* image, int architecture);

/// The same where its length is known.
std::string ptx_of_bytes(std::span<const std::byte> bytes, int architecture);

/// The same of a file. Throws Failure: not found, or as above.
std::string ptx_of_file(const char* path, int architecture);

/// One text of several PTX texts, as a linker would make it: what one declares and another defines is there once, and
/// names that only their text knows become different ones. The version and target are those of the first. Throws
/// Failure if two define the same.
std::string joined_ptx(const std::vector<std::string>& texts);

}  // namespace convladder::stand_in
