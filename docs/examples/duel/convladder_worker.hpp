// A worker of `convladder duel --worker` for any C++ function. Copy it beside your benchmark; it needs nothing else.
//
//   int main() {
//     return convladder_worker::serve({{"sort", [&] { return sorted(data); }}});   // returns what is compared: a text
//   }
//
//   convladder duel --worker --cases cases.txt --same-output --base-command old/bench --new-command new/bench
//
// The protocol is lines of JSON on the standard input and output; "case" is left out where a duel has no cases:
//   {"op": "slot", "calls": 100, "case": "sort"}  ->  {"seconds": 0.0123}    the time of all 100 calls together
//   {"op": "output", "case": "sort"}              ->  {"output": "5f3c…"}    what the last call returned
//   what fails                                    ->  {"error": "what failed"}
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

namespace convladder_worker {

/// One call; returns a text or a digest of its result. Return "" where there is nothing to compare.
using Function = std::function<std::string()>;

inline std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char one : text) {
    char escaped[8];
    const auto byte = static_cast<unsigned char>(one);
    std::snprintf(escaped, sizeof escaped, byte < 0x20 || one == '"' || one == '\\' ? "\\u%04x" : "%c", byte);
    json += escaped;
  }
  return json + '"';
}

/// The value behind "key": in a line of JSON; the requests have texts without escapes, and whole numbers.
inline std::string value_of(const std::string& line, const std::string& key) {
  std::size_t at = line.find('"' + key + "\":");
  if (at == std::string::npos) return "";
  at = line.find_first_not_of(' ', at + key.size() + 3);
  if (at == std::string::npos) return "";
  if (line[at] != '"') return line.substr(at, line.find_first_of(",}", at) - at);
  return line.substr(at + 1, line.find('"', at + 1) - at - 1);
}

/// Answers until the standard input ends. What the functions print must not go to the standard output.
inline int serve(const std::map<std::string, Function>& functions) {
  std::map<std::string, std::string> results;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string name = value_of(line, "case");
    const auto found = name.empty() && functions.size() == 1 ? functions.begin() : functions.find(name);
    try {
      if (found == functions.end()) throw std::runtime_error("no such case: " + name);
      std::string& result = results[name];
      if (value_of(line, "op") == "output") {
        if (result.empty()) result = found->second();
        std::cout << "{\"output\": " << quoted(result) << "}" << std::endl;
        continue;
      }
      const long calls = std::strtol(value_of(line, "calls").c_str(), nullptr, 10);
      const auto begin = std::chrono::steady_clock::now();
      for (long call = 0; call < calls; ++call) result = found->second();
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      std::printf("{\"seconds\": %.9f}\n", seconds.count() > 1e-9 ? seconds.count() : 1e-9);
      std::fflush(stdout);
    } catch (const std::exception& error) {
      std::cout << "{\"error\": " << quoted(error.what()) << "}" << std::endl;
    }
  }
  return 0;
}

}  // namespace convladder_worker
