// What a command is to write, refused before anything has run or been opened.
#pragma once

#include <span>
#include <string>

namespace fusebench {

struct OutputFile {
  std::string option;  ///< which named it, for messages: "--csv"
  std::string path;    ///< empty: it is not wanted
};

/// Throws Error naming the option and the file: two outputs are one file, an output is one of `inputs`, it is a folder, or
/// its folder does not exist.
void check_output_files(std::span<const OutputFile> outputs, std::span<const std::string> inputs);

/// Throws Error for a --csv, empty where it is not wanted, beside which no samples can be: a pipe or a device.
void check_results_file(const std::string& csv);

}  // namespace fusebench
