// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/torch_jobs.h"

#include <QDebug>
#include <QDir>
#include <nlohmann/json.hpp>

namespace tessera::test {
namespace {

QString PathOf(const QString& script) {
  return QDir::isAbsolutePath(script) ? script : kTorchExamples + script;
}

}  // namespace

bool TorchJobs::Start(const QString& job, const QString& script, const Layout& layout,
                      const QStringList& more, const QStringList& options) {
  const QStringList before = {"job",       "start",      PathOf(script),
                              "--name",    job,          "--python",
                              python_,     "--mesh",     layout.first,
                              "--devices", layout.second};
  const QStringList after = {"--", "--steps", QString::number(TorchSteps())};
  const Outcome start = cluster_.Run(before + options + after + more, kTorchPatience);
  if (start.code != 0) qWarning() << start.Text();
  return start.code == 0;
}

bool TorchJobs::EndsPaused(const QString& job, int steps) const {
  return cluster_.WaitJob(
      job, [steps](const Json& now) { return now["state"] == "paused" && now["step"] == steps; },
      kTorchPatience);
}

std::vector<std::int64_t> TorchJobs::Ranks(const QString& script, int node) const {
  std::vector<std::int64_t> out;
  for (const auto pid : cluster_.Children(node, PathOf(script).toStdString())) {
    out.push_back(pid);
  }
  return out;
}

std::vector<std::int64_t> TorchJobs::Ranks(const QString& script) const {
  std::vector<std::int64_t> out = Ranks(script, 0);
  for (const std::int64_t pid : Ranks(script, 1)) out.push_back(pid);
  return out;
}

}  // namespace tessera::test
