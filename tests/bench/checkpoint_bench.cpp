// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checkpoints of a job on tmpfs: saving beside `cp` of the same files, loading into another layout
/// beside `reshard` of the same files, the job's steps while checkpoints are saved one after the
/// other, and with --peers PyTorch's async_save of as many bytes. Medians of rounds in which the
/// sides of a ratio take turns.
#include <fmt/format.h>

#include <QCoreApplication>
#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "ptc/base/median.h"
#include "tests/bench/held_job.h"
#include "tests/bench/machine.h"
#include "tests/bench/step_seconds.h"
#include "tests/folders.h"
#include "tests/support/local_cluster.h"
#include "tests/support/temporary_folder.h"

using tessera::UpperMedian;
using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("state");
constexpr double kMiB = 1 << 20;

double Seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool RunTool(const QString& program, const QStringList& arguments) {
  QProcess process;
  process.start(program, arguments);
  return process.waitForFinished(300'000) && process.exitCode() == 0;
}

bool Fail(const Outcome& outcome) {
  fmt::print(stderr, "{}\n", outcome.Text().toStdString());
  return false;
}

/// The seconds that PyTorch needs to save as many bytes, and those that its training loop waits;
/// empty if it cannot be had.
std::vector<double> TorchSeconds(const QString& python, int rows) {
  QProcess torch;
  torch.start(python, {QStringLiteral(TESSERA_SOURCE_DIR "/tests/bench/torch_async_save.py"),
                       QString::number(2 * kHeldLayers), QString::number(rows),
                       QString::number(kHeldColumns)});
  torch.waitForFinished(300'000);
  std::vector<double> out;
  for (const QByteArray& word : torch.readAllStandardOutput().simplified().split(' ')) {
    bool ok = false;
    out.push_back(word.toDouble(&ok));
    if (!ok) out.clear();
  }
  if (out.size() != 2) fmt::print(stderr, "{}", torch.readAllStandardError().toStdString());
  return out.size() == 2 ? out : std::vector<double>();
}

bool MeasureFiles(int rows, int rounds, const QString& python) {
  const auto folder = TemporaryFolder();
  LocalCluster cluster(
      {.nodes = 1, .devices = 4, .memory = QStringLiteral("1400M"), .link = {}, .one_host = false});
  if (cluster.up().code != 0) return Fail(cluster.up());
  if (!WriteHeldJob(folder->path(), rows)) return false;
  const Outcome start = cluster.Run(
      {"job", "start", "--exec", QStringLiteral("exec " TESSERA_TEST_FOLDER "/bench-hold-state"),
       "--tensors", folder->filePath("tensors.json"), "--rules", folder->filePath("rules.json"),
       "--name", kJob, "--mesh", "tp=2", "--devices", "n0g0,n0g1"},
      120);
  if (start.code != 0 || !cluster.WaitStep(kJob, 3)) return Fail(start);
  std::vector<double> saved, copied, torch, torch_waits;
  double bytes = 0;
  const QString home = folder->filePath("checkpoints");
  for (int round = 0; round < rounds; ++round) {
    Json checkpoint;
    saved.push_back(Seconds([&] {
      checkpoint = cluster.Ask({"checkpoint", "save", kJob, home}, 300);
    }));
    if (!checkpoint.is_object()) return false;
    bytes = checkpoint["bytes"].get<double>();
    const QString path = QString::fromStdString(checkpoint["path"]);
    const QString copy = folder->filePath("copy");
    copied.push_back(Seconds([&] { RunTool("cp", {"-r", path, copy}); }));
    if (!QDir(copy).removeRecursively() || !QDir(path).removeRecursively()) return false;
    if (python.isEmpty()) continue;
    if (const auto seconds = TorchSeconds(python, rows); !seconds.empty()) {
      torch.push_back(seconds[0]);
      torch_waits.push_back(seconds[1]);
    }
  }
  const double save = UpperMedian(saved), copy = UpperMedian(copied);
  fmt::print("save {:.0f} MiB: {:.2f} s, cp {:.2f} s: {:.2f} x its rate\n", bytes / kMiB, save,
             copy, copy / save);
  if (!torch.empty()) {
    fmt::print("PyTorch async_save of as many bytes: {:.2f} s, of which training waits {:.2f} s\n",
               UpperMedian(torch), UpperMedian(torch_waits));
  }

  // The job stands, because this program counts its steps itself.
  if (const Outcome paused = cluster.Run({"job", "pause", kJob}); paused.code != 0) {
    return Fail(paused);
  }
  const Json checkpoint = cluster.Ask({"checkpoint", "save", kJob, home}, 300);
  if (!checkpoint.is_object()) {
    fmt::print(stderr, "no checkpoint of the paused job\n");
    return false;
  }
  const QString path = QString::fromStdString(checkpoint["path"]);
  const Json moved = cluster.Apply(kJob, "tp=4", "n0g0,n0g1,n0g2,n0g3");
  if (!moved.is_object() || moved["result"] != "committed") {
    fmt::print(stderr, "{}\n", moved.dump());
    return false;
  }
  const QString rules = folder->filePath("rules.json");
  std::vector<double> loaded, transferred, resharded;
  for (int round = 0; round < rounds; ++round) {
    Json load;
    loaded.push_back(Seconds([&] {
      load = cluster.Ask({"checkpoint", "load", kJob, path, "--yes"}, 300);
    }));
    if (!load.is_object() || load["result"] != "committed") {
      fmt::print(stderr, "{}\n", load.dump());
      return false;
    }
    const Json history = cluster.Ask({"history"});
    transferred.push_back(
        history["transactions"][0]["phase_seconds"]["transferring"].get<double>());
    const QString out = folder->filePath("resharded");
    Outcome tool;
    resharded.push_back(Seconds([&] {
      tool = cluster.Run({"reshard", path, out, "--mesh", "tp=4", "--rules", rules}, 300);
    }));
    if (tool.code != 0) return Fail(tool);
    if (!QDir(out).removeRecursively()) return false;
  }
  const double load = UpperMedian(loaded), reshard = UpperMedian(resharded);
  fmt::print(
      "load into another layout: {:.2f} s (transfer {:.2f} s), reshard {:.2f} s: {:.2f} x "
      "its rate\n",
      load, UpperMedian(transferred), reshard, reshard / load);
  return true;
}

bool MeasureSteps(int rounds) {
  const auto folder = TemporaryFolder();
  const QString job = QStringLiteral("mini");
  LocalCluster cluster(
      {.nodes = 1, .devices = 2, .memory = QStringLiteral("1G"), .link = {}, .one_host = false});
  if (cluster.up().code != 0) return Fail(cluster.up());
  const Outcome start =
      cluster.Run({"job", "start", "gpt-10m", "--name", job, "--mesh", "dp=2"}, 160);
  if (start.code != 0 || !cluster.WaitStep(job, 4, 120)) return Fail(start);
  std::vector<double> quiet, saving;
  for (int round = 0; round < rounds; ++round) {
    quiet.push_back(StepSeconds(cluster, job, 30));
    if (cluster.Run({"checkpoint", "save", job, folder->path(), "--every", "10s", "--keep", "1"})
            .code != 0)
      return false;
    saving.push_back(StepSeconds(cluster, job, 30));
    if (cluster.Run({"checkpoint", "save", job, "--every", "off"}).code != 0) return false;
  }
  const double before = UpperMedian(quiet), meanwhile = UpperMedian(saving);
  const double bytes = cluster.Job(job)["state_bytes"].get<double>();
  fmt::print(
      "steps of gpt-10m, {:.0f} MiB of state: {:.3f} s; with a checkpoint every 10 s "
      "{:.3f} s: {:.2f} x\n",
      bytes / kMiB, before, meanwhile, meanwhile / before);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const QCoreApplication app(argc, argv);
  QString python;
  int rounds = 5;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--peers" && i + 1 < argc) {
      python = QString::fromLocal8Bit(argv[++i]);
    } else if (word == "--rounds" && i + 1 < argc) {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else {
      fmt::print(stderr, "usage: checkpoint_bench [--rounds N] [--peers PYTHON_WITH_TORCH]\n");
      return 2;
    }
  }
  fmt::print("{}\n", tessera::test::Machine());
  constexpr int kRowsOf2GiB = 9680;
  return MeasureFiles(kRowsOf2GiB, rounds, python) && MeasureSteps(rounds) ? 0 : 1;
}
