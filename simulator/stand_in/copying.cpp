#include "simulator/stand_in/copying.hpp"

#include <sys/mman.h>

#include <cstring>

#include "simulator/stand_in/graph.hpp"

namespace convladder::stand_in {
namespace {

/// Whether the address is the device's own: host code cannot read it.
bool is_device_only(const void* address) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  return at - simulated::kGlobalWindow < simulated::kDeviceWindowBytes;
}

/// Whether the memory is pinned. Managed variables are the device's, though no call has allocated them.
bool is_pinned(Machine& machine, const void* address) {
  return machine.memory_at(address) != nullptr || machine.owns(address);
}

/// The bytes from the first byte of the box to after its last. Throws Failure where that is no number.
std::uint64_t span_of(const Rectangle& box, const Size3& size) {
  const auto add = [](std::uint64_t a, std::uint64_t b, std::uint64_t times) {
    std::uint64_t product = 0;
    std::uint64_t sum = 0;
    if (__builtin_mul_overflow(b, times, &product) || __builtin_add_overflow(a, product, &sum)) {
      throw Failure(kInvalidValue);
    }
    return sum;
  };
  return add(add(size.width, box.pitch, size.height - 1), box.slice, size.depth - 1);
}

/// Zeroes memory that the device has allocated. Of a large part whole pages are given back, which are zeros when they
/// are read again: a buffer that is cleared before every sample to empty the L2, and never read, then costs a call and
/// not its size.
void clear(std::byte* begin, std::size_t bytes) {
  constexpr std::size_t kLarge = std::size_t{1} << 20;
  constexpr std::size_t kPage = 4096;
  if (bytes >= kLarge) {
    const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(begin) % kPage) % kPage;
    const std::size_t whole = (bytes - before) / kPage * kPage;
    if (madvise(begin + before, whole, MADV_DONTNEED) == 0) {
      std::memset(begin, 0, before);
      begin += before + whole;
      bytes -= before + whole;
    }
  }
  std::memset(begin, 0, bytes);
}

/// Names an operation on a box, and bytes that belong to it.
ContentName name_of_box(char what, const Rectangle& to, const Rectangle& from, const Size3& size,
                        const ContentName& content) {
  const std::uint64_t words[] = {static_cast<std::uint64_t>(what),
                                 reinterpret_cast<std::uint64_t>(to.address),
                                 to.pitch,
                                 to.slice,
                                 reinterpret_cast<std::uint64_t>(from.address),
                                 from.pitch,
                                 from.slice,
                                 size.width,
                                 size.height,
                                 size.depth};
  return content_name(content_name(words, sizeof words), content);
}

/// Calls `row(offset in a, offset in b)` for every row of the box.
template <typename Row>
void each_row(const Rectangle& a, const Rectangle& b, const Size3& size, const Row& row) {
  for (std::size_t z = 0; z < size.depth; ++z) {
    for (std::size_t y = 0; y < size.height; ++y) row(z * a.slice + y * a.pitch, z * b.slice + y * b.pitch);
  }
}

}  // namespace

void copy_rectangle(Machine& machine, const Rectangle& to, const Rectangle& from, const Size3& size, CopyKind kind,
                    int stream, bool host_waits) {
  if (size.width == 0 || size.height == 0 || size.depth == 0) return;
  if (to.address == nullptr || from.address == nullptr) throw Failure(kInvalidValue);
  if (machine.graphs().capture(stream, CopyWork{to, from, size, kind})) return;
  const bool to_device = is_device_only(to.address);
  const bool from_device = is_device_only(from.address);
  const bool wants_to_device = kind == CopyKind::host_to_device || kind == CopyKind::device_to_device;
  const bool wants_from_device = kind == CopyKind::device_to_host || kind == CopyKind::device_to_device;
  if (kind != CopyKind::by_address) {
    // Addresses are unified: memory of the device may stand where the kind says "host", and the copy is then one
    // between places of the device. The other way round a driver refuses it, unless both sides see the memory.
    const bool both_are_host = !wants_to_device && !wants_from_device;
    if (both_are_host && (to_device || from_device)) throw Failure(kInvalidValue);
    if (wants_to_device && !to_device && !is_pinned(machine, to.address)) throw Failure(kInvalidValue);
    if (wants_from_device && !from_device && !is_pinned(machine, from.address)) throw Failure(kInvalidValue);
  }
  std::byte* const target = machine.bytes_at(to.address, span_of(to, size));
  const std::byte* const source = machine.bytes_at(from.address, span_of(from, size));
  const std::uint64_t bytes = size.width * size.height * size.depth;
  machine.begin_work("a copy", stream);
  each_row(to, from, size, [&](std::size_t at, std::size_t source_at) {
    machine.touches(static_cast<const std::byte*>(from.address) + source_at, size.width, false);
    machine.touches(static_cast<const std::byte*>(to.address) + at, size.width, true);
  });
  const auto copy = [&machine, to, size, target](const std::byte* bytes_there, const Rectangle& there) {
    each_row(to, there, size, [&](std::size_t at, std::size_t source_at) {
      std::memmove(target + at, bytes_there + source_at, size.width);
      machine.wrote(static_cast<std::byte*>(to.address) + at, size.width);
    });
  };
  const auto copy_on_device = [&machine, copy, source, to, from, size] {
    copy(source, from);
    if (!machine.settings.checkers.initialization) return;
    each_row(to, from, size, [&](std::size_t at, std::size_t source_at) {
      machine.copied(static_cast<std::byte*>(to.address) + at, static_cast<const std::byte*>(from.address) + source_at,
                     size.width);
    });
  };
  if (to_device && from_device) {
    machine.move_bytes(name_of_box('D', to, from, size, {}), to.address, from.address, 0, copy_on_device);
  } else if (to_device && machine.is_put_off()) {
    // The host may change its bytes when the call returns, or when the stream has been waited for.
    const auto staged = std::make_shared<std::vector<std::byte>>(bytes);
    const Rectangle packed{nullptr, size.width, size.width * size.height};
    each_row(packed, from, size, [&](std::size_t at, std::size_t source_at) {
      std::memcpy(staged->data() + at, source + source_at, size.width);
    });
    machine.move_bytes(name_of_box('H', to, packed, size, content_name(staged->data(), bytes)), to.address, nullptr,
                       bytes, [copy, staged, packed] { copy(staged->data(), packed); });
  } else {
    const Rectangle packed{nullptr, size.width, size.width * size.height};
    const auto look = [from, packed, size, source, bytes] {
      std::vector<std::byte> found(bytes);
      each_row(packed, from, size, [&](std::size_t at, std::size_t source_at) {
        std::memcpy(found.data() + at, source + source_at, size.width);
      });
      return found;
    };
    const auto deliver = [copy, packed](const std::vector<std::byte>& found) { copy(found.data(), packed); };
    const bool at_once = host_waits || !is_pinned(machine, to.address);
    const bool is_brought = from_device && machine.bring_to_host(name_of_box('G', {}, from, size, {}), from.address,
                                                                 look, deliver, at_once);
    if (!is_brought) {
      machine.settle();
      if (from_device && machine.settings.checkers.initialization) {
        simulated::UnwrittenBytes unwritten;
        each_row(from, from, size, [&](std::size_t at, std::size_t /*same*/) {
          machine.look_for_unwritten(unwritten, static_cast<const std::byte*>(from.address) + at, size.width);
        });
        machine.brought_unwritten(unwritten, from.address);
      }
      copy(source, from);
      if (from_device) {
        each_row(from, from, size,
                 [&](std::size_t at, std::size_t /*same*/) { machine.host_reads(source + at, size.width); });
      }
      machine.moved_by_host(to.address);
    }
  }
  const bool onto_device = to_device || (kind != CopyKind::by_address && wants_to_device);
  const bool off_device = from_device || (kind != CopyKind::by_address && wants_from_device);
  if (onto_device && off_device) {
    machine.note_copy_on_device("[CUDA memcpy DtoD]", 2 * bytes, bytes, stream);
  } else if (onto_device) {
    const bool pinned = is_pinned(machine, from.address);
    machine.note_copy("[CUDA memcpy HtoD]", Engine::to_device, bytes, pinned, stream, host_waits || !pinned);
  } else if (off_device) {
    const bool pinned = is_pinned(machine, to.address);
    machine.note_copy("[CUDA memcpy DtoH]", Engine::from_device, bytes, pinned, stream, host_waits || !pinned);
  } else {
    machine.synchronize(stream);
  }
  if (host_waits && !(to_device && from_device)) machine.host_sees(stream);
}

void fill_rectangle(Machine& machine, const Rectangle& to, const void* value, std::size_t unit, const Size3& size,
                    int stream, bool host_waits) {
  if (size.width == 0 || size.height == 0 || size.depth == 0) return;
  if (to.address == nullptr) throw Failure(kInvalidValue);
  if (!is_device_only(to.address) && !is_pinned(machine, to.address)) throw Failure(kInvalidValue);
  FillWork work{to, {}, unit, size};
  std::memcpy(work.value.data(), value, unit);
  if (machine.graphs().capture(stream, work)) return;
  std::byte* const target = machine.bytes_at(to.address, span_of(to, size));
  machine.begin_work("a memset", stream);
  each_row(to, to, size, [&](std::size_t at, std::size_t /*same*/) {
    machine.touches(static_cast<const std::byte*>(to.address) + at, size.width, true);
  });
  const std::array<std::byte, 4> filler = work.value;
  const ContentName name =
      name_of_box('F', to, {}, size, content_name({unit, 0}, content_name(filler.data(), filler.size())));
  machine.move_bytes(name, to.address, nullptr, 0, [&machine, to, unit, size, target, filler] {
    each_row(to, to, size, [&](std::size_t at, std::size_t /*same*/) {
      if (unit == 1 && filler[0] == std::byte{0} && machine.owns(to.address)) {
        clear(target + at, size.width);
      } else if (unit == 1) {
        std::memset(target + at, static_cast<int>(filler[0]), size.width);
      } else {
        for (std::size_t x = 0; x < size.width; x += unit) std::memcpy(target + at + x, filler.data(), unit);
      }
      machine.wrote(static_cast<std::byte*>(to.address) + at, size.width);
    });
  });
  const std::uint64_t bytes = size.width * size.height * size.depth;
  machine.note_copy_on_device("[CUDA memset]", bytes, bytes, stream);
  if (host_waits && !is_device_only(to.address)) machine.host_sees(stream);
}

}  // namespace convladder::stand_in
