// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/losses.h"

#include <QProcess>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/folders.h"

namespace tessera::test {

Run ParseRun(const QString& lines) {
  Run run;
  for (const QString& line : lines.split(u'\n')) {
    const Json json = Json::parse(line.toStdString(), nullptr, false);
    if (json.is_object() && json.contains("step"))
      run[json["step"].get<std::int64_t>()] = {json["loss"].get<double>(),
                                               json["grad_norm"].get<double>()};
  }
  return run;
}

Run RunOf(const Cluster& cluster, const QString& job) {
  return ParseRun(
      cluster.Run({QStringLiteral("job"), QStringLiteral("metrics"), job, QStringLiteral("--json")})
          .output);
}

std::int64_t NumStepsWithoutGap(const QString& lines) {
  std::int64_t count = 0;
  for (const QString& line : lines.split(u'\n', Qt::SkipEmptyParts)) {
    const Json json = Json::parse(line.toStdString(), nullptr, false);
    ++count;
    if (json.is_object() && json.value("step", std::int64_t{0}) == count) continue;
    qWarning("expected step %lld: %s", static_cast<long long>(count), qPrintable(line));
    return -1;
  }
  return count;
}

std::optional<Ended> EndOf(const Cluster& cluster, const QString& job, std::int64_t steps) {
  const bool has_ended = cluster.WaitJob(
      job, [](const Json& now) { return now["state"] == "paused"; }, 120);
  const QString lines = cluster.Run({"job", "metrics", job, "--json"}).output;
  if (!has_ended || NumStepsWithoutGap(lines) != steps) {
    qWarning("'%s' has not made %lld steps", qPrintable(job), static_cast<long long>(steps));
    return std::nullopt;
  }
  const Json digest = cluster.Ask({"digest", job})["digest"];
  if (!digest.is_string()) {
    qWarning("'%s' has no digest", qPrintable(job));
    return std::nullopt;
  }
  Ended ended{ParseRun(lines), digest.get<std::string>()};
  if (cluster.Run({"job", "stop", job, "--yes"}).code != 0) return std::nullopt;
  return ended;
}

Run SoloRun(const QString& model, std::int64_t steps, std::int64_t global_batch) {
  QProcess process;
  process.start(
      QStringLiteral(TESSERA_BIN_DIR "/tessera-train"),
      {QStringLiteral("--solo"), model, QStringLiteral("--steps"), QString::number(steps),
       QStringLiteral("--global-batch"), QString::number(global_batch), QStringLiteral("--json")});
  const Outcome outcome = Cluster::Finish(process, 240);
  if (outcome.code != 0) qWarning("solo: %s", outcome.Text().constData());
  return outcome.code == 0 ? ParseRun(outcome.output) : Run();
}

double RelativeDifference(double a, double b) {
  return std::abs(a - b) / std::max({std::abs(a), std::abs(b), 1e-12});
}

QString DifferenceOf(const Run& run, const Run& expected) {
  if (run.size() != expected.size())
    return QStringLiteral("%1 steps and %2").arg(run.size()).arg(expected.size());
  for (const auto& [step, numbers] : expected) {
    const auto other = run.find(step);
    if (other == run.end()) return QStringLiteral("step %1 is missing").arg(step);
    const double loss = other->second.loss;
    if (!(std::abs(loss - numbers.loss) / numbers.loss < 1e-5))
      return QStringLiteral("step %1: %2 and %3")
          .arg(step)
          .arg(loss, 0, 'g', 12)
          .arg(numbers.loss, 0, 'g', 12);
  }
  return {};
}

Run UpTo(std::int64_t step, const Run& run) { return {run.begin(), run.upper_bound(step)}; }

double LargestDifference(const Run& a, const Run& b) {
  constexpr double kNoComparison = std::numeric_limits<double>::infinity();
  if (a.empty() || a.size() != b.size()) return kNoComparison;
  double largest = 0;
  for (const auto& [step, numbers] : a) {
    const auto other = b.find(step);
    if (other == b.end()) return kNoComparison;
    const double difference = RelativeDifference(numbers.loss, other->second.loss);
    if (!std::isfinite(difference)) return kNoComparison;
    largest = std::max(largest, difference);
  }
  return largest;
}

QString CompareWithOneProcess(const Cluster& cluster, const QString& job,
                              std::int64_t global_batch) {
  const Outcome metrics = cluster.Run(
      {QStringLiteral("job"), QStringLiteral("metrics"), job, QStringLiteral("--json")});
  if (NumStepsWithoutGap(metrics.output) < 3) return QStringLiteral("steps are missing");
  const Run run = RunOf(cluster, job);
  // Otherwise both train on the same cores.
  const bool has_paused =
      cluster.Run({QStringLiteral("job"), QStringLiteral("pause"), job}).code == 0;
  const Run solo = SoloRun(QStringLiteral("gpt-nano"), run.rbegin()->first, global_batch);
  if (has_paused && cluster.Run({QStringLiteral("job"), QStringLiteral("resume"), job}).code != 0) {
    return QStringLiteral("the job cannot be resumed");
  }
  if (solo.empty()) return QStringLiteral("no run to compare with");
  const double difference = LargestDifference(run, solo);
  if (difference <= 1e-5) return {};
  return QStringLiteral("the losses differ by %1").arg(difference);
}

}  // namespace tessera::test
