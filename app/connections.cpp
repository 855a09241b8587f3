// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/connections.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>

#include <QFileInfo>
#include <QPointer>
#include <QProcess>
#include <QSysInfo>
#include <QTemporaryFile>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "agents/fuse/mount_point.h"
#include "agents/sim/hardware.h"
#include "app/bridge.h"
#include "app/cluster_test.h"
#include "app/commands/command.h"
#include "app/commands/host_cluster.h"
#include "app/commands/kept_history.h"
#include "app/commands/key_files.h"
#include "app/commands/local_cluster.h"
#include "app/commands/process.h"
#include "app/commands/session.h"
#include "app/commands/units.h"
#include "app/commands/when.h"
#include "app/history_mirror.h"
#include "app/simulation.h"
#include "ui/sentences.h"

namespace tessera::app {
namespace {

constexpr int kProgressMs = 150;
constexpr char kLocalName[] = "local";

/// The names of this machine in the network: its host name and the addresses of its interfaces.
std::set<std::string> ownAddresses() {
  std::set<std::string> own{QSysInfo::machineHostName().toStdString()};
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return own;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const int family = each->ifa_addr->sa_family;
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    char name[NI_MAXHOST] = {};
    if ((family == AF_INET || family == AF_INET6) &&
        ::getnameinfo(each->ifa_addr, size, name, sizeof name, nullptr, 0, NI_NUMERICHOST) == 0) {
      own.insert(name);
    }
  }
  ::freeifaddrs(first);
  return own;
}

ui::ProfileInfo toUi(const agents::Profile& profile) {
  const auto text = [](const std::string& each) { return QString::fromStdString(each); };
  ui::ProfileInfo info{text(profile.name), text(profile.registrar_endpoint),
                       text(profile.events_endpoint), text(profile.server_key),
                       text(profile.key_file)};
  info.folder = text(profile.directory);
  info.cluster = text(profile.cluster);
  info.isRunning = !profile.directory.empty() && isRunning(profile.directory);
  return info;
}

agents::Profile fromUi(const ui::ProfileInfo& info) {
  agents::Profile profile;
  profile.name = info.name.toStdString();
  profile.registrar_endpoint = info.registrar.toStdString();
  profile.events_endpoint = info.events.toStdString();
  profile.server_key = info.serverKey.toStdString();
  profile.key_file = info.keyFile.toStdString();
  profile.directory = info.folder.toStdString();
  profile.cluster = info.cluster.toStdString();
  return profile;
}

/// Progress of a starting local cluster, judged by the files in its folder.
QString progressOf(const std::string& directory, int nodes) {
  int configured = 0, writing = 0;
  for (int node = 0; node < nodes; ++node) {
    std::error_code ignored;
    const std::filesystem::path folder = directory + "/n" + std::to_string(node);
    configured += std::filesystem::exists(folder / "agent.json", ignored);
    writing += std::filesystem::exists(folder / "agent.log", ignored);
  }
  if (writing > 0) return AppConnections::tr("%1 of %2 agents started").arg(writing).arg(nodes);
  if (configured > 0) return AppConnections::tr("Writing the agents' configuration");
  return AppConnections::tr("Creating its keys");
}

}  // namespace

AppConnections::AppConnections(ui::ClusterModel& model, Bridge& bridge, QObject* parent)
    : QObject(parent), m_model(model), m_bridge(bridge) {
  m_progress.setInterval(kProgressMs);
}

// The thread ends before the objects that its tasks use.
AppConnections::~AppConnections() { m_reading.stop(); }

Status AppConnections::open(const std::string& profile) {
  TESSERA_TRY(const auto found, findProfile(profile));
  ++m_shown;
  m_file.reset();
  m_current = QString::fromStdString(found.name);
  m_named = QString::fromStdString(nameElsewhere(profile, found));
  m_stop.reset();
  m_bridge.close();
  m_model.clear();
  return m_bridge.open(profile);
}

QList<ui::ProfileInfo> AppConnections::profiles() {
  QList<ui::ProfileInfo> infos;
  for (const std::string& name : profileNames()) {
    const auto profile = agents::LoadProfile(name);
    if (profile) {
      infos << toUi(*profile);
    } else {
      ui::ProfileInfo info;
      info.name = QString::fromStdString(name);
      info.problem = ui::localized(profile.error().message);
      infos << info;
    }
  }
  return infos;
}

Result<ui::ProfileInfo> AppConnections::parse(const QString& text) {
  QTemporaryFile file;
  if (!file.open() || file.write(text.toUtf8()) < 0 || !file.flush())
    return Unavailable("cannot write " + file.fileName().toStdString());
  const std::string path = file.fileName().toStdString() + ".json";
  if (!file.rename(QString::fromStdString(path))) return Unavailable("cannot write " + path);
  auto profile = agents::LoadProfile(path);
  if (!profile) {
    Error error = profile.error();
    if (const auto at = error.message.find(path); at != std::string::npos)
      error.message.replace(at, path.size(), "the text");
    return error;
  }
  // The folder of a profile from another machine has no meaning here.
  profile->directory.clear();
  return toUi(*profile);
}

Status AppConnections::add(const ui::ProfileInfo& profile) {
  const std::string name = profile.name.toStdString();
  const std::vector<std::string> names = profileNames();
  if (std::find(names.begin(), names.end(), name) != names.end())
    return AlreadyExists("a profile is already named '" + name + "'");
  return agents::SaveProfile(fromUi(profile));
}

Status AppConnections::forget(const QString& name) {
  const std::string path = profilePath(name.toStdString());
  const auto profile = agents::LoadProfile(name.toStdString());
  const bool isOwn = profile && profile->cluster_name() == profile->name;
  if (isOwn && !profile->directory.empty() && isRunning(profile->directory))
    return FailedPrecondition("cluster '" + profile->name +
                              "' runs on this machine: tesseractl down --cluster " + profile->name +
                              " stops it");
  std::error_code failure;
  std::filesystem::remove(path, failure);
  if (failure) return Unavailable("cannot remove " + path + ": " + failure.message());
  m_forgotten = profile ? std::optional(*profile) : std::nullopt;
  return OkStatus();
}

Status AppConnections::restore() {
  if (!m_forgotten) return NotFound("that profile could not be read and is gone");
  TESSERA_RETURN_IF_ERROR(agents::SaveProfile(*m_forgotten));
  m_forgotten.reset();
  return OkStatus();
}

void AppConnections::test(const QString& name, std::function<void(ui::AgentTest)> row,
                          ui::Connections::Done<void> done) {
  cancelTest();
  const auto profile = agents::LoadProfile(name.toStdString());
  if (!profile) return later<void>(std::move(done), profile.error());
  m_test = new ClusterTest(*profile, std::move(row), std::move(done), this);
  m_test->start();
}

void AppConnections::cancelTest() {
  if (m_test) m_test->cancel();
}

std::optional<QString> AppConnections::mountPoint() {
  const auto& profile = m_bridge.profile();
  if (!profile || m_file) return std::nullopt;
  const auto folder = agents::FindClusterMount(profile->server_key);
  if (!folder || !*folder) return std::nullopt;
  return QString::fromStdString(**folder);
}

void AppConnections::mount(const QString& folder, bool readOnly, ui::Connections::Done<void> done) {
  QStringList words = {QStringLiteral("--cluster"), m_named, QStringLiteral("mount"), folder};
  if (readOnly) words << QStringLiteral("--read-only");
  runCommand(words, std::move(done));
}

void AppConnections::unmount(const QString& folder, ui::Connections::Done<void> done) {
  runCommand({QStringLiteral("unmount"), folder}, std::move(done));
}

// The server of a mount is a process of its own, which a process with threads cannot become.
void AppConnections::runCommand(const QStringList& words, ui::Connections::Done<void> done) {
  auto* process = new QProcess(this);
  process->setStandardInputFile(QProcess::nullDevice());
  process->setStandardOutputFile(QProcess::nullDevice());
  const auto answer = std::make_shared<ui::Connections::Done<void>>(std::move(done));
  const auto end = [process, answer](const Status& status) {
    process->deleteLater();
    if (*answer) std::exchange(*answer, nullptr)(status);
  };
  connect(process, &QProcess::errorOccurred, this, [process, end](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart)
      end(Unavailable("cannot start tesseractl: " + process->errorString().toStdString()));
  });
  connect(process, &QProcess::finished, this, [process, end](int code, QProcess::ExitStatus) {
    if (code == kDone) return end(OkStatus());
    const QString said = QString::fromUtf8(process->readAllStandardError()).trimmed();
    QString last = said.section(u'\n', -1);
    const QString program = QStringLiteral("tesseractl: ");
    if (last.startsWith(program)) last.remove(0, program.size());
    end(Unavailable(last.isEmpty() ? "tesseractl has ended" : last.toStdString()));
  });
  process->start(QString::fromStdString(programFolder()) + QStringLiteral("/tesseractl"), words);
}

// Each node of a local cluster has a made-up host name, so that nodes differ in it.
bool AppConnections::isHere(const engine::NodeStatus& node) {
  if (const auto& profile = m_bridge.profile(); profile && !profile->directory.empty()) return true;
  if (m_addresses.empty()) m_addresses = ownAddresses();
  return m_addresses.contains(node.address) || m_addresses.contains(node.host);
}

Status AppConnections::connectTo(const QString& name) { return open(name.toStdString()); }

void AppConnections::closeConnection() {
  m_bridge.close();
  m_current.clear();
  m_named.clear();
  if (m_file) return;  // it stays shown
  ++m_shown;
  m_stop.reset();
  m_model.clear();
  m_model.setLink(ui::LinkState::None, QString());
}

void AppConnections::startLocal(const ui::LocalChoice& choice,
                                std::function<void(QString)> progress,
                                ui::Connections::Done<QString> done) {
  LocalClusterOptions options;
  options.name = kLocalName;
  options.nodes = choice.nodes;
  options.devices = choice.gpus;
  options.linkBytesPerSecond = choice.linkBytesPerSecond;
  startCluster(options, std::move(progress), std::move(done));
}

void AppConnections::startCluster(const LocalClusterOptions& options,
                                  std::function<void(QString)> progress,
                                  ui::Connections::Done<QString> done) {
  if (const Status free = checkNotBusy(); !free)
    return later<QString>(std::move(done), free.error());
  const std::string directory = localClusterFolder(options.name);
  if (isRunning(directory))
    return later<QString>(std::move(done), QString::fromStdString(options.name));
  m_progress.disconnect();
  const int agents = options.simulation ? 1 : options.nodes;
  connect(&m_progress, &QTimer::timeout, this, [directory, agents, progress = std::move(progress)] {
    progress(progressOf(directory, agents));
  });
  m_progress.start();
  startInBackground([options] { return startLocalCluster(options); }, std::move(done));
}

ui::StoppedCluster AppConnections::stoppedCluster(const QString& name) {
  const std::string cluster = name.toStdString();
  ui::StoppedCluster out{name, stoppedClusterOptions(cluster).has_value()};
  if (const auto history = keptHistory(localClusterFolder(cluster))) {
    out.history = QString::fromStdString(*history);
  } else if (const QString copy = QString::fromStdString(HistoryMirror::pathOf(cluster));
             QFileInfo::exists(copy)) {
    out.history = copy;
  }
  return out;
}

void AppConnections::startAgain(const QString& name, std::function<void(QString)> progress,
                                ui::Connections::Done<QString> done) {
  const auto options = stoppedClusterOptions(name.toStdString());
  if (!options) return later<QString>(std::move(done), options.error());
  startCluster(*options, std::move(progress), std::move(done));
}

QList<std::pair<QString, QString>> AppConnections::simulatedHardware() {
  QList<std::pair<QString, QString>> out;
  for (const std::string& name : agents::sim::HardwareNames())
    if (const auto hardware = agents::sim::FindHardware(name))
      out.append({QString::fromStdString(name), QString::fromStdString(hardware->title)});
  return out;
}

void AppConnections::startSimulated(const ui::SimulationChoice& choice,
                                    std::function<void(QString)> progress,
                                    ui::Connections::Done<QString> done) {
  if (const Status free = checkNotBusy(); !free)
    return later<QString>(std::move(done), free.error());
  progress(tr("%1 nodes of %2 GPUs").arg(choice.nodes).arg(choice.gpus));
  const WantedSimulation wanted{choice.nodes, choice.gpus, choice.hardware.toStdString(),
                                choice.demo};
  startInBackground([wanted] { return startSimulation(wanted); }, std::move(done));
}

template <typename Outcome>
void AppConnections::runInBackground(std::function<Outcome()> work,
                                     std::function<void(const Outcome&)> then) {
  m_isBusy = true;
  m_background = std::jthread([this, work = std::move(work), then = std::move(then)]() mutable {
    QMetaObject::invokeMethod(
        this,
        [this, outcome = work(), then = std::move(then)] {
          m_isBusy = false;
          then(outcome);
        },
        Qt::QueuedConnection);
  });
}

void AppConnections::startInBackground(std::function<Result<agents::Profile>()> start,
                                       ui::Connections::Done<QString> done) {
  runInBackground<Result<agents::Profile>>(
      std::move(start), [this, done = std::move(done)](const Result<agents::Profile>& started) {
        m_progress.stop();
        if (started) {
          done(QString::fromStdString(started->name));
        } else {
          done(started.error());
        }
      });
}

Status AppConnections::checkNotBusy() const {
  if (!m_isBusy) return OkStatus();
  return FailedPrecondition("another cluster is being started or stopped");
}

void AppConnections::stopLocal(const QString& name, ui::Connections::Done<void> done) {
  if (const Status free = checkNotBusy(); !free) return later<void>(std::move(done), free);
  runInBackground<Status>(
      [name = name.toStdString()]() -> Status {
        const auto stopped = isHostCluster(name) ? stopHostCluster(name) : stopLocalCluster(name);
        return stopped ? OkStatus() : Status(stopped.error());
      },
      [this, name, done = std::move(done)](const Status& stopped) {
        if (stopped && m_current == name) {
          m_bridge.close();
          // The cluster may have said so itself, and by whom.
          if (!m_model.stopped()) m_model.setStopped({wallClock(), {}});
        }
        done(stopped);
      });
}

QString AppConnections::keyFolder() { return QString::fromStdString(ownKeyFolder().string()); }

Result<QList<ui::KeyInfo>> AppConnections::keys() {
  TESSERA_TRY(const KeyList list, listKeys(ownKeyFolder()));
  QList<ui::KeyInfo> infos;
  for (const KeyFile& key : list.keys) {
    infos << ui::KeyInfo{QString::fromStdString(key.file.string()), key.isPair,
                         QString::fromStdString(key.role), QString::fromStdString(key.publicKey),
                         key.isOpen ? tr("Others can read the secret: chmod 600") : QString()};
  }
  for (const Error& error : list.unreadable) {
    ui::KeyInfo info;
    info.note = ui::localized(error.message);
    infos << info;
  }
  return infos;
}

Result<ui::KeyInfo> AppConnections::makeKey(const QString& name, const QString& role) {
  TESSERA_RETURN_IF_ERROR(checkName("key", name.toStdString()));
  TESSERA_TRY(const NewKeyPair made,
              makeKeyPair(ownKeyFolder(), name.toStdString(), role.toStdString(), false));
  return ui::KeyInfo{QString::fromStdString(made.publicFile.string()), false, role,
                     QString::fromStdString(made.publicKey)};
}

Result<QStringList> AppConnections::revokeKey(const QString& name, const QString& allowedFolder) {
  TESSERA_TRY(const auto removed,
              removeAcceptedKey(allowedFolder.toStdString(), name.toStdString()));
  QStringList files;
  for (const std::string& file : removed) files << QString::fromStdString(file);
  return files;
}

void AppConnections::send(const ui::Request& request,
                          std::function<void(const ui::Answer&)> progress,
                          ui::ClusterCommands::Done<ui::Answer> done) {
  if (m_file) return later<ui::Answer>(std::move(done), onlyAFile());
  forward(m_bridge, request, std::move(progress), std::move(done));
}

void AppConnections::stopRequests() { m_bridge.stopRequests(); }

// A file may have a hundred thousand rows per job.
void AppConnections::openHistory(const QString& file, ui::Connections::Done<void> done) {
  m_reading.post([this, file, done = std::move(done), shown = ++m_shown]() mutable {
    QMetaObject::invokeMethod(
        this,
        [this, file, done = std::move(done), shown,
         read = HistoryFile::read(file.toStdString())]() mutable {
          if (shown != m_shown) return done(Cancelled("something else was chosen meanwhile"));
          if (!read) return done(read.error());
          show(std::move(*read), file);
          done(OkStatus());
        },
        Qt::QueuedConnection);
  });
}

void AppConnections::show(HistoryFile file, const QString& path) {
  m_bridge.close();
  if (!m_file) m_stop = m_model.stopped();
  m_file = std::move(file);
  m_model.clear(path);
  m_model.setLink(ui::LinkState::Connected, path);
  m_model.setSnapshot(m_file->snapshot());
  for (const engine::Event& event : m_file->events) m_model.addEvent(event);
}

void AppConnections::closeHistory() {
  ++m_shown;
  m_file.reset();
  m_model.clear();
  if (m_named.isEmpty()) return;
  // By the name under which it was opened: its profile may have another name, or none.
  if (const auto status = open(m_named.toStdString()); !status) {
    if (m_stop) return m_model.setStopped(*m_stop);  // its profile is gone
    m_model.setLink(ui::LinkState::Lost, QString::fromStdString(status.error().message));
  }
}

Error AppConnections::onlyAFile() {
  return FailedPrecondition("a history file is shown, not a live cluster");
}

template <typename T>
void AppConnections::later(ui::ClusterCommands::Done<T> done, Result<T> result) {
  QMetaObject::invokeMethod(
      this,
      [done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); },
      Qt::QueuedConnection);
}

void AppConnections::plan(const ui::PlanRequest& request,
                          ui::ClusterCommands::Done<engine::PlanSummary> done) {
  if (m_file) return later<engine::PlanSummary>(std::move(done), onlyAFile());
  m_bridge.plan(request, std::move(done));
}

void AppConnections::apply(const ui::PlanRequest& request, const QString& planHash,
                           ui::Unrecorded unrecorded,
                           ui::ClusterCommands::Done<std::int64_t> done) {
  if (m_file) return later<std::int64_t>(std::move(done), onlyAFile());
  m_bridge.apply(request, planHash, unrecorded, std::move(done));
}

void AppConnections::cancel(std::int64_t txn, ui::ClusterCommands::Done<void> done) {
  if (m_file) return later<void>(std::move(done), onlyAFile());
  m_bridge.cancel(txn, std::move(done));
}

void AppConnections::history(ui::ClusterCommands::Done<std::vector<engine::HistoryEntry>> done) {
  if (m_file) return later<std::vector<engine::HistoryEntry>>(std::move(done), m_file->entries);
  m_bridge.history(std::move(done));
}

void AppConnections::startJob(const ui::StartRequest& request,
                              ui::ClusterCommands::Done<void> done) {
  if (m_file) return later<void>(std::move(done), onlyAFile());
  m_bridge.startJob(request, std::move(done));
}

void AppConnections::proposeStart(const ui::StartRequest& request,
                                  ui::ClusterCommands::Done<engine::Proposal> done) {
  if (m_file) return later<engine::Proposal>(std::move(done), onlyAFile());
  m_bridge.proposeStart(request, std::move(done));
}

void AppConnections::jobAct(const QString& job, ui::JobAct act,
                            ui::ClusterCommands::Done<void> done) {
  if (m_file) return later<void>(std::move(done), onlyAFile());
  m_bridge.jobAct(job, act, std::move(done));
}

void AppConnections::operate(const QString& panel, ui::OperateAct act,
                             ui::ClusterCommands::Done<ui::OperateAnswer> done) {
  if (m_file) return later<ui::OperateAnswer>(std::move(done), onlyAFile());
  m_bridge.operate(panel, act, std::move(done));
}

void AppConnections::decide(const QString& job, const ui::LossDecision& decision,
                            ui::ClusterCommands::Done<void> done) {
  if (m_file) return later<void>(std::move(done), onlyAFile());
  m_bridge.decide(job, decision, std::move(done));
}

void AppConnections::setOnFailure(const QString& job, engine::OnFailure onFailure,
                                  ui::ClusterCommands::Done<void> done) {
  if (m_file) return later<void>(std::move(done), onlyAFile());
  m_bridge.setOnFailure(job, onFailure, std::move(done));
}

void AppConnections::setSnapshots(const QString& job, engine::SnapshotEvery every,
                                  ui::ClusterCommands::Done<void> done) {
  if (m_file) return later<void>(std::move(done), onlyAFile());
  m_bridge.setSnapshots(job, every, std::move(done));
}

void AppConnections::saveCheckpoint(const QString& job, const QString& folder,
                                    ui::ClusterCommands::Done<void> done) {
  if (m_file) return later<void>(std::move(done), onlyAFile());
  m_bridge.saveCheckpoint(job, folder, std::move(done));
}

void AppConnections::samples(const QString& job, std::int64_t afterStep,
                             ui::ClusterCommands::Done<std::vector<engine::Sample>> done) {
  if (!m_file) return m_bridge.samples(job, afterStep, std::move(done));
  std::vector<engine::Sample> samples;
  if (const auto found = m_file->samples.find(job.toStdString()); found != m_file->samples.end())
    std::copy_if(found->second.begin(), found->second.end(), std::back_inserter(samples),
                 [afterStep](const engine::Sample& sample) { return sample.step > afterStep; });
  later<std::vector<engine::Sample>>(std::move(done), std::move(samples));
}

void AppConnections::propose(const QString& job, const std::vector<ptc::DeviceId>& devices,
                             ui::ClusterCommands::Done<engine::Proposal> done) {
  if (m_file) return later<engine::Proposal>(std::move(done), onlyAFile());
  m_bridge.propose(job, devices, std::move(done));
}

void AppConnections::doctor(ui::ClusterCommands::Done<std::vector<engine::Check>> done) {
  if (m_file) return later<std::vector<engine::Check>>(std::move(done), onlyAFile());
  m_bridge.doctor(std::move(done));
}

void AppConnections::states(ui::ClusterCommands::Done<engine::vfs::Jobs> done) {
  if (m_file) return later<engine::vfs::Jobs>(std::move(done), onlyAFile());
  m_bridge.states(std::move(done));
}

void AppConnections::reconnect() {
  if (!m_file) m_bridge.reconnect();
}

}  // namespace tessera::app
