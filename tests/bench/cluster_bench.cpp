// SPDX-License-Identifier: Apache-2.0
// What a live cluster costs: the pause of a reconfiguration beside a memcpy of the bytes it moves,
// and the step time of a job under an agent beside the same job alone. Medians; the two sides of a
// ratio in turn.
#include <fmt/format.h>

#include <QCoreApplication>
#include <QProcess>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "ptc/base/median.h"
#include "tests/bench/machine.h"
#include "tests/folders.h"
#include "tests/support/local_cluster.h"

using tessera::UpperMedian;
using namespace tessera::test;

namespace {

/// Seconds to copy `bytes` once, warm, in blocks of 1 MiB.
double MemcpySeconds(std::size_t bytes) {
  std::vector<char> from(bytes, 1), to(bytes, 2);
  std::vector<double> seconds;
  for (int i = 0; i < 7; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t at = 0; at < bytes; at += 1 << 20) {
      std::memcpy(to.data() + at, from.data() + at, std::min<std::size_t>(1 << 20, bytes - at));
    }
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return UpperMedian(seconds);
}

void BenchPause(bool one_host) {
  LocalCluster cluster({.nodes = 2,
                        .devices = 4,
                        .memory = QStringLiteral("256M"),
                        .link = {},
                        .one_host = one_host});
  if (cluster.up().code != 0) return fmt::print("up: {}\n", cluster.up().Text().toStdString());
  const QString job = QStringLiteral("gpt-mini");
  const Outcome start =
      cluster.Run({QStringLiteral("job"), QStringLiteral("start"), job, QStringLiteral("--mesh"),
                   QStringLiteral("dp=2,tp=2"), QStringLiteral("--devices"), FirstDevices(4)});
  if (start.code != 0) return fmt::print("start: {}\n", start.Text().toStdString());
  if (!cluster.WaitStep(job, 3)) return;
  std::vector<double> grow, shrink;
  std::size_t bytes = 0;
  for (int i = 0; i < 10; ++i) {
    const Json up = cluster.Apply(job, QStringLiteral("dp=4,tp=2"), FirstDevices(8));
    const Json down = cluster.Apply(job, QStringLiteral("dp=2,tp=2"), FirstDevices(4));
    if (!up.is_object() || !down.is_object()) return fmt::print("a reconfiguration failed\n");
    grow.push_back(up["pause_seconds"].get<double>());
    shrink.push_back(down["pause_seconds"].get<double>());
    bytes = up["moved_bytes"].get<std::size_t>();
  }
  const double copy = MemcpySeconds(bytes);
  fmt::print(
      "pause of gpt-mini, {}, median of 10: 4 -> 8 {:.0f} ms ({:.1f} MiB moved; memcpy of "
      "them {:.1f} ms), 8 -> 4 {:.0f} ms\n",
      one_host ? "one host" : "two hosts over loopback", 1e3 * UpperMedian(grow),
      static_cast<double>(bytes) / (1 << 20), 1e3 * copy, 1e3 * UpperMedian(shrink));
}

/// Seconds a step: median over steps 5 to 25 of one process without an agent.
double SoloStep() {
  QProcess solo;
  solo.start(QStringLiteral(TESSERA_BIN_DIR "/tessera-train"),
             {QStringLiteral("--solo"), QStringLiteral("gpt-mini"), QStringLiteral("--steps"),
              QStringLiteral("25"), QStringLiteral("--json")});
  std::vector<double> seconds;
  auto last = std::chrono::steady_clock::now();
  int lines = 0;
  while (solo.waitForReadyRead(60000)) {
    while (solo.canReadLine()) {
      solo.readLine();
      const auto now = std::chrono::steady_clock::now();
      if (++lines > 5) seconds.push_back(std::chrono::duration<double>(now - last).count());
      last = now;
    }
  }
  solo.waitForFinished(60000);
  return UpperMedian(seconds);
}

double AgentStep() {
  LocalCluster cluster(
      {.nodes = 1, .devices = 1, .memory = QStringLiteral("256M"), .link = {}, .one_host = false});
  const QString job = QStringLiteral("gpt-mini");
  cluster.Run({QStringLiteral("job"), QStringLiteral("start"), job, QStringLiteral("--mesh"),
               QStringLiteral("dp=1,tp=1"), QStringLiteral("--steps"), QStringLiteral("25")});
  cluster.WaitStep(job, 25, 120);
  const Outcome metrics = cluster.Run(
      {QStringLiteral("--json"), QStringLiteral("job"), QStringLiteral("metrics"), job});
  std::vector<double> seconds;
  for (const QString& line : metrics.output.split(QLatin1Char('\n'))) {
    const Json row = Json::parse(line.toStdString(), nullptr, false);
    if (!row.is_object() || row["step"].get<int>() <= 5) continue;
    const Json& rate = row["tokens_per_second"];
    if (rate.is_number()) seconds.push_back(16.0 * 128 / rate.get<double>());
  }
  return UpperMedian(seconds);
}

void BenchAgent() {
  std::vector<double> solo, agent;
  for (int i = 0; i < 3; ++i) {
    solo.push_back(SoloStep());
    agent.push_back(AgentStep());
  }
  fmt::print(
      "step of gpt-mini, one rank, median of 3 runs of 20 steps: alone {:.0f} ms, under an "
      "agent {:.0f} ms, ratio {:.3f}\n",
      1e3 * UpperMedian(solo), 1e3 * UpperMedian(agent), UpperMedian(agent) / UpperMedian(solo));
}

void BenchSteps(const char* mesh, int devices) {
  LocalCluster cluster(
      {.nodes = 2, .devices = 4, .memory = QStringLiteral("256M"), .link = {}, .one_host = false});
  const QString job = QStringLiteral("gpt-mini");
  cluster.Run({QStringLiteral("job"), QStringLiteral("start"), job, QStringLiteral("--mesh"),
               QString::fromLatin1(mesh), QStringLiteral("--devices"), FirstDevices(devices)});
  cluster.WaitStep(job, 5, 120);
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t first = cluster.Step(job);
  cluster.WaitStep(job, first + 20, 120);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("gpt-mini on {}, {} ranks: {:.2f} step/s\n", mesh, devices,
             static_cast<double>(cluster.Step(job) - first) / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  QCoreApplication app(argc, argv);
  fmt::print("{}\n", Machine());
  BenchSteps("dp=2,tp=2", 4);
  BenchSteps("dp=4,tp=2", 8);
  BenchPause(false);
  BenchPause(true);
  BenchAgent();
  return 0;
}
