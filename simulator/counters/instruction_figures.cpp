#include "simulator/counters/instruction_figures.hpp"

#include <algorithm>

#include "simulator/counters/metrics.hpp"

namespace convladder::simulated {

void KernelFigures::add(const KernelFigures& other) {
  if (instructions.empty()) {
    *this = other;
    return;
  }
  if (!std::ranges::equal(instructions, other.instructions, {}, &InstructionFigures::opcode,
                          &InstructionFigures::opcode)) {
    left_out += other.launches;
    return;
  }
  left_out += other.left_out;
  launches += other.launches;
  blocks += other.blocks;
  threads = std::max(threads, other.threads);
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    for (const auto& [name, value] : other.instructions[i].counters) instructions[i].counters[name] += value;
  }
}

void KernelFigures::add(const Program& program, const std::vector<InstructionCounters>& counters, double scale,
                        const Dim3& grid, const Dim3& block) {
  const std::vector<ptx::Instruction>& code = program.kernel->instructions;
  if (instructions.empty()) {
    instructions.reserve(code.size());
    for (const ptx::Instruction& one : code) {
      instructions.push_back({one.position.line, one.opcode, places_of(*program.module, one.source), {}});
    }
    for (const ptx::SourceFile& file : program.module->source_files) {
      const std::string& path = file.name;
      files.emplace(path.substr(path.find_last_of('/') + 1), path);
    }
  }
  if (!std::ranges::equal(instructions, code, {}, &InstructionFigures::opcode, &ptx::Instruction::opcode)) {
    ++left_out;
    return;
  }
  ++launches;
  blocks += grid.count();
  threads = std::max(threads, static_cast<unsigned>(block.count()));
  for (std::size_t i = 0; i < counters.size(); ++i) {
    for (const auto& [name, value] : counted_of(code[i], counters[i])) {
      instructions[i].counters[std::string(name)] += scale * static_cast<double>(value);
    }
  }
}

namespace {

using LinesByPlace = std::map<std::pair<std::string, int>, LineCounters>;

void add_lines(const KernelFigures& figures, LinesByPlace& lines) {
  for (const InstructionFigures& one : figures.instructions) {
    const SourcePlace place = one.places.empty() ? SourcePlace() : one.places.front();
    const auto path = figures.files.find(place.file);
    LineCounters line{.path = path == figures.files.end() ? place.file : path->second,
                      .line = place.line,
                      .instructions = 1,
                      .counters = one.counters};
    const auto [known, is_new] = lines.try_emplace({line.path, line.line}, line);
    if (is_new) continue;
    ++known->second.instructions;
    for (const auto& [name, value] : one.counters) known->second.counters[name] += value;
  }
}

std::vector<LineCounters> list_of(const LinesByPlace& lines) {
  std::vector<LineCounters> list;
  for (const auto& [place, line] : lines) list.push_back(line);
  return list;
}

}  // namespace

std::vector<LineCounters> by_line(const KernelFigures& figures) {
  LinesByPlace lines;
  add_lines(figures, lines);
  return list_of(lines);
}

std::vector<LineCounters> by_line(const std::map<std::string, KernelFigures>& kernels) {
  LinesByPlace lines;
  for (const auto& [name, figures] : kernels) add_lines(figures, lines);
  return list_of(lines);
}

}  // namespace convladder::simulated
