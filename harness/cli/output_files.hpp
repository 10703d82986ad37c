// What a command is to write, refused before anything has run or been opened.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace fusebench {

struct OutputFile {
  std::string option;  ///< which named it, for messages: "--csv"
  std::string path;    ///< empty: it is not wanted
};

/// Throws Error naming the option and the file: two outputs are one file, an output is one of `inputs`, it is a folder, or
/// its folder does not exist.
void check_output_files(std::span<const OutputFile> outputs, std::span<const std::string> inputs);

/// The folder that one of this name would be made in, where there is none; empty where there is. Of a name with a slip of the pen
/// no path is made.
[[nodiscard]] std::string missing_parent(const std::string& folder);

/// Throws Error with the path and the system's reason where a file that is to be written whole (record/whole_file.hpp)
/// could not be; what is there stays as it is.
void require_writable(const std::string& path);

/// The files of --csv, empty where it is not wanted: the results and beside them the samples. Throws Error where no samples
/// can be beside it: a pipe or a device.
[[nodiscard]] std::vector<OutputFile> results_files(const std::string& csv);

}  // namespace fusebench
