// SPDX-License-Identifier: Apache-2.0
/// \file
/// How fast the order and the formats of data are: images of the permutation and places of a mix a
/// second; tokens a second of each format beside pread of the same bytes and beside memcpy of the
/// tokens. In each round every kind runs once, so that a change of the clock meets all; medians,
/// in time of the thread's own processor, which other programs of the machine do not stretch.

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/formats/open_data.h"
#include "engine/data/local_source.h"
#include "engine/data/permutation.h"
#include "engine/files/descriptor.h"
#include "ptc/base/median.h"
#include "tests/bench/machine.h"
#include "tests/engine/data/data_files.h"

using namespace tessera;
namespace fs = std::filesystem;

namespace {

using tessera::UpperMedian;

constexpr int kRounds = 9;
constexpr std::int64_t kSequence = 2048;
constexpr std::int64_t kTokens = 32 << 20;  // of each data set

double Seconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

void BenchOrder() {
  std::vector<std::int64_t> images(1 << 20);
  fmt::print("\n{:>16} | {:>12} {:>12}\n", "samples", "permutation", "memcpy");
  for (const std::int64_t size : {(std::int64_t{1} << 40), std::int64_t{1'000'000'000},
                                  std::int64_t{3'000'000}, (std::int64_t{1} << 30) + 1}) {
    const auto order = engine::Permutation::Make(size, 1);
    std::vector<std::int64_t> copy(images.size());
    std::vector<double> ours, raw;
    for (int round = 0; round <= kRounds; ++round) {
      ours.push_back(Seconds([&] { order->Fill(round, images); }));
      raw.push_back(Seconds([&] { std::memcpy(copy.data(), images.data(), 8 * images.size()); }));
    }
    const auto rate = [&](const std::vector<double>& s) {
      return static_cast<double>(images.size()) / UpperMedian(s) / 1e6;
    };
    fmt::print("{:16} | {:10.1f} M {:10.1f} M\n", size, rate(ours), rate(raw));
  }
}

/// A data set on disk and in the page cache.
struct Set {
  const char* name;
  std::string path;      // as OpenData takes it
  std::string raw_path;  // the file whose bytes it reads
};

std::vector<Set> WriteSets(const std::string& folder) {
  std::string text(kTokens, ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i * 31 % 26);
  test::WriteBytes(folder + "/text.txt", text);
  std::string frames, tar;
  for (std::int64_t at = 0; at < kTokens; at += kSequence + 1) {
    const std::string part = text.substr(static_cast<std::size_t>(at), kSequence + 1);
    frames += test::TfRecordFrame(part);
    tar += test::TarMemberBytes(fmt::format("{:08}.txt", at), part);
  }
  test::WriteBytes(folder + "/a.tfrecord", frames);
  test::WriteBytes(folder + "/a.tar", tar + test::TarEnd());
  test::WriteBytes(folder + "/m.bin", std::string(2 * kTokens, 'm'));
  test::WriteBytes(folder + "/m.idx",
                   test::MegatronIdx(std::vector<std::int32_t>(kTokens / 1024, 1024), 8, 2));
  return {{"text", folder + "/text.txt", folder + "/text.txt"},
          {"megatron u16", folder + "/m.bin", folder + "/m.bin"},
          {"tfrecord", folder + "/a.tfrecord", folder + "/a.tfrecord"},
          {"tar", folder + "/a.tar", folder + "/a.tar"}};
}

void BenchSet(const Set& set) {
  const engine::LocalFiles local;
  const engine::SourceOpener* const openers[] = {&local};
  double open_s = 0;
  std::unique_ptr<engine::DataMix> mix;
  open_s = Seconds([&] {
    auto opened = engine::OpenData({set.path}, kSequence, openers, {});
    if (opened) mix = std::make_unique<engine::DataMix>(std::move(*opened));
  });
  if (!mix) return;
  const std::int64_t count = std::min<std::int64_t>(mix->num_samples(), 8000);
  const auto ids = *mix->SamplesAt({.seed = 1}, 0, count);
  const engine::Descriptor file(::open(set.raw_path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto window = static_cast<std::int64_t>((*mix->parts()[0].data->ReadRecord(0)).size());
  std::vector<std::int32_t> tokens(kSequence + 1), copy(tokens.size());
  std::vector<std::byte> bytes(static_cast<std::size_t>(window));
  bool is_good = true;
  std::vector<double> ours, pread, copying;
  for (int round = 0; round <= kRounds; ++round) {
    ours.push_back(Seconds([&] {
      for (const auto& id : ids) is_good = is_good && mix->ReadTokens(id, tokens).has_value();
    }));
    pread.push_back(Seconds([&] {
      for (const auto& id : ids) is_good = is_good && file.ReadAt(id.sample * window / 2, bytes);
    }));
    copying.push_back(Seconds([&] {
      for (std::size_t i = 0; i < ids.size(); ++i) {
        std::memcpy(copy.data(), tokens.data(), 4 * tokens.size());
        __asm__ volatile("" : : "r"(copy.data()) : "memory");
      }
    }));
  }
  const auto rate = [&](const std::vector<double>& seconds) {
    return static_cast<double>(count * kSequence) / UpperMedian(seconds) / 1e6;
  };
  fmt::print("{:>14} | {:8.0f} M {:8.0f} M ({:4.2f}) {:8.0f} M ({:4.2f}) {:8.1f} ms{}\n", set.name,
             rate(ours), rate(pread), rate(ours) / rate(pread), rate(copying),
             rate(ours) / rate(copying), open_s * 1e3, is_good ? "" : "  READS FAILED");
}

}  // namespace

int main() {
  fmt::print("{}, one thread, medians of {} rounds\n", test::Machine(), kRounds + 1);
  BenchOrder();
  std::string folder = fs::temp_directory_path() / "tessera-data-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  fmt::print("\ntokens a second, shuffled samples of {} tokens, page cache (ratio of ours)\n",
             kSequence);
  fmt::print("{:>14} | {:>10} {:>17} {:>17} {:>11}\n", "format", "ReadTokens", "pread", "memcpy",
             "open");
  for (const Set& set : WriteSets(folder)) BenchSet(set);
  fs::remove_all(folder);
  return 0;
}
