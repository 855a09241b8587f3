// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rates of the copies that a move is made of, beside memcpy of the same machine, the same block
/// size, the same warm memory and as many threads. Prints the median of repeated rounds; in each
/// round all kinds of copy run one after the other, so that a change of clock frequency meets all
/// of them. Argument: threads (1).

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/copy/fused.h"
#include "ptc/base/median.h"
#include "ptc/digest.h"
#include "tests/bench/machine.h"

using namespace tessera;
using engine::CellView;
using ptc::Box;

namespace {

using tessera::UpperMedian;

constexpr std::int64_t kCellBytes = std::int64_t{16} << 20;
constexpr std::int64_t kBufferBytes = std::int64_t{256} << 20;  // above any cache
constexpr std::int64_t kCells = kBufferBytes / kCellBytes;
constexpr int kRounds = 9;

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::byte* AllocateTouched() {
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(4096, kBufferBytes));
  for (std::int64_t i = 0; i < kBufferBytes; ++i) memory[i] = static_cast<std::byte>(i * 7);
  return memory;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::clamp(std::atoi(argv[1]), 1, static_cast<int>(kCells)) : 1;
  std::byte* const from = AllocateTouched();
  std::byte* const to = AllocateTouched();
  std::printf("%s, %d thread%s, cells of %lld MiB, medians of %d rounds\n",
              tessera::test::Machine().c_str(), threads, threads == 1 ? "" : "s",
              static_cast<long long>(kCellBytes >> 20), kRounds);
  std::printf("%10s %8s | %14s %14s %14s %14s\n", "run", "memcpy", "CopyCell", "copy, digests",
              "digest alone", "checksum");

  std::atomic<std::uint64_t> sink = 0;
  for (const std::int64_t run : {std::int64_t{256}, std::int64_t{512}, std::int64_t{1024},
                                 std::int64_t{4096}, std::int64_t{65536}, kCellBytes}) {
    // A column cut of a matrix of f32 into two pieces: the source holds rows twice as long as the
    // cell's, the destination holds the cell alone.
    const std::int64_t width = run / 4;
    const std::int64_t rows = kCellBytes / run;
    const bool whole = rows == 1;
    const std::vector<ptc::Interval> source_dims{{0, rows}, {0, whole ? width : 2 * width}};
    const std::vector<ptc::Interval> cell_dims{{0, rows}, {0, width}};
    const Box source = *Box::Make(source_dims), cell = *Box::Make(cell_dims);
    const ptc::Shape shape = source.shape();
    const std::int64_t source_bytes = source.num_elements() * 4;
    const std::int64_t sources = kBufferBytes / source_bytes;

    std::vector<double> memcpy_s, copy_s, fused_s, digest_s, checksum_s;
    const auto for_each_cell = [&](const auto& visit) {
      const auto work = [&](std::int64_t first) {
        for (std::int64_t i = first; i < kCells; i += threads) {
          visit(from + i % sources * source_bytes, to + i * kCellBytes);
        }
      };
      std::vector<std::jthread> others;
      for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
      work(0);
    };
    for (int round = 0; round <= kRounds; ++round) {
      const double memcpy_time = Seconds([&] {
        for_each_cell([](std::byte* source_data, std::byte* target_data) {
          std::memcpy(target_data, source_data, kCellBytes);
        });
      });
      const double copy_time = Seconds([&] {
        for_each_cell([&](std::byte* source_data, std::byte* target_data) {
          CopyCell(CellView(cell, cell, 4, target_data), CellView(source, cell, 4, source_data));
        });
      });
      const double fused_time = Seconds([&] {
        for_each_cell([&](std::byte* source_data, std::byte* target_data) {
          const CellView target(cell, cell, 4, target_data);
          sink += CopyCellAndDigest({&target, 1}, CellView(source, cell, 4, source_data),
                                    engine::IndicesOf(ptc::DType::kF32, shape, cell))
                      .source;
        });
      });
      const double digest_time = Seconds([&] {
        for_each_cell([&](std::byte* source_data, std::byte*) {
          sink += ptc::DigestBox(ptc::DType::kF32, shape, source, source_data, cell);
        });
      });
      const double checksum_time = Seconds([&] {
        for_each_cell([&](std::byte*, std::byte* target_data) {
          sink += engine::Checksum({target_data, static_cast<std::size_t>(kCellBytes)});
        });
      });
      if (round == 0) continue;  // warms up
      memcpy_s.push_back(memcpy_time);
      copy_s.push_back(copy_time);
      fused_s.push_back(fused_time);
      digest_s.push_back(digest_time);
      checksum_s.push_back(checksum_time);
    }
    const double base = UpperMedian(memcpy_s);
    const auto column = [base](const std::vector<double>& seconds) {
      char text[32];
      const double median = UpperMedian(seconds);
      std::snprintf(text, sizeof(text), "%5.1f  (%4.2f)", kBufferBytes / median / 1e9,
                    base / median);
      return std::string(text);
    };
    std::printf("%8.2fKi %8.1f | %14s %14s %14s %14s\n", static_cast<double>(run) / 1024,
                kBufferBytes / base / 1e9, column(copy_s).c_str(), column(fused_s).c_str(),
                column(digest_s).c_str(), column(checksum_s).c_str());
  }
  std::printf("GB/s (ratio to memcpy of %lld MiB)%s\n", static_cast<long long>(kCellBytes >> 20),
              sink == 0 ? " " : "");
  std::free(from);
  std::free(to);
  return 0;
}
