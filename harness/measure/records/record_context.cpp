#include "harness/measure/records/record_context.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/printable.hpp"

namespace convladder {

const std::string* find_text(const NamedTexts& texts, std::string_view name) {
  const auto found = std::ranges::find(texts, name, &NamedTexts::value_type::first);
  return found == texts.end() ? nullptr : &found->second;
}

std::string text_of(const NamedTexts& texts, std::string_view name, std::string_view otherwise) {
  const std::string* const text = find_text(texts, name);
  return text == nullptr || text->empty() ? std::string(otherwise) : printable(*text);
}

std::string text_or_unknown(const std::optional<std::string>& text) {
  return !text || text->empty() ? "unknown" : printable(*text);
}

const NamedTexts& RecordedMachine::facts_of(std::string_view device) const {
  static const NamedTexts none;
  const auto found = std::ranges::find(devices, device, &RecordedDevice::kind);
  return found == devices.end() ? none : found->facts;
}

std::string RecordedMachine::title_of(const std::string& device) const {
  const NamedTexts& facts = facts_of(device);
  if (find_text(facts, "modelled GPU") != nullptr) return "simulated GPU";
  const std::string name = text_of(facts, "name", device);
  const std::string* const count = find_text(facts, "threads");
  return count == nullptr ? name : fmt::format("{}, {} thread{}", name, printable(*count), *count == "1" ? "" : "s");
}

const RecordedMachine& RecordContext::machine_of(int session) const {
  const auto number = static_cast<std::size_t>(session);
  if (!machines || number >= machine_of_session.size()) return machine;
  const std::optional<std::size_t>& its = machine_of_session[number];
  return its && *its < machines->size() ? (*machines)[*its] : machine;
}

}  // namespace convladder
