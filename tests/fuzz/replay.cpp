// SPDX-License-Identifier: Apache-2.0

/// \file
/// Runs a fuzz target over all files of a folder without libFuzzer: seeds, and inputs that crashed it
/// before.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  std::error_code error;
  std::filesystem::directory_iterator entries(argv[1], error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    files.push_back(entries->path());
  }
  if (error || files.empty()) {
    std::fprintf(stderr, "%s: no files\n", argv[1]);
    return 1;
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);  // the last line names the file that crashes
    std::ostringstream all;
    all << std::ifstream(file, std::ios::binary).rdbuf();
    const std::string bytes = all.str();
    // Also run every prefix, because truncation is the most frequent damage. Long inputs have steps.
    const std::size_t step = std::max<std::size_t>(1, bytes.size() / 512);
    for (std::size_t size = bytes.size() % step; size <= bytes.size(); size += step) {
      const std::vector<std::uint8_t> input(bytes.begin(),
                                            bytes.begin() + static_cast<std::ptrdiff_t>(size));
      LLVMFuzzerTestOneInput(input.data(), input.size());
    }
  }
  return 0;
}
