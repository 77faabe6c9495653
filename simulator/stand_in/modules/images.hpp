// Images that programs load at run time: PTX as text, fat binaries, and images that cannot be run.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace convladder::stand_in {

/// The structure that nvcc puts beside a fat binary, which it describes.
struct FatBinaryWrapper {
  static constexpr unsigned kMagic = 0x466243B1;
  unsigned magic;
  unsigned version;
  const void* data;
  const void* linked;
};

/// The PTX of an image given by its address, for a GPU of that architecture. Throws Failure, with a remedy, if it has
/// no PTX or is no image at all. The length of an image is not given: text ends with a zero, and other images contain
/// their length.
std::string ptx_of_image(const void* image, int architecture);

/// The PTX of an image whose length is known.
std::string ptx_of_bytes(std::span<const std::byte> bytes, int architecture);

/// The PTX of an image in a file. Throws Failure if the file is not found, or for the same reasons as `ptx_of_image`.
std::string ptx_of_file(const char* path, int architecture);

/// Joins several PTX texts into one, as a linker would: anything that one declares and another defines occurs once, and
/// names that only their own text knows are made different. The version and target are those of the first. Throws
/// Failure if two texts define the same name.
std::string joined_ptx(const std::vector<std::string>& texts);

/// Joins them, and makes sure that the result is a whole module: throws Failure as both of these do.
std::string linked_ptx(const std::vector<std::string>& texts);

/// Throws Failure if the module uses variables or functions that it does not define: a linker's errors, a line for
/// each.
void require_all_defined(const ptx::Module& module);

}  // namespace convladder::stand_in
