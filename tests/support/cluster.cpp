// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cluster.h"

#include <fmt/format.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTest>
#include <QThread>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "ptc/mesh.h"
#include "tests/support/digests.h"

namespace tessera::test {
namespace {

void PrintTail(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return;
  const QList<QByteArray> lines = file.readAll().split('\n');
  for (qsizetype i = std::max<qsizetype>(0, lines.size() - 25); i < lines.size(); ++i)
    if (!lines[i].isEmpty()) qInfo("%s", lines[i].constData());
}

}  // namespace

Cluster::Cluster(const QString& folder) : home_(folder), guard_(home_.path()) {}

Cluster::~Cluster() = default;

void Cluster::PrintLogsIfFailed() const {
  if (up_.code == 0 && !QTest::currentTestFailed()) return;
  for (int node = 0; node < std::max(1, num_nodes()); ++node) {
    QFile file(ConfigOf(node));
    if (!file.open(QIODevice::ReadOnly)) continue;
    const Json config = Json::parse(file.readAll().toStdString(), nullptr, false);
    if (!config.is_object()) continue;
    qInfo("last lines of n%d:", node);
    PrintTail(QString::fromStdString(config.value("log_file", "")));
  }
}

void Cluster::KillAll(const std::vector<app::ProcessId>& keepers) {
  std::vector<app::ProcessId> left;
  for (const app::ProcessId& keeper : keepers) {
    left.push_back(keeper);
    for (const app::ProcessId& process : app::descendantsOf(keeper)) left.push_back(process);
  }
  for (const app::ProcessId& process : left) app::signalProcess(process, SIGKILL);
}

bool Cluster::Configure(const Json& values, std::optional<int> only) const {
  for (int node = 0; node < num_nodes(); ++node) {
    if (only && *only != node) continue;
    QFile file(ConfigOf(node));
    if (!file.open(QIODevice::ReadWrite)) return false;
    Json config = Json::parse(file.readAll().toStdString(), nullptr, false);
    if (!config.is_object()) return false;
    for (const auto& [key, value] : values.items()) config[key] = value;
    file.resize(0);
    file.seek(0);
    if (file.write(QByteArray::fromStdString(config.dump())) < 0) return false;
    file.close();
    const auto agent = Agent(node);
    if (!agent || !Kill(*agent)) return false;
    const auto isReplaced = [&] {
      const auto now = Agent(node);
      return now && *now != *agent;
    };
    if (!WaitFor(isReplaced, 30)) return false;
  }
  return WaitAllAlive();
}

QString Cluster::StartDeadNodes() {
  const Json status = Status();
  if (!status.is_object()) return QStringLiteral("the registrar does not answer");
  for (int node = 0; node < std::ssize(status["nodes"]); ++node) {
    if (status["nodes"][static_cast<std::size_t>(node)]["state"] == "alive") continue;
    if (QString wrong = StartNode(node); !wrong.isEmpty()) return wrong;
  }
  return {};
}

Outcome Cluster::Run(const QStringList& words, int seconds) const {
  return FinishProgram(*Start(words), seconds);
}

Json Cluster::Ask(const QStringList& words, int seconds) const {
  const Outcome outcome = Run(QStringList{QStringLiteral("--json")} + words, seconds);
  return outcome.code == 0 ? outcome.LastJson() : Json();
}

bool Cluster::AllAlive() const {
  const Json status = Status();
  return status.is_object() && std::ssize(status["nodes"]) == num_nodes() &&
         std::ranges::all_of(status["nodes"],
                             [](const Json& node) { return node["state"] == "alive"; });
}

bool Cluster::WaitAllAlive() const {
  return WaitFor([&] { return AllAlive(); }, 30);
}

Json Cluster::Job(const QString& job) const {
  const Json status = Status();
  if (!status.is_object()) return {};
  for (const Json& each : status["jobs"])
    if (each["name"] == job.toStdString()) return each;
  return {};
}

std::int64_t Cluster::Step(const QString& job) const {
  const Json found = Job(job);
  return found.is_object() ? found["step"].get<std::int64_t>() : -1;
}

bool Cluster::IsMoving() const {
  const std::string phase = Phase();
  return phase == "transferring" || phase == "precopying";
}

std::string Cluster::Phase() const {
  const Json status = Status();
  if (!status.is_object() || !status["transaction"].is_object()) return {};
  return status["transaction"]["phase"].get<std::string>();
}

Outcome Cluster::StartJob(const QString& job, const QString& mesh, const QString& devices,
                          const QStringList& more) const {
  return Run(QStringList{QStringLiteral("job"), QStringLiteral("start"), QStringLiteral("gpt-nano"),
                         QStringLiteral("--name"), job, QStringLiteral("--mesh"), mesh,
                         QStringLiteral("--devices"), devices} +
                 more,
             160);
}

QString Cluster::WrongDigestsOf(const Json& change) const {
  const Json before = change.value("digest_before", Json());
  const Json after = change.value("digest_after", Json());
  const Json id = change.contains("transaction") ? change["transaction"] : change["id"];
  if (before != "" || after != "") return QString::fromStdString(WrongDigests(before, after));
  const Outcome said = Run({QStringLiteral("events"), QStringLiteral("--source"),
                            QStringLiteral("txn ") + QString::fromStdString(id.dump()),
                            QStringLiteral("--text"), QStringLiteral("its digests are not known")});
  if (said.output.contains(QStringLiteral("its digests are not known"))) return {};
  return QStringLiteral("there are no digests, and no event says why: ") +
         QString::fromStdString(change.dump());
}

Json Cluster::Apply(const QString& job, const QString& mesh, const QString& devices,
                    const QStringList& more) const {
  const Outcome outcome = Run(QStringList{QStringLiteral("apply"), job, QStringLiteral("--devices"),
                                          devices, QStringLiteral("--mesh"), mesh,
                                          QStringLiteral("--yes"), QStringLiteral("--json")} +
                                  more,
                              150);
  Json json = outcome.LastJson();
  if (!json.is_object() || !json.contains("result")) {
    qWarning("apply: %s", outcome.Text().constData());
    return {};
  }
  return json;
}

bool Cluster::WaitFor(const std::function<bool()>& wanted, int seconds) {
  QElapsedTimer clock;
  clock.start();
  while (!wanted()) {
    if (clock.hasExpired(qint64{1000} * seconds)) return false;
    // A request every 20 ms takes a tenth of a core from what is waited for.
    QThread::msleep(static_cast<unsigned long>(std::clamp<qint64>(clock.elapsed() / 10, 20, 200)));
  }
  return true;
}

bool Cluster::WaitJob(const QString& job, const std::function<bool(const Json&)>& wanted,
                      int seconds) const {
  Json last;
  const bool came = WaitFor(
      [&] {
        last = Job(job);
        return last.is_object() && wanted(last);
      },
      seconds);
  if (came) return true;
  qWarning("the job after %d s: %s", seconds, last.dump().c_str());
  for (const Json& device : last.is_object() ? last["devices"] : Json::array()) {
    const std::string name = device.get<std::string>();
    const auto arena = ArenaOf(QString::fromStdString(name));
    if (!arena) continue;
    const engine::ArenaHeader& h = arena->header();
    qWarning("%s",
             fmt::format("{}: epoch {}, update {} of {}, gradients {}, decision {}, "
                         "request {}, hold {}",
                         name, h.epoch.load(), h.end.load(), h.begin.load(), h.grads_step.load(),
                         h.decision_step.load(), h.request.load(), h.hold.load())
                 .c_str());
  }
  qWarning("%s", qPrintable(Run({"events", "--limit", "30"}).output));
  return false;
}

bool Cluster::WaitStep(const QString& job, std::int64_t step, int seconds) const {
  return WaitJob(
      job, [&](const Json& j) { return j["step"].get<std::int64_t>() >= step; }, seconds);
}

bool Cluster::GoesOn(const QString& job, std::int64_t steps, int seconds) const {
  const std::int64_t now = Step(job);
  return now >= 0 && WaitStep(job, now + steps, seconds);
}

std::optional<app::ProcessId> Cluster::Agent(int node) const {
  for (const app::ProcessId& process : app::descendantsOf(Keeper(node)))
    if (app::hasArgument(process, "--config")) return process;
  return std::nullopt;
}

std::vector<std::int64_t> Cluster::Children(int node, const std::string& program) const {
  std::vector<std::int64_t> pids;
  for (const app::ProcessId& process : app::descendantsOf(Keeper(node)))
    if (app::hasArgument(process, program)) pids.push_back(process.pid);
  return pids;
}

std::optional<engine::Arena> Cluster::ArenaOf(const QString& device) const {
  const auto id = ptc::ParseDevice(device.toStdString());
  if (!id) return std::nullopt;
  const QDir folder(QStringLiteral("/proc/%1/fd").arg(Keeper(id->node).pid));
  for (const QFileInfo& entry :
       folder.entryInfoList(QDir::NoDotAndDotDot | QDir::System | QDir::AllEntries)) {
    const QString target = QFile::symLinkTarget(entry.filePath());
    if (!target.contains(QStringLiteral("memfd:")) || !target.contains(device)) continue;
    QFile file(entry.filePath());
    if (!file.open(QIODevice::ReadWrite)) continue;
    auto arena = engine::Arena::Map(file.handle(), true);
    if (arena) return std::move(*arena);
  }
  return std::nullopt;
}

bool Cluster::Kill(const app::ProcessId& process) {
  if (process.pid <= 1 || !app::isAlive(process)) return false;
  app::signalProcess(process, SIGKILL);
  return app::waitGone({process}, std::chrono::seconds(5));
}

}  // namespace tessera::test
