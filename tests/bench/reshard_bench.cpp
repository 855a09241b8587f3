// SPDX-License-Identifier: Apache-2.0
// How fast a checkpoint in memory is cut for another mesh, beside `cp` of the same bytes, in turn.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ptc/base/median.h"
#include "tests/bench/machine.h"
#include "tests/folders.h"

namespace {

using tessera::UpperMedian;

namespace fs = std::filesystem;

struct Ran {
  double seconds = 0;
  long peak_kib = 0;
};

/// Runs a program; ends this one if it fails.
Ran Run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (status != 0) {
    fmt::print(stderr, "{} failed\n", words[0]);
    std::exit(1);
  }
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          usage.ru_maxrss};
}

/// Two kinds of matrices in 32 layers, 2 GB of bf16.
void WriteSource(const fs::path& path) {
  constexpr std::int64_t kRows = 4096;
  constexpr std::int64_t kColumns = 3812;
  constexpr std::int64_t kBytes = kRows * kColumns * 2;
  std::string json = "{";
  for (int i = 0; i < 64; ++i) {
    json += fmt::format(R"({}"h.{}.{}":{{"dtype":"BF16","shape":[{},{}],"data_offsets":[{},{}]}})",
                        i == 0 ? "" : ",", i / 2, i % 2 == 0 ? "up" : "down", kRows, kColumns,
                        i * kBytes, (i + 1) * kBytes);
  }
  json += "}";
  std::vector<char> block(std::size_t{kBytes});
  for (std::size_t i = 0; i < block.size(); ++i)
    block[i] = static_cast<char>(i * 2654435761U >> 13);
  std::ofstream file(path, std::ios::binary);
  const std::uint64_t length = json.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof(length)) << json;
  for (int i = 0; i < 64; ++i) file.write(block.data(), kBytes);
}

}  // namespace

int main() {
  const fs::path folder = fmt::format("/dev/shm/reshard-bench-{}", getpid());
  fs::create_directory(folder);
  const auto path = [&](const char* name) { return (folder / name).string(); };
  WriteSource(folder / "src.safetensors");
  std::ofstream(folder / "rules.json")
      << R"({"rules":[{"match":"h.{layer}.up","cut":"colwise"},{"match":"h.{layer}.down","cut":"rowwise"}]})";
  const std::string program = TESSERA_BIN_DIR "/tesseractl";
  const auto reshard = [&](const char* from, const char* to, const char* mesh) {
    return Run(
        {program, "reshard", path(from), path(to), "--mesh", mesh, "--rules", path("rules.json")});
  };
  reshard("src.safetensors", "from", "tp=4,pp=2");
  fs::remove(folder / "src.safetensors");
  std::vector<double> ours, copies;
  long peak_kib = 0;
  for (int i = 0; i < 5; ++i) {
    const Ran ran = reshard("from", "to", "tp=2,pp=1");
    ours.push_back(ran.seconds);
    peak_kib = std::max(peak_kib, ran.peak_kib);
    fs::remove_all(folder / "to");
    copies.push_back(Run({"cp", "-r", path("from"), path("copy")}).seconds);
    fs::remove_all(folder / "copy");
  }
  fs::remove_all(folder);
  const double bytes = 64.0 * 4096 * 3812 * 2;
  fmt::print("{}\n2 GB in memory, tp=4,pp=2 -> tp=2,pp=1, median of 5 in turn\n",
             tessera::test::Machine());
  fmt::print(
      "reshard {:.2f} GB/s, cp {:.2f} GB/s, ratio {:.2f} (at least 0.5), peak RSS {} MiB "
      "(at most 1088)\n",
      bytes / UpperMedian(ours) / 1e9, bytes / UpperMedian(copies) / 1e9,
      UpperMedian(copies) / UpperMedian(ours), peak_kib / 1024);
  return 0;
}
