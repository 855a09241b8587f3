// SPDX-License-Identifier: Apache-2.0
// What views of a live job cost: time to take one, what the job's steps lose by one a second, and
// the rate of reading, beside a memcpy of the same bytes. Medians; the sides of a ratio in turn.
#include <fmt/format.h>

#include <QCoreApplication>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "agents/client/cluster_state.h"
#include "ptc/base/median.h"
#include "tests/bench/machine.h"
#include "tests/support/local_cluster.h"

using namespace tessera;
using namespace tessera::test;
using engine::vfs::StateSource;
using engine::vfs::StateView;
using Clock = std::chrono::steady_clock;

namespace {

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Reads all tensors, with one reader for each buffer. A mount has several.
/// \return seconds, 0 where that failed
double ReadAll(const StateView& view, std::span<std::vector<std::byte>> buffers) {
  const auto& tensors = view.info().layout.collection().tensors();
  std::atomic<int> next = 0;
  std::atomic<bool> failed = false;
  const auto read = [&](std::vector<std::byte>& buffer) {
    for (int t = next++; t < static_cast<int>(tensors.size()) && !failed; t = next++) {
      const ptc::TensorSpec& spec = tensors[static_cast<std::size_t>(t)];
      const ptc::Box whole = *ptc::Box::Whole(spec.shape);
      const auto size = static_cast<std::size_t>(whole.num_elements() * ptc::SizeBytes(spec.dtype));
      if (!view.Read(t, whole, std::span(buffer).first(size))) failed = true;
    }
  };
  const auto begin = Clock::now();
  std::vector<std::jthread> others;
  for (auto& buffer : buffers.subspan(1)) others.emplace_back(read, std::ref(buffer));
  read(buffers.front());
  others.clear();
  return failed ? 0 : SecondsSince(begin);
}

/// Reads one row of the largest tensor the requested number of times.
/// \return median seconds
double ReadRow(const StateView& view, std::vector<std::byte>& buffer, int times) {
  const auto& tensors = view.info().layout.collection().tensors();
  int largest = 0;
  const auto elements = [&](int t) {
    return ptc::Box::Whole(tensors[static_cast<std::size_t>(t)].shape)->num_elements();
  };
  for (int t = 0; t < static_cast<int>(tensors.size()); ++t) {
    if (elements(t) > elements(largest)) largest = t;
  }
  const ptc::TensorSpec& spec = tensors[static_cast<std::size_t>(largest)];
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) {
    const std::int64_t row = i % spec.shape[0];
    const ptc::Box box =
        *ptc::Box::Make(std::vector<ptc::Interval>{{row, row + 1}, {0, spec.shape[1]}});
    const auto size = static_cast<std::size_t>(box.num_elements() * ptc::SizeBytes(spec.dtype));
    const auto begin = Clock::now();
    if (!view.Read(largest, box, std::span(buffer).first(size))) return 0;
    seconds.push_back(SecondsSince(begin));
  }
  return UpperMedian(seconds);
}

double MemcpySeconds(std::vector<std::byte>& buffer) {
  const std::vector<std::byte> from(buffer.size(), std::byte{1});
  const auto begin = Clock::now();
  std::memcpy(buffer.data(), from.data(), buffer.size());
  return SecondsSince(begin);
}

/// Step rate of the job over `seconds`.
double StepsPerSecond(const LocalCluster& cluster, const QString& job, double seconds) {
  const std::int64_t first = cluster.Step(job);
  const auto begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return static_cast<double>(cluster.Step(job) - first) / SecondsSince(begin);
}

void Bench(const QString& model) {
  LocalCluster cluster(
      {.nodes = 2, .devices = 4, .memory = QStringLiteral("512M"), .link = {}, .one_host = false});
  if (cluster.up().code != 0) return fmt::print("up: {}\n", cluster.up().Text().toStdString());
  const QString job = QStringLiteral("bench");
  const Outcome start = cluster.Run({"job", "start", model, "--name", job, "--mesh", "dp=2,tp=2",
                                     "--devices", "n0g0,n0g1,n1g0,n1g1"},
                                    160);
  if (start.code != 0) return fmt::print("start: {}\n", start.Text().toStdString());
  if (!cluster.WaitStep(job, 5, 120)) return;
  const auto profile = agents::LoadProfile((cluster.home() + "/profiles/t.json").toStdString());
  if (!profile) return;
  auto mapped = agents::OpenClusterState(*profile);
  agents::ClusterStateOptions remote_options;
  remote_options.map_memory = false;
  auto remote = agents::OpenClusterState(*profile, remote_options);
  if (!mapped || !remote) return;

  std::vector<double> pin, map_rate, lane_rate, copy_rate;
  double map_row = 0, lane_row = 0;
  std::int64_t bytes = 0;
  for (int i = 0; i < 15; ++i) {
    const auto begin = Clock::now();
    const auto view = (*mapped)->Pin(job.toStdString());
    pin.push_back(SecondsSince(begin));
    const auto far = (*remote)->Pin(job.toStdString());
    if (!view || !far) return fmt::print("no view\n");
    bytes = (*view)->info().layout.collection().total_bytes();
    std::vector<std::byte> buffer(static_cast<std::size_t>(bytes));
    const auto rate = [&](double seconds) { return static_cast<double>(bytes) / seconds / 1e9; };
    copy_rate.push_back(rate(MemcpySeconds(buffer)));
    map_rate.push_back(rate(ReadAll(**view, {&buffer, 1})));
    lane_rate.push_back(rate(ReadAll(**far, {&buffer, 1})));
    map_row = ReadRow(**view, buffer, 200);
    lane_row = ReadRow(**far, buffer, 200);
  }
  std::vector<double> alone, viewed;
  for (int i = 0; i < 4; ++i) {
    alone.push_back(StepsPerSecond(cluster, job, 8));
    std::atomic<bool> done{false};
    std::thread viewer([&] {
      while (!done) {
        static_cast<void>((*mapped)->Pin(job.toStdString()));
        std::this_thread::sleep_for(std::chrono::seconds(1));
      }
    });
    viewed.push_back(StepsPerSecond(cluster, job, 8));
    done = true;
    viewer.join();
  }
  // The job has no part of the cores while it is paused.
  std::vector<double> paused_rate, both_rate;
  if (cluster.Run({"job", "pause", job}).code != 0) return fmt::print("the job does not pause\n");
  for (int i = 0; i < 15; ++i) {
    const auto far = (*remote)->Pin(job.toStdString());
    if (!far) return fmt::print("no view\n");
    std::vector<std::vector<std::byte>> buffers(
        2, std::vector<std::byte>(static_cast<std::size_t>(bytes), std::byte{1}));
    const std::span both(buffers);
    paused_rate.push_back(static_cast<double>(bytes) / ReadAll(**far, both.first(1)) / 1e9);
    both_rate.push_back(static_cast<double>(bytes) / ReadAll(**far, both) / 1e9);
  }
  fmt::print("{}, {:.1f} MiB of state, 4 ranks on 2 nodes of this machine, {:.2f} steps/s\n",
             model.toStdString(), static_cast<double>(bytes) / (1 << 20), UpperMedian(alone));
  fmt::print("  taking a view: median {:.0f} ms, {:.2f} steps\n", 1e3 * UpperMedian(pin),
             UpperMedian(pin) * UpperMedian(alone));
  fmt::print("  a view a second: {:.2f} steps/s, {:.3f} of the rate without\n", UpperMedian(viewed),
             UpperMedian(viewed) / UpperMedian(alone));
  fmt::print("  reading all, mapped: {:.2f} GB/s, {:.2f} of memcpy; a row {:.1f} us\n",
             UpperMedian(map_rate), UpperMedian(map_rate) / UpperMedian(copy_rate), 1e6 * map_row);
  fmt::print("  reading all, over lanes: {:.2f} GB/s, {:.2f} of memcpy; a row {:.0f} us\n",
             UpperMedian(lane_rate), UpperMedian(lane_rate) / UpperMedian(copy_rate),
             1e6 * lane_row);
  fmt::print("  reading all, over lanes, while the job is paused: {:.2f} GB/s, by two {:.2f}\n",
             UpperMedian(paused_rate), UpperMedian(both_rate));
}

}  // namespace

int main(int argc, char** argv) {
  QCoreApplication app(argc, argv);
  fmt::print("{}\n", Machine());
  Bench(QStringLiteral("gpt-mini"));
  return 0;
}
