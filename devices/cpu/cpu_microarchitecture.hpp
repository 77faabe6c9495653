// What the processor's cores are called: what the best tile sizes go by.
#pragma once

#include <string>
#include <string_view>

namespace convladder {

/// "zen5", "sapphire-rapids", … of this machine; where the name is not known here vendor, family and model:
/// "amd-23-1", "intel-6-85", "unknown" where the system does not say. Cores of the same design have one name, whatever
/// their clock and caches.
std::string cpu_microarchitecture();

/// Whether it has AVX-512 on units of 256 bits, so that a vector of 512 takes as long as two of 256: only the lanes
/// that are in use count. From AMD's and Intel's optimization guides; `cpu_limits` shows it as two rates of
/// multiply-adds that are nearly the same.
bool halves_wide_vectors(std::string_view microarchitecture);

/// The same of a processor as CPUID tells it: vendor "AuthenticAMD" or "GenuineIntel", family and model with their
/// extensions added. The numbers are those of Linux (arch/x86/include/asm/intel-family.h, arch/x86/kernel/cpu/amd.c).
std::string microarchitecture_name(std::string_view vendor, int family, int model);

}  // namespace convladder
