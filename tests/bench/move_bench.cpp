// SPDX-License-Identifier: Apache-2.0
/// \file
/// The pause of live moves of a job that only holds state, beside one copy of the bytes that they
/// move (memcpy, or the driver's inside a GPU), beside the pause that `plan` states, and with
/// --peers beside PyTorch's distributed checkpoint of the same state on tmpfs, saved and loaded by
/// one process. With --overlap: the pause in which all state of a job that updates it moves, beside
/// the pause in which only gradients do. Medians of rounds in which all of these take turns.
#include <fmt/format.h>

#include <QCoreApplication>
#include <QProcess>
#include <QTemporaryDir>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agents/gpu/cuda_device.h"
#include "ptc/base/median.h"
#include "tests/bench/held_job.h"
#include "tests/bench/machine.h"
#include "tests/bench/step_seconds.h"
#include "tests/folders.h"
#include "tests/support/local_cluster.h"

using tessera::UpperMedian;
using namespace tessera::test;

namespace {

constexpr int kLayers = kHeldLayers;
constexpr int kColumns = kHeldColumns;
const QString kJob = QStringLiteral("state");

struct Size {
  const char* name;
  int rows;  // of each of two matrices of a layer
  const char* memory;
};
constexpr Size kSize = {"0.7 GiB", 3328, "1G"};
constexpr Size kLargeSize = {"2 GiB", 9680, "1900M"};
constexpr Size kLargeSizeOfGpus = {"8 GiB", 38720, "7G"};

struct Change {
  const char* name;  // (pp,tp,dp)
  const char* from;
  int from_devices;
  const char* to;
  int to_devices;
};
constexpr Change kChanges[] = {
    {"(2,2,1) -> (2,2,2)", "pp=2,tp=2,dp=1", 4, "pp=2,tp=2,dp=2", 8},
    {"(1,2,1) -> (1,4,1)", "pp=1,tp=2,dp=1", 2, "pp=1,tp=4,dp=1", 4},
    {"(1,4,1) -> (1,2,1)", "pp=1,tp=4,dp=1", 4, "pp=1,tp=2,dp=1", 2},
    {"(2,2,1) -> (4,2,1)", "pp=2,tp=2,dp=1", 4, "pp=4,tp=2,dp=1", 8},
};

/// Of which to measure only those with these texts in their names; empty: all.
std::string only_change, only_fabric;  // NOLINT(*-global-variables): of the command line

std::vector<Change> Changes() {
  std::vector<Change> changes(std::begin(kChanges), std::end(kChanges));
  std::erase_if(changes, [](const Change& change) {
    return std::string(change.name).find(only_change) == std::string::npos;
  });
  return changes;
}

double Seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// One copy of `bytes` in memory whose pages are present. It is freed, because the peers need it.
double MemcpySeconds(std::size_t bytes) {
  std::vector<char> from(bytes, 1), to(bytes, 2);
  return Seconds([&] { std::memcpy(to.data(), from.data(), bytes); });
}

/// The same inside a CUDA device, by its driver; 0 if it fails.
double DeviceCopySeconds(std::size_t bytes) {
  const auto device = tessera::agents::CudaDevice::Open(0);
  if (!device) return 0;
  const auto& api = (*device)->driver().api();
  std::uint64_t from = 0, to = 0;
  double seconds = 0;
  if (api.MemAlloc(&from, bytes) == 0 && api.MemAlloc(&to, bytes) == 0) {
    for (int i = 0; i < 2; ++i) {  // the first one warms up
      seconds = Seconds([&] {
        api.MemcpyDtoDAsync(to, from, bytes, nullptr);
        api.CtxSynchronize();
      });
    }
  }
  api.MemFree(from);
  api.MemFree(to);
  return seconds;
}

/// Seconds of PyTorch to save and load as many bytes; 0 if it cannot be had.
double TorchSeconds(const QString& python, int rows) {
  QProcess torch;
  torch.start(python, {QStringLiteral(TESSERA_SOURCE_DIR "/tests/bench/torch_checkpoint.py"),
                       QString::number(2 * kLayers), QString::number(rows),
                       QString::number(kColumns), OnRealGpus() ? "cuda" : "cpu"});
  torch.waitForFinished(120'000);
  bool ok = false;
  const double seconds = torch.readAllStandardOutput().trimmed().toDouble(&ok);
  if (!ok) fmt::print(stderr, "{}", torch.readAllStandardError().toStdString());
  return ok ? seconds : 0;
}

struct Row {
  std::vector<double> pause, planned, copy;
  std::size_t bytes = 0;
};

struct Fabric {
  const char* name;
  int nodes;
  bool plain_lanes;
};
constexpr Fabric kFabrics[] = {
    {"1 node", 1, false}, {"2 nodes, CURVE", 2, false}, {"2 nodes, plain lanes", 2, true}};

/// Starts a program of this folder as the job, on two devices.
bool StartJob(const LocalCluster& cluster, const QString& folder, const QString& command,
              const QStringList& more, int nodes) {
  const Outcome start = cluster.Run(
      QStringList{"job", "start", "--exec", "exec " TESSERA_TEST_FOLDER "/" + command, "--tensors",
                  folder + "/tensors.json", "--rules", folder + "/rules.json", "--name", kJob,
                  "--mesh", "tp=2", "--devices", FirstDevices(2, 8 / nodes)} +
          more,
      120);
  if (start.code == 0 && cluster.WaitStep(kJob, 3)) return true;
  fmt::print(stderr, "{}\n", start.Text().toStdString());
  return false;
}

/// How long a step of the job computes.
constexpr int kComputeMilliseconds = 1500;

/// The pause in which all state moves beside the pause in which only gradients do, in turn.
bool MeasureOverlap(const Size& size, const Fabric& fabric, int rounds) {
  const int nodes = fabric.nodes;
  const QTemporaryDir folder;
  const LocalCluster cluster({.nodes = nodes,
                              .devices = 8 / nodes,
                              .memory = QString::fromLatin1(size.memory),
                              .link = {},
                              .one_host = false,
                              .plain_lanes = fabric.plain_lanes});
  if (cluster.up().code != 0 || !WriteTrainedJob(folder.path(), size.rows / 3 / 8 * 8) ||
      !StartJob(cluster, folder.path(),
                QStringLiteral("bench-train-state %1").arg(kComputeMilliseconds),
                {"--pauses-before-updates"}, nodes)) {
    return false;
  }
  struct Ways {
    std::vector<double> pause[2], planned[2], step;  // step: while it copies, over the usual
    std::size_t bytes = 0, gradients = 0;
  };
  std::map<std::string, Ways> rows;
  std::string mesh;  // of the job
  for (int round = 0; round < rounds; ++round) {
    for (const Change& change : Changes()) {
      for (const bool overlaps : {false, true}) {
        const QString back = FirstDevices(change.from_devices, 8 / nodes);
        const QString devices = FirstDevices(change.to_devices, 8 / nodes);
        const QStringList way = {"--overlap", overlaps ? "on" : "off"};
        if (mesh != change.from) cluster.Apply(kJob, change.from, back, {"--overlap", "off"});
        mesh = change.to;
        if (!cluster.GoesOn(kJob, 4)) return false;
        const Json plan =
            cluster.Ask(QStringList{"plan", kJob, "--mesh", change.to, "--devices", devices} + way);
        const Json moved = cluster.Apply(kJob, change.to, devices, way);
        if (!plan.is_object() || !moved.is_object() || moved["result"] != "committed" ||
            moved["digest_before"] != moved["digest_after"]) {
          fmt::print(stderr, "{}: {} {}\n", change.name, plan.dump(), moved.dump());
          return false;
        }
        if (!only_change.empty()) {
          fmt::print("{}: {} ms, {}\n", overlaps ? "overlap" : "plain",
                     1e3 * moved["pause_seconds"].get<double>(),
                     cluster.Ask({"history"})["transactions"][0]["phase_seconds"].dump());
        }
        Ways& row = rows[change.name];
        row.pause[overlaps].push_back(moved["pause_seconds"].get<double>());
        row.planned[overlaps].push_back(plan["pause_estimate_seconds"].get<double>());
        row.bytes = moved["moved_bytes"].get<std::size_t>();
        if (!overlaps) continue;
        row.gradients = plan["overlap"]["gradient_bytes"].get<std::size_t>();
        if (!cluster.GoesOn(kJob, 2)) return false;
        const double slowdown = Slowdown(cluster, kJob, moved["step"].get<std::int64_t>(), 1, 4);
        if (slowdown > 0) row.step.push_back(slowdown);
      }
    }
  }
  fmt::print(
      "\n{} of f32 parameters and moments, {}, a step computes {} ms, medians of {} rounds\n",
      size.name, fabric.name, kComputeMilliseconds, rounds);
  fmt::print("{:>20} {:>10} {:>10} {:>18} {:>18} {:>7} {:>10}\n", "(pp,tp,dp)", "state",
             "gradients", "plain (planned)", "overlap (planned)", "ratio", "step");
  const auto median = [](const std::vector<double>& values) { return 1e3 * UpperMedian(values); };
  for (const Change& change : Changes()) {
    const Ways& row = rows[change.name];
    const auto way = [&](int which) {
      return fmt::format("{:.0f} ({:.0f}) ms", median(row.pause[which]),
                         median(row.planned[which]));
    };
    fmt::print("{:>20} {:>6.0f} MiB {:>6.0f} MiB {:>18} {:>18} {:>7.2f} {:>8.2f} x\n", change.name,
               static_cast<double>(row.bytes) / (1 << 20),
               static_cast<double>(row.gradients) / (1 << 20), way(0), way(1),
               median(row.pause[1]) / median(row.pause[0]),
               row.step.empty() ? 0.0 : UpperMedian(row.step));
  }
  return true;
}

bool Measure(const Size& size, const Fabric& fabric, int rounds, const QString& python) {
  const int nodes = fabric.nodes;
  const QTemporaryDir folder;
  LocalCluster cluster({.nodes = nodes,
                        .devices = 8 / nodes,
                        .memory = QString::fromLatin1(size.memory),
                        .link = {},
                        .one_host = false,
                        .plain_lanes = fabric.plain_lanes});
  if (cluster.up().code != 0 || !WriteHeldJob(folder.path(), size.rows)) {
    fmt::print(stderr, "{}\n", cluster.up().Text().toStdString());
    return false;
  }
  if (!StartJob(cluster, folder.path(), "bench-hold-state", {}, nodes)) return false;
  std::map<std::string, Row> rows;
  std::vector<double> torch;
  std::string mesh;  // of the job
  for (int round = 0; round < rounds; ++round) {
    for (const Change& change : Changes()) {
      if (change.from != mesh) {  // else the job is there
        const Json back =
            cluster.Apply(kJob, change.from, FirstDevices(change.from_devices, 8 / nodes));
        if (!back.is_object() || !cluster.GoesOn(kJob, 3)) return false;
      }
      mesh = change.to;
      const QString devices = FirstDevices(change.to_devices, 8 / nodes);
      const Json plan = cluster.Ask({"plan", kJob, "--mesh", change.to, "--devices", devices});
      const Json moved = cluster.Apply(kJob, change.to, devices);
      if (!plan.is_object() || !moved.is_object()) return false;
      if (moved["result"] != "committed" || moved["digest_before"] != moved["digest_after"]) {
        fmt::print(stderr, "{}: {}\n", change.name, moved.dump());
        return false;
      }
      if (!cluster.GoesOn(kJob, 3)) return false;
      Row& row = rows[change.name];
      row.pause.push_back(moved["pause_seconds"].get<double>());
      row.planned.push_back(plan["pause_estimate_seconds"].get<double>());
      row.bytes = moved["moved_bytes"].get<std::size_t>();
      row.copy.push_back(OnRealGpus() ? DeviceCopySeconds(row.bytes) : MemcpySeconds(row.bytes));
    }
    if (!python.isEmpty()) torch.push_back(TorchSeconds(python, size.rows));
  }
  fmt::print("\n{} of f32 state, {}, medians of {} rounds\n", size.name, fabric.name, rounds);
  fmt::print("{:>20} {:>10} {:>9} {:>9} {:>14} {:>9} {:>9} {:>10}\n", "(pp,tp,dp)", "moved",
             "pause", "first", "low…high", "planned", "copy", "ratio");
  for (const Change& change : Changes()) {
    const Row& row = rows[change.name];
    const double pause = UpperMedian(row.pause), copy = UpperMedian(row.copy);
    const auto [low, high] = std::ranges::minmax(row.pause);
    fmt::print(
        "{:>20} {:>6.0f} MiB {:>6.0f} ms {:>6.0f} ms {:>14} {:>6.0f} ms {:>6.1f} ms {:>10.1f}\n",
        change.name, static_cast<double>(row.bytes) / (1 << 20), 1e3 * pause,
        1e3 * row.pause.front(), fmt::format("{:.0f}…{:.0f} ms", 1e3 * low, 1e3 * high),
        1e3 * UpperMedian(row.planned), 1e3 * copy, pause / copy);
  }
  if (!torch.empty()) {
    fmt::print("PyTorch's checkpoint of this state, saved and loaded: {:.2f} s\n",
               UpperMedian(torch));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const QCoreApplication app(argc, argv);
  QString python;
  int rounds = 5;
  bool large = false, overlap = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--peers" && i + 1 < argc) {
      python = QString::fromLocal8Bit(argv[++i]);
    } else if (word == "--rounds" && i + 1 < argc) {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--large") {
      large = true;
    } else if (word == "--change" && i + 1 < argc) {
      only_change = argv[++i];
    } else if (word == "--fabric" && i + 1 < argc) {
      only_fabric = argv[++i];
    } else if (word == "--overlap") {
      overlap = true;
    } else {
      fmt::print(stderr,
                 "usage: move_bench [--rounds N] [--change TEXT] [--fabric TEXT] [--large] "
                 "[--peers PYTHON_WITH_TORCH] | --overlap\n");
      return 2;
    }
  }
  fmt::print("{}\n", tessera::test::Machine());
  if (qgetenv("TESSERA_TEST_GPUS") == "cuda") {
    fmt::print("on emulated CUDA devices: this says nothing about the speed of a GPU\n");
  } else if (OnRealGpus()) {
    fmt::print("on a CUDA device, which all GPUs of the cluster share\n");
  }
  std::vector<Size> sizes = {kSize};
  if (large) sizes.push_back(OnRealGpus() ? kLargeSizeOfGpus : kLargeSize);
  for (const Size& size : sizes) {
    for (const Fabric& fabric : kFabrics) {
      if (std::string(fabric.name).find(only_fabric) == std::string::npos) continue;
      const bool done =
          overlap ? MeasureOverlap(size, fabric, rounds) : Measure(size, fabric, rounds, python);
      if (!done) return 1;
    }
  }
  return 0;
}
