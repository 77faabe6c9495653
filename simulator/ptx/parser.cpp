#include "simulator/ptx/parser.hpp"

#include <algorithm>
#include <utility>

#include "simulator/ptx/body_parser.hpp"
#include "simulator/ptx/declarations.hpp"
#include "simulator/ptx/names.hpp"
#include "simulator/ptx/token_reader.hpp"
#include "simulator/ptx/words.hpp"

namespace convladder::ptx {
namespace {

constexpr std::uint64_t kMostThreads = 1024;  // of a block
constexpr std::uint64_t kHandleBytes = 8;     // of a texture

/// Whether two declarations of a function agree, as nvlink wants it: signs and names may differ.
bool agree(const Kernel& one, const Kernel& other) {
  const auto same = [](const Symbol& a, const Symbol& b) {
    return a.bytes == b.bytes && a.is_array == b.is_array && a.is_float == b.is_float;
  };
  return one.refusal || other.refusal ||
         (std::ranges::equal(one.parameters, other.parameters, same) &&
          std::ranges::equal(one.results, other.results, same));
}

class Parser {
 public:
  Parser(std::string_view source, const std::string& file) : tokens_(source, file) { module_.file = file; }

  Module run() {
    while (!tokens_.at_end()) statement();
    return std::move(module_);
  }

 private:
  void statement() {
    if (tokens_.accept(";")) return;
    if (tokens_.current().is("@")) return debug_line();
    const Token word = tokens_.take_word("a directive");
    if (word.is(".version")) {
      module_.version = tokens_.take().text;
    } else if (word.is(".target")) {
      module_.target = tokens_.take_word("a target").text;
      while (tokens_.accept(",")) tokens_.take_word("a target option");
    } else if (word.is(".address_size")) {
      module_.address_bits = static_cast<int>(tokens_.take_integer("an address size", 64));
      if (module_.address_bits != 32 && module_.address_bits != 64) tokens_.fail(word, "an address has 32 or 64 bits");
    } else if (word.is(".file")) {
      source_file();
    } else if (word.is(".section")) {
      tokens_.take_word("a section's name");
      tokens_.skip_brackets("{", "}");
    } else if (word.is(".pragma")) {
      tokens_.take();
      tokens_.expect(";");
    } else if (word.is(".alias")) {
      alias();
    } else {
      linked_statement(word);
    }
  }

  /// Takes "@@DWARF .byte 1", debug information of old compilers, up to the end of its line.
  void debug_line() {
    const int line = tokens_.take().position.line;
    if (!tokens_.current().is("@")) tokens_.fail_expected("'@@DWARF'");
    while (!tokens_.at_end() && tokens_.current().position.line == line) tokens_.take();
  }

  void source_file() {
    const auto number = static_cast<int>(tokens_.take_integer("a file number", 1 << 30));
    if (tokens_.current().kind != TokenKind::text) tokens_.fail_expected("a file name");
    module_.source_files.push_back({number, std::string(tokens_.take().text)});
    while (tokens_.accept(",")) tokens_.take_integer("a file's time or size", ~std::uint64_t{0});
  }

  /// Takes ".alias other, function;".
  void alias() {
    const Token name = tokens_.take_word("a function's name");
    tokens_.expect(",");
    const Token meant = tokens_.take_word("a function's name");
    tokens_.expect(";");
    names_.add_to_module(std::string(name.text), {.kind = Name::Kind::function, .unique = std::string(name.text)});
    module_.aliases.emplace(name.text, meant.text);
  }

  /// Takes directives for the linker and the kernel, function or variables after them.
  void linked_statement(Token word) {
    bool is_extern = false;
    while (word.is(".visible") || word.is(".weak") || word.is(".extern") || word.is(".common") || word.is(".hidden")) {
      is_extern = is_extern || word.is(".extern");
      word = tokens_.take_word("a kernel or a variable");
    }
    if (word.is(".entry")) {
      kernel();
    } else if (word.is(".func")) {
      function();
    } else if (const auto space = space_of_word(word.text); space && *space != Space::local && *space != Space::param) {
      const bool is_texture = word.is(".tex");  // the declaration of textures before PTX 1.5
      take_variables(tokens_, names_, *space, is_extern, [this, is_texture](Symbol symbol, int element_bytes) {
        if (is_texture) {
          symbol.opaque_type = "texref";
          symbol.bytes = kHandleBytes;
        }
        names_.add_to_module(symbol.name,
                             {.kind = Name::Kind::variable, .element_bytes = element_bytes, .unique = symbol.name});
        declare_variable(std::move(symbol));
      });
    } else {
      tokens_.fail(word, "the directive '" + shown(word.text) + "' is not supported here");
    }
  }

  /// Declares a variable, which may be before its definition.
  void declare_variable(Symbol symbol) {
    const auto known = declared_.find(symbol.name);
    if (known == declared_.end()) {
      declared_.emplace(symbol.name, module_.symbols.size());
      module_.symbols.push_back(std::move(symbol));
      return;
    }
    const Symbol& before = module_.symbols[known->second];
    if (before.bytes != symbol.bytes && before.bytes != 0 && symbol.bytes != 0) {
      throw PtxError(tokens_.file(), symbol.position,
                     "size doesn't match: the variable '" + shown(symbol.name) + "' has " +
                         std::to_string(symbol.bytes) + " bytes here and " + std::to_string(before.bytes) +
                         " in line " + std::to_string(before.position.line));
    }
    if (!symbol.is_extern) {
      module_.symbols[known->second] = std::move(symbol);
    }
  }

  void kernel() {
    Kernel kernel;
    const Token name = tokens_.take_name("a kernel's name");
    kernel.name = name.text;
    kernel.position = name.position;
    names_.add_to_module(kernel.name, {.kind = Name::Kind::function, .unique = kernel.name});  // others may launch it
    std::vector<Parameter> parameters;
    read_head(kernel, [&] {
      parameters = take_parameters();
      for (const Parameter& parameter : parameters) {
        if (parameter.register_type) tokens_.fail(name, "a kernel cannot have parameters in registers");
        kernel.parameters.push_back(parameter.symbol);
      }
      directives(kernel);
    });
    if (tokens_.accept(";")) return;  // a declaration
    body(kernel, parameters, {});
    module_.kernels.push_back(std::move(kernel));
  }

  /// Reads the part before a body; anything unsupported in it becomes a refusal.
  template <typename Read>
  void read_head(Kernel& kernel, const Read& read) {
    const std::size_t begin = tokens_.place();
    try {
      read();
      if (!tokens_.current().is("{") && !tokens_.current().is(";") && !begins_statement()) {
        tokens_.fail_expected("'{' or ';'");
      }
    } catch (const PtxError& error) {
      kernel.refusal = {error.position, error.problem};
      tokens_.go_to(begin);
      while (!tokens_.current().is("{") && !tokens_.current().is(";")) {
        if (tokens_.at_end()) throw;
        tokens_.take();
      }
    }
  }

  /// Whether a new statement of the module begins here, or the text ends: ptxas does not insist on the semicolon of a
  /// function's declaration.
  bool begins_statement() const {
    constexpr std::string_view kDirectives[] = {".version", ".target", ".address_size", ".file",   ".section", ".alias",
                                                ".visible", ".weak",   ".extern",       ".common", ".hidden",  ".entry",
                                                ".func",    ".global", ".shared",       ".const",  ".tex",     "@"};
    return tokens_.at_end() ||
           std::ranges::any_of(kDirectives, [this](std::string_view word) { return tokens_.current().is(word); });
  }

  /// Takes ".func (results) name (parameters)", a declaration or a definition. Both lists may be omitted.
  void function() {
    Kernel function;
    directives(function);  // ".noreturn" may be here as well
    std::vector<Parameter> results = take_parameters();
    const Token name = tokens_.take_name("a function's name");
    function.name = name.text;
    function.position = name.position;
    std::vector<Parameter> parameters;
    read_head(function, [&] {
      parameters = take_parameters();
      directives(function);
    });
    for (auto* const list : {&parameters, &results}) {
      for (Parameter& parameter : *list) parameter.symbol.space = Space::call_param;
    }
    for (const Parameter& parameter : parameters) function.parameters.push_back(parameter.symbol);
    for (const Parameter& result : results) function.results.push_back(result.symbol);
    names_.add_to_module(function.name, {.kind = Name::Kind::function, .unique = function.name});
    if (tokens_.accept(";") || begins_statement()) {
      function.is_defined = false;
    } else {
      body(function, parameters, results);
    }
    const auto known = std::ranges::find(module_.functions, function.name, &Kernel::name);
    if (known != module_.functions.end() && !agree(*known, function)) {
      tokens_.fail(name, "prototype doesn't match: the function '" + shown(name.text) +
                             "' has other parameters or results than in line " + std::to_string(known->position.line));
    }
    if (known == module_.functions.end()) {
      module_.functions.push_back(std::move(function));
    } else if (function.is_defined) {
      *known = std::move(function);
    }
  }

  std::vector<Parameter> take_parameters() {
    std::vector<Parameter> parameters;
    if (!tokens_.accept("(")) return parameters;
    while (!tokens_.accept(")")) {
      parameters.push_back(take_parameter(tokens_));
      if (!tokens_.current().is(")")) tokens_.expect(",");
    }
    return parameters;
  }

  /// Takes the directives between the parameters and the body.
  void directives(Kernel& kernel) {
    while (tokens_.current().kind == TokenKind::word && tokens_.current().text.starts_with('.') &&
           !begins_statement()) {
      const Token word = tokens_.take();
      if (word.is(".maxntid") || word.is(".reqntid")) {
        const std::vector<std::uint64_t> sizes = take_sizes(kMostThreads);
        std::uint64_t threads = 1;
        for (const std::uint64_t size : sizes) threads = std::min(kMostThreads, threads * size);
        kernel.max_threads_per_block = static_cast<int>(threads);
        for (std::size_t i = 0; i < 3 && word.is(".reqntid"); ++i) {
          kernel.required_block[i] = i < sizes.size() ? static_cast<int>(sizes[i]) : 1;
        }
      } else if (word.is(".reqnctapercluster")) {
        const std::vector<std::uint64_t> sizes = take_sizes(kMostThreads);
        for (std::size_t i = 0; i < 3; ++i) {
          kernel.cluster_size[i] = i < sizes.size() ? static_cast<int>(sizes[i]) : 1;
        }
      } else if (word.is(".minnctapersm") || word.is(".maxnreg") || word.is(".maxnctapersm") ||
                 word.is(".maxclusterrank") || word.is(".abi_preserve") || word.is(".abi_preserve_control")) {
        tokens_.take_integer("a number", 1 << 20);
      } else if (word.is(".pragma")) {
        tokens_.take();
        tokens_.expect(";");
      } else if (word.is(".attribute")) {
        if (tokens_.current().is("(")) tokens_.skip_brackets("(", ")");
      } else if (word.is(".blocksareclusters")) {
        kernel.blocks_are_clusters = true;
      } else if (!word.is(".noreturn") && !word.is(".explicitcluster")) {
        tokens_.fail(word, "the directive '" + shown(word.text) + "' is not supported here");
      }
    }
  }

  std::vector<std::uint64_t> take_sizes(std::uint64_t largest) {
    std::vector<std::uint64_t> sizes;
    do {
      sizes.push_back(tokens_.take_integer("a number of threads", largest));
    } while (tokens_.accept(","));
    return sizes;
  }

  /// Takes a body, which ends with its closing brace whatever it contains.
  void body(Kernel& kernel, const std::vector<Parameter>& parameters, const std::vector<Parameter>& results) {
    const std::size_t begin = tokens_.place();
    tokens_.skip_brackets("{", "}");
    const std::size_t end = tokens_.place();
    if (kernel.refusal) return;
    tokens_.go_to(begin + 1);
    try {
      BodyParser(tokens_, names_, module_, kernel, registers_).take(parameters, results);
    } catch (const PtxError& error) {
      kernel.refusal = {error.position, error.problem};
    }
    names_.begin_body();
    tokens_.go_to(end);
  }

  TokenReader tokens_;
  Module module_;
  Names names_;
  std::map<std::string, std::size_t, std::less<>> declared_;  // by name: places in Module::symbols
  std::uint64_t registers_ = 0;                               // counts all bodies so far
};

}  // namespace

const Kernel* Module::find_kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &Kernel::name);
  return found == kernels.end() ? nullptr : &*found;
}

const Kernel* Module::find_function(std::string_view name) const {
  const auto alias = aliases.find(name);
  const auto found = std::ranges::find(functions, alias == aliases.end() ? name : alias->second, &Kernel::name);
  return found == functions.end() ? nullptr : &*found;
}

std::string Module::source_name(int number) const {
  const auto found = std::ranges::find(source_files, number, &SourceFile::number);
  return found == source_files.end() ? std::string() : found->name;
}

Module parse_module(std::string_view source, const std::string& file) { return Parser(source, file).run(); }

}  // namespace convladder::ptx
