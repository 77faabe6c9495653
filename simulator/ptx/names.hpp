// The meaning of the names in the bodies of kernels and functions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace convladder::ptx {

struct Name {
  enum class Kind { register_, vector, variable, function };
  Kind kind = Kind::register_;
  int index = 0;          ///< number of a register, or of a vector's first register
  int elements = 1;       ///< registers of a vector
  int element_bytes = 1;  ///< for a variable: the unit of an index in brackets
  std::string unique{};   ///< for a variable or function: its Symbol::name or Kernel::name
};

/// Names of the module and of nested scopes.
class Names {
 public:
  void begin_body() { scopes_.assign(1, {}); }
  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }
  std::size_t depth() const { return scopes_.size(); }

  /// Adds a name to the innermost scope; false if it has that name already.
  bool add(const std::string& name, Name what) { return scopes_.back().emplace(name, std::move(what)).second; }
  void add_to_module(const std::string& name, Name what) { module_.insert_or_assign(name, std::move(what)); }

  /// The innermost name of this text, or nullptr.
  const Name* find(std::string_view name) const {
    for (std::size_t scope = scopes_.size(); scope-- > 0;) {
      if (const auto found = scopes_[scope].find(name); found != scopes_[scope].end()) return &found->second;
    }
    const auto found = module_.find(name);
    return found == module_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Name, std::less<>> module_;
  std::vector<std::map<std::string, Name, std::less<>>> scopes_;
};

}  // namespace convladder::ptx
