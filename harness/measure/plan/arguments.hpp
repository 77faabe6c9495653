// The words of a command line that name something: a device, a network, a layer's shape, a ladder, a stage from
// outside.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device_registry.hpp"
#include "harness/measure/plan/options.hpp"
#include "ladders/folder_problem.hpp"
#include "network/network.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

/// The device kind of that name. Throws UserError with the known ones, nearest first.
const DeviceKind& find_device_kind(std::string_view name);

/// The devices that are taken where none is named.
enum class DefaultDevices {
  timed,            ///< the devices that have a clock and are there
  of_every_family,  ///< the first of each family, whose cases say why they are skipped if it is not there, and then
                    ///< the first that is there beside it
};

/// The kinds of these names, or the default, in the order of the registry. Throws UserError for an unknown name, as
/// `find_device_kind`.
std::vector<DeviceKind> chosen_devices(const std::vector<std::string>& names, DefaultDevices otherwise);

/// The built-in network of that name; a text with a '/' or with ".json" at its end is a file, read once and kept.
/// Throws UserError with the known names, nearest first, or with the error in the file.
const Network& find_network(const std::string& name_or_path);

/// The problem of that name: of this build, opened before, or a network as a problem, which a file may describe as
/// well. nullptr if there is none. Throws UserError for an error in such a file.
const Problem* problem_named(const std::string& word);

/// All names of built-in problems and networks.
std::vector<std::string> problem_names();

/// The text by which another process finds the problem with `problem_named`.
std::string argument_of(const Problem& problem);

/// The networks of these names. Without names, the built-in networks that are marked for it (`default_run`), and all of
/// which a layer is named in full ("lenet86.conv1").
std::vector<const Network*> selected_networks(const std::vector<std::string>& names,
                                              const std::vector<std::string>& layers);

/// The family's device among those of these names, or of all where none is named: one that is there and has a clock,
/// otherwise one that counts. Empty if none of them is of the family. Throws UserError for an unknown name.
std::string device_of_family(std::string_view family, const std::vector<std::string>& names);

/// "C,H,W,M,K[,stride[,padding]]" with batch 1. Throws UserError for other text and for shapes that cannot be.
ProblemSize parse_shape(const std::string& text);

/// The argument's description in every command's help.
inline constexpr const char* kLadderHelp =
    "a folder of yours with a problem.json, or the name of a problem or of a network";

/// Sets the options for `convladder run LADDER`, where LADDER is a folder with a problem.json, or as `problem_named`
/// has it. Throws UserError for anything else.
void choose_ladder(RunOptions& options, const std::string& word);

/// The path of the folder that the options name. A ladder that comes with the program is written to a place where its
/// files can be compiled. Throws UserError.
std::filesystem::path ladder_folder_of(const RunOptions& options);

/// The problem of the folder that the options name, opened when it is first asked for: then everything in it is
/// compiled, with progress on the terminal. Throws UserError.
const FolderProblem& ladder_of(const RunOptions& options);

/// Makes the files of --with absolute, as records have them: wherever a run is resumed, they are the same.
void make_absolute(std::vector<std::string>& files);

/// The stages from outside (--with), compiled when they are first asked for. Throws UserError.
const std::vector<ProblemVariant>& stages_with(const std::vector<std::string>& files);

}  // namespace convladder
