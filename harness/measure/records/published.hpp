// Other people's published figures for the same networks: op times, program times, accuracies, profiles, as data
// (results/published/*.json, built into the program; results/published.schema.json describes a file).
//
// They are other people's figures, measured on other machines. Code that shows one beside ours must name its device.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "harness/measure/profile/profile_table.hpp"

namespace convladder {

/// A column of a table. Those with `what` hold figures, the others tell what a row is about.
struct PublishedColumn {
  std::string name;   ///< "conv1", "elapsed", "stage", "batch"
  std::string unit;   ///< "s", "ms", "kB", "%"; empty for texts and numbers without one
  std::string what;   ///< "op time", "kernel time", "program time", "accuracy", …; empty for a column that names the
                      ///< row
  std::string layer;  ///< "conv1" where the figure is for one layer
};

/// Nothing, whether something is so, a number, or a text.
using PublishedCell = std::variant<std::monostate, bool, double, std::string>;

struct PublishedTable {
  std::string name;
  std::string kind;     ///< "op times", "program times", "profile", "sweep", "layers", "launches"
  std::string note;     ///< as published, or how to read the table
  std::string command;  ///< the command with which a profile was taken
  std::vector<PublishedColumn> columns;
  std::vector<std::vector<PublishedCell>> rows;  ///< a cell for each column
  std::optional<ProfileTable> profile;           ///< of kind "profile", instead of columns and rows
};

struct PublishedSource {
  std::string name;  ///< "fa17-ladder"
  std::string title;
  std::string network;
  std::string device;                                      ///< empty where the report does not say
  std::optional<int> batch;                                ///< of all tables, unless a table has a column for it
  std::vector<std::pair<std::string, std::string>> notes;  ///< "claim", "figure" or "reading", and the text
  std::vector<PublishedTable> tables;
};

/// Reads a file. `file` is its name in messages. Throws UserError "FILE: tables[2].rows[0]: what is wrong".
PublishedSource parse_published(std::string_view text, const std::string& file);

/// All sources that are built into this program, by name.
const std::vector<PublishedSource>& published_sources();

/// The source of that name. Throws UserError for an unknown one, nearest first.
const PublishedSource& published_source(std::string_view name);

/// The file of the source of that name as JSON. Throws UserError as `published_source`.
std::string published_json_text(std::string_view name);
/// The sources as JSON: [{"name", "title", "network", "device", "tables": [{"name", "kind"}]}].
std::string published_list_json_text();

/// One of other people's figures, to be shown beside ours.
struct PublishedFigure {
  std::string source;        ///< "fa17-ladder"
  std::string network;       ///< "lenet28"
  std::optional<int> batch;  ///< none where the report does not say
  std::string device;        ///< the report's words; empty where it does not say
  std::string stage;         ///< "gpu baseline (global memory)"; empty where the row has no name
  std::string model;         ///< "high" or "low": which weights; empty where the report does not say
  std::string layer;         ///< "conv1"; empty for a figure of the whole program
  std::string what;          ///< "op time", "kernel time", "program time", "user time", "accuracy", "profile", …
  double value = 0;          ///< 0 for a profile
  std::string unit;          ///< as published; empty for an accuracy and a profile
  bool approximate = false;  ///< the report says "about"
  std::string path;          ///< JSON pointer into the source's file: "/tables/1/rows/3/2", "/tables/4/profile"
};

/// All figures for the network at that batch, including those that do not say their batch, and profiles; in the order
/// of the files. `layer`, if given, leaves out those of other layers.
std::vector<PublishedFigure> published_figures(std::string_view network, int batch,
                                               std::optional<std::string_view> layer = std::nullopt);

}  // namespace convladder
