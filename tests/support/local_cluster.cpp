// SPDX-License-Identifier: Apache-2.0
#include "tests/support/local_cluster.h"

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

#include "agents/client/cluster.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/json.h"

namespace tessera::test {
namespace {

const QString kName = QStringLiteral("t");  // short: socket paths have 108 bytes

void PrintTail(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return;
  const QList<QByteArray> lines = file.readAll().split('\n');
  for (qsizetype i = std::max<qsizetype>(0, lines.size() - 25); i < lines.size(); ++i)
    if (!lines[i].isEmpty()) qInfo("%s", lines[i].constData());
}

}  // namespace

LocalCluster::LocalCluster(const Options& options)
    : home_(QStringLiteral("/tmp/tsr.XXXXXX")), guard_(home_.path()) {
  QStringList words = {QStringLiteral("up"),
                       QStringLiteral("--cluster"),
                       kName,
                       QStringLiteral("--nodes"),
                       QString::number(options.nodes),
                       QStringLiteral("--gpus"),
                       QString::number(options.devices),
                       QStringLiteral("--gpu-memory"),
                       options.memory};
  if (!options.link.isEmpty()) words << QStringLiteral("--link") << options.link;
  if (options.one_host) words << QStringLiteral("--one-host");
  up_ = Run(words);
  ReadKeepers();
}

void LocalCluster::ReadKeepers() const {
  QFile file(home() + QStringLiteral("/clusters/t/keepers.json"));
  if (!file.open(QIODevice::ReadOnly)) return;
  const Json keepers = Json::parse(file.readAll().toStdString(), nullptr, false);
  if (!keepers.is_array()) return;
  keepers_.clear();
  for (const Json& keeper : keepers)
    keepers_.push_back({keeper["pid"].get<pid_t>(), keeper["start"].get<std::uint64_t>()});
}

LocalCluster::~LocalCluster() {
  client_.reset();
  ReadKeepers();
  if (up_.code != 0 || QTest::currentTestFailed())
    for (int node = 0; node < std::max(1, static_cast<int>(keepers_.size())); ++node) {
      qInfo("last lines of n%d:", node);
      PrintTail(home() + QStringLiteral("/clusters/t/n%1/agent.log").arg(node));
    }
  Run({QStringLiteral("down"), QStringLiteral("--all"), QStringLiteral("--yes")});
  std::vector<app::ProcessId> left;
  for (const app::ProcessId& keeper : keepers_) {
    left.push_back(keeper);
    for (const app::ProcessId& process : app::descendantsOf(keeper)) left.push_back(process);
  }
  for (const app::ProcessId& process : left) app::signalProcess(process, SIGKILL);
}

bool LocalCluster::Configure(const std::map<std::string, std::int64_t>& values) const {
  const int nodes = static_cast<int>(keepers_.size());
  for (int node = 0; node < nodes; ++node) {
    QFile file(home() + QStringLiteral("/clusters/t/n%1/agent.json").arg(node));
    if (!file.open(QIODevice::ReadWrite)) return false;
    Json config = Json::parse(file.readAll().toStdString(), nullptr, false);
    if (!config.is_object()) return false;
    for (const auto& [key, value] : values) config[key] = value;
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

std::unique_ptr<QProcess> LocalCluster::Start(const QStringList& words) const {
  return StartProgram(QStringLiteral("tesseractl"), words, Environment());
}

Outcome LocalCluster::Run(const QStringList& words, int seconds) const {
  return FinishProgram(*Start(words), seconds);
}

Json LocalCluster::Ask(const QStringList& words, int seconds) const {
  const Outcome outcome = Run(QStringList{QStringLiteral("--json")} + words, seconds);
  return outcome.code == 0 ? outcome.LastJson() : Json();
}

Json LocalCluster::Status() const {
  // The first try is shorter than the back-off of a client: when the registrar has been killed, a
  // new client connects sooner than the old one tries again.
  for (std::chrono::milliseconds patience(700); patience < std::chrono::seconds(6); patience *= 2) {
    if (!client_) {
      const auto profile =
          agents::LoadProfile((home() + QStringLiteral("/profiles/t.json")).toStdString());
      if (!profile) return {};
      auto opened = agents::ClusterClient::OpenForCommands(*profile);
      if (!opened) return {};
      client_ = std::move(*opened);
    }
    wire::Request request;
    request.mutable_status();
    if (const auto reply = client_->CallAndWait(std::move(request), patience); reply) {
      const auto snapshot = agents::Decode(reply->status());
      return snapshot ? Json(app::toJson(*snapshot)) : Json();
    }
    client_.reset();
  }
  return {};
}

QString LocalCluster::StartDeadNodes() const {
  const Json status = Status();
  if (!status.is_object()) return QStringLiteral("the registrar does not answer");
  for (const Json& node : status["nodes"]) {
    if (node["state"] == "alive") continue;
    const Outcome started = Run({QStringLiteral("node"), QStringLiteral("start"),
                                 QString::fromStdString(node["name"].get<std::string>())});
    if (started.code != 0) return QString::fromUtf8(started.Text());
  }
  return {};
}

bool LocalCluster::AllAlive() const {
  const Json status = Status();
  return status.is_object() && status["nodes"].size() == keepers_.size() &&
         std::ranges::all_of(status["nodes"],
                             [](const Json& node) { return node["state"] == "alive"; });
}

bool LocalCluster::WaitAllAlive() const {
  return WaitFor([&] { return AllAlive(); }, 30);
}

Json LocalCluster::Job(const QString& job) const {
  const Json status = Status();
  if (!status.is_object()) return {};
  for (const Json& each : status["jobs"])
    if (each["name"] == job.toStdString()) return each;
  return {};
}

std::int64_t LocalCluster::Step(const QString& job) const {
  const Json found = Job(job);
  return found.is_object() ? found["step"].get<std::int64_t>() : -1;
}

std::string LocalCluster::Phase() const {
  const Json status = Status();
  if (!status.is_object() || !status["transaction"].is_object()) return {};
  return status["transaction"]["phase"].get<std::string>();
}

Outcome LocalCluster::StartJob(const QString& job, const QString& mesh, const QString& devices,
                               const QStringList& more) const {
  return Run(QStringList{QStringLiteral("job"), QStringLiteral("start"), QStringLiteral("gpt-nano"),
                         QStringLiteral("--name"), job, QStringLiteral("--mesh"), mesh,
                         QStringLiteral("--devices"), devices} +
                 more,
             160);
}

Json LocalCluster::Apply(const QString& job, const QString& mesh, const QString& devices,
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

bool LocalCluster::WaitFor(const std::function<bool()>& wanted, int seconds) {
  QElapsedTimer clock;
  clock.start();
  while (!wanted()) {
    if (clock.hasExpired(qint64{1000} * seconds)) return false;
    QThread::msleep(20);
  }
  return true;
}

bool LocalCluster::WaitJob(const QString& job, const std::function<bool(const Json&)>& wanted,
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

bool LocalCluster::WaitStep(const QString& job, std::int64_t step, int seconds) const {
  return WaitJob(
      job, [&](const Json& j) { return j["step"].get<std::int64_t>() >= step; }, seconds);
}

bool LocalCluster::GoesOn(const QString& job, std::int64_t steps, int seconds) const {
  const std::int64_t now = Step(job);
  return now >= 0 && WaitStep(job, now + steps, seconds);
}

app::ProcessId LocalCluster::Keeper(int node) const {
  const auto index = static_cast<std::size_t>(node);
  if (index >= keepers_.size()) return {};
  if (!app::isAlive(keepers_[index])) ReadKeepers();  // it may have been started again
  return index < keepers_.size() ? keepers_[index] : app::ProcessId{};
}

std::optional<app::ProcessId> LocalCluster::Agent(int node) const {
  for (const app::ProcessId& process : app::descendantsOf(Keeper(node)))
    if (app::hasArgument(process, "--config")) return process;
  return std::nullopt;
}

std::vector<std::int64_t> LocalCluster::Children(int node, const std::string& program) const {
  std::vector<std::int64_t> pids;
  for (const app::ProcessId& process : app::descendantsOf(Keeper(node)))
    if (app::hasArgument(process, program)) pids.push_back(process.pid);
  return pids;
}

std::optional<engine::Arena> LocalCluster::ArenaOf(const QString& device) const {
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

bool LocalCluster::Kill(const app::ProcessId& process) {
  if (process.pid <= 1 || !app::isAlive(process)) return false;
  app::signalProcess(process, SIGKILL);
  return app::waitGone({process}, std::chrono::seconds(5));
}

QString FirstDevices(int count, int per_node) {
  QStringList names;
  for (int i = 0; i < count; ++i)
    names << QStringLiteral("n%1g%2").arg(i / per_node).arg(i % per_node);
  return names.join(u',');
}

}  // namespace tessera::test
