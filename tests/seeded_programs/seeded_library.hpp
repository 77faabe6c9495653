// A shared library of the program, which allocates memory and launches a kernel of its own.
#pragma once
#include <cstddef>

namespace seeded_library {

float* allocate(std::size_t bytes);
void run();

}  // namespace seeded_library
