// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/torch_jobs.h"

#include <QDebug>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace tessera::test {

bool TorchJobs::Start(const QString& job, const QString& script, const Layout& layout,
                      const QStringList& more, const QStringList& options) {
  const QStringList before = {"job",       "start",      kTorchExamples + script,
                              "--name",    job,          "--python",
                              python_,     "--mesh",     layout.first,
                              "--devices", layout.second};
  const QStringList after = {"--", "--steps", QString::number(kTorchSteps)};
  const Outcome start = cluster_.Run(before + options + after + more, kTorchPatience);
  if (start.code != 0) qWarning() << start.Text();
  return start.code == 0;
}

bool TorchJobs::EndsPaused(const QString& job) const {
  return cluster_.WaitJob(
      job, [](const Json& now) { return now["state"] == "paused" && now["step"] == kTorchSteps; },
      kTorchPatience);
}

Losses TorchJobs::LossesOf(const QString& job) const {
  Losses out;
  const QString lines = cluster_.Run({"job", "metrics", job, "--json"}).output;
  for (const QString& line : lines.trimmed().split(u'\n')) {
    const Json row = Json::parse(line.toStdString(), nullptr, false);
    if (row.is_object()) out[row["step"].get<std::int64_t>()] = row["loss"].get<double>();
  }
  return out;
}

std::vector<std::int64_t> TorchJobs::Ranks(const QString& script, int node) const {
  std::vector<std::int64_t> out;
  for (const auto pid : cluster_.Children(node, (kTorchExamples + script).toStdString())) {
    out.push_back(pid);
  }
  return out;
}

std::vector<std::int64_t> TorchJobs::Ranks(const QString& script) const {
  std::vector<std::int64_t> out = Ranks(script, 0);
  for (const std::int64_t pid : Ranks(script, 1)) out.push_back(pid);
  return out;
}

QString DifferenceOf(const Losses& moved, const Losses& still) {
  if (moved.size() != still.size())
    return QStringLiteral("%1 steps and %2").arg(moved.size()).arg(still.size());
  for (const auto& [step, loss] : still) {
    const auto other = moved.find(step);
    if (other == moved.end()) return QStringLiteral("step %1 is missing").arg(step);
    if (!(std::abs(other->second - loss) / loss < 1e-5))
      return QStringLiteral("step %1: %2 and %3")
          .arg(step)
          .arg(other->second, 0, 'g', 12)
          .arg(loss, 0, 'g', 12);
  }
  return {};
}

}  // namespace tessera::test
