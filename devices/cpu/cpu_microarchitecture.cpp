#include "devices/cpu/cpu_microarchitecture.hpp"

#include <fmt/format.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <array>
#include <cstring>

namespace convladder {
namespace {

/// Models from `first` to `last`.
struct Models {
  int family;
  int first;
  int last;
  const char* name;
};

constexpr Models kAmd[] = {{23, 0x00, 0x2f, "zen"},  {23, 0x30, 0xff, "zen2"}, {25, 0x00, 0x0f, "zen3"},
                           {25, 0x10, 0x1f, "zen4"}, {25, 0x20, 0x5f, "zen3"}, {25, 0x60, 0xaf, "zen4"},
                           {26, 0x00, 0x4f, "zen5"}, {26, 0x60, 0x7f, "zen5"}};

/// Cores that differ in nothing that matters to a kernel have one name: Cascade Lake has Skylake's, and Emerald Rapids
/// that of Sapphire Rapids, whose cache is smaller.
constexpr Models kIntel[] = {
    {6, 0x3c, 0x3c, "haswell"},         {6, 0x3f, 0x3f, "haswell"},         {6, 0x45, 0x46, "haswell"},
    {6, 0x3d, 0x3d, "broadwell"},       {6, 0x47, 0x47, "broadwell"},       {6, 0x4f, 0x4f, "broadwell"},
    {6, 0x56, 0x56, "broadwell"},       {6, 0x4e, 0x4e, "skylake"},         {6, 0x5e, 0x5e, "skylake"},
    {6, 0x8e, 0x8e, "skylake"},         {6, 0x9e, 0x9e, "skylake"},         {6, 0x55, 0x55, "skylake-server"},
    {6, 0x6a, 0x6a, "ice-lake-server"}, {6, 0x6c, 0x6c, "ice-lake-server"}, {6, 0x7d, 0x7e, "ice-lake"},
    {6, 0x8c, 0x8d, "tiger-lake"},      {6, 0x8f, 0x8f, "sapphire-rapids"}, {6, 0xcf, 0xcf, "sapphire-rapids"},
    {6, 0x97, 0x97, "alder-lake"},      {6, 0x9a, 0x9a, "alder-lake"},      {6, 0xad, 0xae, "granite-rapids"},
    {6, 0xb7, 0xb7, "alder-lake"},      {6, 0xba, 0xba, "alder-lake"},      {6, 0xbf, 0xbf, "alder-lake"}};

template <std::size_t count>
std::string name_among(const Models (&known)[count], const char* vendor, int family, int model) {
  for (const Models& models : known) {
    if (models.family == family && models.first <= model && model <= models.last) return models.name;
  }
  return fmt::format("{}-{}-{}", vendor, family, model);
}

}  // namespace

std::string microarchitecture_name(std::string_view vendor, int family, int model) {
  if (vendor == "AuthenticAMD") return name_among(kAmd, "amd", family, model);
  if (vendor == "GenuineIntel") return name_among(kIntel, "intel", family, model);
  return "unknown";
}

bool halves_wide_vectors(std::string_view microarchitecture) { return microarchitecture == "zen4"; }

std::string cpu_microarchitecture() {
#ifdef __x86_64__
  unsigned most = 0;
  std::array<unsigned, 3> name{};
  unsigned version = 0;
  unsigned rest[3];
  if (__get_cpuid(0, &most, name.data(), &name[2], &name[1]) == 0 || most < 1) return "unknown";
  if (__get_cpuid(1, &version, &rest[0], &rest[1], &rest[2]) == 0) return "unknown";
  char vendor[sizeof name];
  std::memcpy(vendor, name.data(), sizeof name);
  // Intel's and AMD's manuals: the extended family is added to a family of 15, the extended model to families 6 and 15.
  const unsigned base_family = version >> 8 & 0xf;
  const unsigned family = base_family + (base_family == 0xf ? version >> 20 & 0xff : 0);
  const unsigned extended = base_family == 0xf || base_family == 0x6 ? version >> 16 & 0xf : 0;
  const unsigned model = (version >> 4 & 0xf) | extended << 4;
  return microarchitecture_name({vendor, sizeof vendor}, static_cast<int>(family), static_cast<int>(model));
#else
  return "unknown";
#endif
}

}  // namespace convladder
