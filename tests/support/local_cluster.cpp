// SPDX-License-Identifier: Apache-2.0
#include "tests/support/local_cluster.h"

#include <sys/mount.h>

#include <QFile>
#include <chrono>
#include <nlohmann/json.hpp>

#include "agents/client/cluster.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/json.h"
#include "tests/folders.h"

namespace tessera::test {
namespace {

const QString kName = QStringLiteral("t");  // short: socket paths have 108 bytes

bool Mount(const QString& folder, const QString& size) {
  const std::string data = "mode=0700,size=" + size.toStdString();
  return ::mount("tmpfs", qPrintable(folder), "tmpfs", 0, data.c_str()) == 0;
}

}  // namespace

namespace {

/// With TESSERA_TEST_GPUS=cuda, clusters have the devices of the emulated CUDA driver, so that a
/// test of emulated GPUs is one of CUDA memory, too.
bool EmulatesCuda(const LocalCluster::Options& options) {
  return !options.cuda.isNull() || qgetenv("TESSERA_TEST_GPUS") == "cuda";
}

/// For all programs that this process starts.
void EmulateDevices(int count, const QString& more) {
  qputenv("LD_LIBRARY_PATH", TESSERA_TEST_FOLDER "/cuda_emulation");
  // Later words replace earlier ones.
  QString settings = QStringLiteral("memory=1G,devices=%1").arg(count);
  if (!more.isEmpty()) settings += QStringLiteral(",") + more;
  qputenv("TESSERA_CUDA_EMULATION", settings.toLatin1());
}

}  // namespace

bool OnRealGpus() { return qgetenv("TESSERA_TEST_GPUS") == "real"; }

LocalCluster::LocalCluster(const Options& options)
    : Cluster(QStringLiteral("/tmp/tsr.XXXXXX")),
      has_disk_(!options.disk.isEmpty() && Mount(home(), options.disk)),
      step_time_(options.step_time) {
  QStringList words = {QStringLiteral("up"), QStringLiteral("--cluster"), kName};
  if (!options.simulate.isEmpty())
    words << QStringLiteral("--simulate") << options.simulate;
  else
    words << QStringLiteral("--nodes") << QString::number(options.nodes) << QStringLiteral("--gpus")
          << (EmulatesCuda(options) || OnRealGpus() ? QStringLiteral("cuda")
                                                    : QString::number(options.devices))
          << QStringLiteral("--gpu-memory") << options.memory;
  if (EmulatesCuda(options)) {
    EmulateDevices(options.nodes * options.devices, options.cuda);
  } else if (OnRealGpus() && options.simulate.isEmpty()) {
    words << QStringLiteral("--gpus-per-device")
          << QString::number(options.nodes * options.devices);
  }
  if (!options.link.isEmpty()) words << QStringLiteral("--link") << options.link;
  if (options.plain_lanes) words << QStringLiteral("--lanes") << QStringLiteral("plain");
  words << options.more;
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
  PrintLogsIfFailed();
  Run({QStringLiteral("down"), QStringLiteral("--all"), QStringLiteral("--yes")});
  KillAll(keepers_);
  if (has_disk_) ::umount2(qPrintable(home()), MNT_DETACH);
}

std::unique_ptr<QProcess> LocalCluster::Start(const QStringList& words) const {
  return StartProgram(QStringLiteral("tesseractl"), words, Environment());
}

void LocalCluster::Reconnect() const { client_.reset(); }

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

app::ProcessId LocalCluster::Keeper(int node) const {
  const auto index = static_cast<std::size_t>(node);
  if (index >= keepers_.size()) return {};
  if (!app::isAlive(keepers_[index])) ReadKeepers();  // it may have been started again
  return index < keepers_.size() ? keepers_[index] : app::ProcessId{};
}

QString LocalCluster::ConfigOf(int node) const {
  return home() + QStringLiteral("/clusters/t/n%1/agent.json").arg(node);
}

QString LocalCluster::StartNode(int node) {
  const Outcome started =
      Run({QStringLiteral("node"), QStringLiteral("start"), QStringLiteral("n%1").arg(node)});
  return started.code == 0 ? QString() : QString::fromUtf8(started.Text());
}

QString LocalCluster::End() {
  const Outcome down = Run({QStringLiteral("down"), QStringLiteral("--yes")});
  return down.code == 0 ? QString() : QString::fromUtf8(down.Text());
}

QString FirstDevices(int count, int per_node) {
  QStringList names;
  for (int i = 0; i < count; ++i)
    names << QStringLiteral("n%1g%2").arg(i / per_node).arg(i % per_node);
  return names.join(u',');
}

}  // namespace tessera::test
