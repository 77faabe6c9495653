// Functions that were different in CUDA 12 or 11. They are only in the library of that name, which the dynamic linker
// searches before the one with all the others.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

/// Placed after a declaration: the symbol that older programs ask for, whose name today's headers give to another
/// function.
#define CONVLADDER_SYMBOL(name) __asm__(#name)

/// Declares today's function as `today_NAME`: here the plain name is the older function's.
#define CONVLADDER_TODAY(name) extern "C" decltype(name) today_##name __asm__("convladder_stand_in_" #name)

/// Answers cudaErrorNotSupported; the report names the call.
extern "C" int convladder_stand_in_refuse(const char* name) noexcept;
