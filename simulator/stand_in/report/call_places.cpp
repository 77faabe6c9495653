#include "simulator/stand_in/report/call_places.hpp"

#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/stand_in/python.hpp"

namespace convladder::stand_in {
namespace {

constexpr std::size_t kMostPlaces = 8;

/// The path of this program, which is valid in any folder.
const std::string& own_program() {
  static const std::string path = [] {
    std::array<char, PATH_MAX> buffer{};
    const ssize_t length = readlink("/proc/self/exe", buffer.data(), buffer.size());
    return length < 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(length));
  }();
  return path;
}

/// The places of frames, innermost first, at most so many. The call is before the place that it returns to.
std::vector<CallPlace> places_of(std::span<void* const> frames, std::size_t most) {
  std::vector<CallPlace> places;
  for (void* const frame : frames) {
    if (auto place = place_of(reinterpret_cast<std::uint64_t>(frame) - 1)) places.push_back(std::move(*place));
    if (places.size() == most) break;
  }
  return places;
}

}  // namespace

std::optional<CallPlace> place_of(std::uint64_t instruction) {
  const auto folder_of = [](const char* file) {
    const std::string_view path = file == nullptr ? "" : file;
    return path.substr(0, path.rfind('/') + 1);
  };
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&place_of), &own);
  Dl_info info{};
  const link_map* map = nullptr;
  const auto* const address = reinterpret_cast<const void*>(instruction);  // NOLINT(performance-no-int-to-ptr)
  if (dladdr1(address, &info, const_cast<void**>(reinterpret_cast<const void**>(&map)), RTLD_DL_LINKMAP) == 0 ||
      info.dli_fbase == own.dli_fbase || folder_of(info.dli_fname) == folder_of(own.dli_fname)) {
    return {};  // our libraries are in one folder
  }
  const bool is_program = map == nullptr || map->l_name == nullptr || *map->l_name == '\0';
  CallPlace place;
  place.file = is_program ? own_program() : map->l_name;
  place.offset = instruction - (map == nullptr ? 0 : map->l_addr);
  return place;
}

void Frames::take() { count = backtrace(addresses.data(), kMost); }

CallPlaces calling_places() {
  if (python_caller().line > 0) return std::make_shared<const std::vector<CallPlace>>(1, python_caller());
  Frames taken;
  taken.take();
  const std::vector<void*> frames(taken.all().begin(), taken.all().end());
  // Never destroyed, like the machine: programs call until their very end.
  static auto& known = *new std::map<std::vector<void*>, CallPlaces>;
  static std::mutex known_mutex;
  const std::scoped_lock lock(known_mutex);
  CallPlaces& places = known[frames];
  if (places == nullptr) places = std::make_shared<const std::vector<CallPlace>>(places_of(frames, kMostPlaces));
  return places;
}

CallPlaces interrupted_places(const Frames& frames, std::uint64_t instruction) {
  std::vector<CallPlace> places = places_of(frames.all(), Frames::kMost);
  // A fault is at the very instruction, not after a call.
  const std::optional<CallPlace> first = place_of(instruction);
  // The frames before this one belong to the signal.
  for (std::size_t i = 0; i < places.size() && first; ++i) {
    if (places[i].file != first->file || places[i].offset + 1 != first->offset) continue;
    places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(i));
    places[0] = *first;
    break;
  }
  if (places.size() > kMostPlaces) places.resize(kMostPlaces);
  return std::make_shared<const std::vector<CallPlace>>(std::move(places));
}

}  // namespace convladder::stand_in
