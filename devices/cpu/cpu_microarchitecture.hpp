// The name of the processor's cores, by which the best tile sizes are chosen.
#pragma once

#include <string>
#include <string_view>

namespace convladder {

/// The name of this machine's cores: "zen5", "sapphire-rapids", …; where it is not known here, vendor, family and model
/// ("amd-23-1", "intel-6-85"); "unknown" where the system does not say. Cores of the same design have one name,
/// whatever their clock and caches.
std::string cpu_microarchitecture();

/// Whether the cores carry out AVX-512 on units of 256 bits, so that a vector of 512 takes as long as two of 256 and
/// only the lanes in use count. From AMD's and Intel's optimization guides; `cpu_limits` shows it as two nearly equal
/// rates of multiply-adds.
bool halves_wide_vectors(std::string_view microarchitecture);

/// The name of a processor's cores by what CPUID reports: vendor "AuthenticAMD" or "GenuineIntel", family and model
/// with their extensions added. The numbers are those of Linux (arch/x86/include/asm/intel-family.h,
/// arch/x86/kernel/cpu/amd.c).
std::string microarchitecture_name(std::string_view vendor, int family, int model);

}  // namespace convladder
