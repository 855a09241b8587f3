// SPDX-License-Identifier: Apache-2.0
#include "tests/support/exact_job.h"

#include <QFile>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/model/job_layout.h"
#include "engine/store/allocate.h"
#include "ptc/rules/rules.h"
#include "tests/folders.h"

namespace tessera::test {
namespace {

const char* const kRules = R"({"rules": [
  {"match": "layer.{layer}.a", "cut": {"dims": [["tp"], []]}},
  {"match": "layer.{layer}.b", "cut": {"dims": [[], ["tp"]]}},
  {"match": "step", "cut": "replicate", "stage": "all"}]})";

std::string TensorsOf(const ExactJob& kind) {
  const Json shape = {kind.rows, kind.columns};
  return Json{
      {"layers", kind.layers},
      {"optimizer", "adamw"},
      {"tensors",
       {{{"name", "layer.{layer}.a"}, {"dtype", "f32"}, {"shape", shape}},
        {{"name", "layer.{layer}.b"}, {"dtype", "f32"}, {"shape", shape}},
        {{"name", "step"}, {"dtype", "i64"}, {"shape", Json::array()}, {"role", "scalar"}}}}}
      .dump();
}

bool Write(const QString& path, const std::string& text) {
  QFile file(path);
  return file.open(QIODevice::WriteOnly) && file.write(text.c_str()) > 0;
}

QString SlowFile(const Cluster& cluster) { return cluster.home() + QStringLiteral("/exact.slow"); }

}  // namespace

const std::string kExactProgram = TESSERA_TEST_FOLDER "/tessera-exact-job";

QStringList WordsOfExactJob(const Cluster& cluster, const QString& job, const ExactJob& kind) {
  const QString tensors = cluster.home() + QStringLiteral("/exact.tensors.json");
  const QString rules = cluster.home() + QStringLiteral("/exact.rules.json");
  if (!Write(tensors, TensorsOf(kind)) || !Write(rules, kRules)) {
    qWarning("%s cannot be written", qPrintable(tensors));
  }
  return {QStringLiteral("job"),
          QStringLiteral("start"),
          QStringLiteral("--exec"),
          QStringLiteral("%1exec %2 %3 %4")
              .arg(kind.may_be_slow ? QStringLiteral("EXACT_JOB_SLOW=%1 ").arg(SlowFile(cluster))
                                    : QString())
              .arg(QString::fromStdString(kExactProgram))
              .arg(kind.steps)
              .arg(kind.step_milliseconds),
          QStringLiteral("--tensors"),
          tensors,
          QStringLiteral("--rules"),
          rules,
          QStringLiteral("--pauses-before-updates"),
          QStringLiteral("--finishes-updates"),
          QStringLiteral("--name"),
          job};
}

Outcome StartExactJob(const Cluster& cluster, const QString& job, const QString& mesh,
                      const QString& devices, const QStringList& more, const ExactJob& kind) {
  return cluster.Run(
      WordsOfExactJob(cluster, job, kind) +
      QStringList{QStringLiteral("--mesh"), mesh, QStringLiteral("--devices"), devices} + more);
}

bool SlowDown(const Cluster& cluster, int rank, int milliseconds) {
  return Write(SlowFile(cluster), std::to_string(rank) + ' ' + std::to_string(milliseconds));
}

QString WrongStepsOfExactJob(const Cluster& cluster, const QString& job) {
  const QString lines =
      cluster.Run({QStringLiteral("job"), QStringLiteral("metrics"), job, QStringLiteral("--json")})
          .output;
  std::int64_t step = 0;
  for (const QString& line : lines.split(u'\n', Qt::SkipEmptyParts)) {
    const Json json = Json::parse(line.toStdString(), nullptr, false);
    ++step;
    if (!json.is_object() || json.value("step", std::int64_t{0}) != step) {
      return QStringLiteral("expected step %1: %2").arg(step).arg(line);
    }
    const double expected = 1.0 / static_cast<double>(step);
    if (!(std::abs(json.value("loss", 0.0) - expected) < 1e-12)) {
      return QStringLiteral("expected loss %1: %2").arg(expected).arg(line);
    }
  }
  return step == 0 ? QStringLiteral("the history has no step of '%1'").arg(job) : QString();
}

std::int64_t MemoryOfExactJob(const ExactJob& kind, const std::string& mesh) {
  const auto job = *ptc::ApplyRules({"tensors", TensorsOf(kind)}, {"rules", kRules}, false);
  const auto layout = *engine::MakeLayout(job, *ptc::ParseDeviceMesh(mesh));
  std::int64_t most = 0;
  for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
    most = std::max(most, engine::BytesNeeded(layout, rank));
  }
  return most;
}

}  // namespace tessera::test
