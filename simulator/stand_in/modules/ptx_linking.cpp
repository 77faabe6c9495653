// Joins PTX texts into one, as nvlink makes one module of the objects of a program.
//
// This works on the text: statements of the modules are taken apart, names that only their own text knows are made
// different, and anything declared in one text and defined in another occurs once.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "simulator/stand_in/modules/images.hpp"
#include "simulator/stand_in/status.hpp"

namespace convladder::stand_in {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }

enum class Linkage { internal, visible, weak, outside };

/// A declaration or definition of a module, or a directive of one line, which has an empty `name`.
struct Statement {
  std::string_view text;
  std::string name;
  Linkage linkage = Linkage::internal;
  bool is_function = false;
  bool is_defined = true;
};

/// The position after a comment or a string that begins at `at`; `at` if none does.
std::size_t behind_comment(std::string_view text, std::size_t at) {
  const auto end = [&](std::string_view mark, std::size_t from) {
    const std::size_t found = text.find(mark, from);
    return found == std::string_view::npos ? text.size() : found + mark.size();
  };
  if (text.substr(at).starts_with("//")) return end("\n", at);
  if (text.substr(at).starts_with("/*")) return end("*/", at + 2);
  if (text[at] == '"') return end("\"", at + 1);
  return at;
}

bool is_line(std::string_view word) {
  return word == ".version" || word == ".target" || word == ".address_size" || word == ".file" || word == ".loc";
}

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (is_name(text[end]) || text[end] == '.')) ++end;
  return text.substr(at, end - at);
}

/// Fills in the facts from the statement's first words and its name.
void look_at(Statement& statement) {
  const std::string_view text = statement.text;
  std::string_view last;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t behind = behind_comment(text, at); behind != at) {
      at = behind;
      continue;
    }
    const char c = text[at];
    if (c == '(') {
      // A function's results come before its name, its parameters after; an attribute or alignment has neither.
      if (statement.is_function && !last.empty()) break;
      at = std::min(text.find(')', at), text.size() - 1) + 1;
      continue;
    }
    if (c == '[' || c == '=' || c == '{' || c == ';') break;
    const std::string_view word = word_at(text, at);
    if (word.empty()) {
      ++at;
      continue;
    }
    if (word == ".visible") statement.linkage = Linkage::visible;
    if (word == ".weak" || word == ".common") statement.linkage = Linkage::weak;
    if (word == ".extern") statement.linkage = Linkage::outside;
    if (word == ".func" || word == ".entry") statement.is_function = true;
    if (word[0] != '.' && std::isdigit(static_cast<unsigned char>(word[0])) == 0) last = word;
    at += word.size();
  }
  statement.name = std::string(last);
  statement.is_defined =
      statement.is_function ? text.find('{') != std::string_view::npos : statement.linkage != Linkage::outside;
}

std::vector<Statement> statements_of(std::string_view text) {
  std::vector<Statement> statements;
  std::size_t begin = 0;
  int depth = 0;
  bool has_body = false;
  const auto close = [&](std::size_t end, bool has_name) {
    Statement statement;
    statement.text = text.substr(begin, end - begin);
    if (has_name) look_at(statement);
    statements.push_back(std::move(statement));
    begin = end;
    has_body = false;
  };
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t behind = behind_comment(text, at); behind != at) {
      at = behind;
      continue;
    }
    if (depth == 0 && text[at] == '.') {
      const std::string_view word = word_at(text, at);
      if (is_line(word)) {
        at = std::min(text.find('\n', at), text.size() - 1) + 1;
        close(at, false);
        continue;
      }
      has_body |= word == ".func" || word == ".entry" || word == ".section";
      at += word.size();
      continue;
    }
    const char c = text[at++];
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (depth == 0 && (c == ';' || (c == '}' && has_body))) close(at, true);
  }
  return statements;
}

/// The statement with new names, and with `file_offset` added to the numbers of source files.
std::string rewritten(std::string_view text, const std::map<std::string, std::string, std::less<>>& names,
                      int file_offset) {
  std::string made;
  bool number_is_file = false;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t behind = behind_comment(text, at); behind != at) {
      made += text.substr(at, behind - at);
      at = behind;
      continue;
    }
    const std::string_view word = word_at(text, at);
    if (word.empty()) {
      made += text[at++];
      continue;
    }
    at += word.size();
    const bool is_number = std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (is_number && number_is_file && word.size() < 7) {
      made += std::to_string(std::stoi(std::string(word)) + file_offset);
    } else {
      const auto renamed = names.find(word);
      made += renamed == names.end() ? word : std::string_view(renamed->second);
    }
    number_is_file = word == ".loc" || word == ".file" || word == "inlined_at";
  }
  return made;
}

}  // namespace

std::string joined_ptx(const std::vector<std::string>& texts) {
  if (texts.empty()) throw Failure(kInvalidValue, "nothing to link");
  if (texts.size() == 1) return texts.front();
  constexpr int kFilesOfText = 10'000;
  struct Text {
    std::vector<Statement> statements;
    std::map<std::string, std::string, std::less<>> names;
    int file_offset = 0;
  };
  std::vector<Text> parts;
  std::map<std::string, std::string> definitions;  // of names that others may use, as they will be in the result
  std::set<std::string> known;
  for (const std::string& text : texts) {
    Text& part = parts.emplace_back();
    part.statements = statements_of(text);
    const std::size_t number = parts.size() - 1;
    part.file_offset = static_cast<int>(number) * kFilesOfText;
    std::set<std::string> own;
    for (const Statement& statement : part.statements) own.insert(statement.name);
    for (const Statement& statement : part.statements) {
      if (statement.name.empty() || statement.linkage != Linkage::internal || !known.contains(statement.name)) continue;
      std::string other = statement.name + "$" + std::to_string(number);
      while (own.contains(other) || known.contains(other)) other += '_';
      part.names[statement.name] = other;
    }
    for (const std::string& name : own) {
      const auto renamed = part.names.find(name);
      known.insert(renamed == part.names.end() ? name : renamed->second);
    }
    for (const Statement& statement : part.statements) {
      if (statement.name.empty() || statement.linkage == Linkage::internal || !statement.is_defined) continue;
      if (definitions.contains(statement.name)) {
        if (statement.linkage == Linkage::weak) continue;
        // A weak definition gives way; two others are one too many.
        if (!definitions[statement.name].starts_with("//weak")) {
          throw Failure(kInvalidPtx, statement.name + " is defined twice");
        }
      }
      definitions[statement.name] = (statement.linkage == Linkage::weak ? "//weak\n" : "") +
                                    rewritten(statement.text, part.names, part.file_offset);
    }
  }
  std::string joined;
  std::set<std::string> written;   // definitions
  std::set<std::string> declared;  // statements without a definition
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const Statement& statement : parts[i].statements) {
      const std::string own = rewritten(statement.text, parts[i].names, parts[i].file_offset);
      if (statement.name.empty()) {
        const bool is_header = own.find(".version") != std::string::npos || own.find(".target") != std::string::npos ||
                               own.find(".address_size") != std::string::npos;
        if (i == 0 || !is_header) joined += own;
        continue;
      }
      const auto definition = definitions.find(statement.name);
      if (statement.linkage == Linkage::internal) {
        joined += own;
      } else if (definition == definitions.end() || (statement.is_function && !statement.is_defined)) {
        // It is provided by the device, memory of the launch, or a function that comes later.
        if (declared.insert(own).second) {  // every text's, so that the parser holds them against the definition
          std::string prototype = own;
          const std::size_t outside = prototype.find(".extern");
          if (definition != definitions.end() && outside != std::string::npos)
            prototype.replace(outside, 7, ".visible");
          joined += prototype;
        }
      } else {
        if (statement.linkage == Linkage::outside && declared.insert(own).second) joined += own;
        if (written.insert(statement.name).second) joined += definition->second;
      }
      joined += '\n';
    }
  }
  return joined;
}

}  // namespace convladder::stand_in
