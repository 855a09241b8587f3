// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What is emulated, from the environment variable TESSERA_CUDA_EMULATION: words KEY=VALUE between
/// commas.
///
///     devices=4             how many, at most 64; without it none is found
///     memory=512M           of each device, of all allocations of one process
///     peers=all|none|0-1:2-3  which devices reach each other; `all` without it
///     latency=200us         before each operation of a stream
///     driver=13000          version
///     fail=SYMBOL#N[=CODE]  the Nth call of this function fails, with CODE or 999. SYMBOL is one
///     of
///                           the driver or of NCCL; `*` means any function of the driver
///     vanish=DEVICE@N       after N calls of any function the device is gone
///     nccl=22803            version of the emulated NCCL
///     nccl-stop=RANK@N      this rank sends half of its bytes in the Nth group of calls, and stops
///     report=FILE           at the end of the process, a line each of driver and NCCL: what was
///     not
///                           released, which call has failed, and which functions were called
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace tessera::test::cuda_emulation {

inline constexpr int kMostDevices = 64;

struct Failure {
  std::string symbol;  // "*": any
  std::int64_t call = 0;
  int code = 999;
};

struct Vanishing {
  int device = 0;
  std::int64_t calls = 0;
};

struct NcclStop {
  int rank = 0;
  int group = 0;
};

struct Settings {
  int devices = 0;
  std::size_t memory = std::size_t{512} << 20;
  bool all_peers = true;
  std::set<std::pair<int, int>> peers;  // smaller number first
  std::chrono::microseconds latency{0};
  int version = 13000;
  std::optional<Failure> failure;
  std::optional<Vanishing> vanishing;
  int nccl_version = 22803;
  std::optional<NcclStop> nccl_stop;
  std::string report;
  std::string error;  // not empty: the text is wrong
};

Settings ReadSettings(const char* text);

}  // namespace tessera::test::cuda_emulation
