// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/machine_cluster.h"

#include <QFile>
#include <QStandardPaths>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/folders.h"

namespace tessera::test {
namespace {

constexpr int kOperatorsMachine = -1;
const QString kBin = QStringLiteral(TESSERA_BIN_DIR);

}  // namespace

MachineCluster::MachineCluster(const Options& options)
    : Cluster(QStringLiteral("/tmp/tsm.XXXXXX")), options_(options), machines_(options.nodes) {
  if (!machines_.problem().isEmpty()) {
    Fail(machines_.problem());
    return;
  }
  // Each node keeps its own secret key, the operator the operator's.
  const QStringList key = {QStringLiteral("keys"), QStringLiteral("new"), QStringLiteral("lena")};
  if (!SetUp(kOperatorsMachine, key) || !ConfigureNodes() || !ExchangeKeys()) return;
  for (int node = 0; node < options_.nodes; ++node) {
    if (const QString wrong = StartNode(node); !wrong.isEmpty()) {
      Fail(wrong);
      return;
    }
  }
  const bool made = SetUp(
      kOperatorsMachine, {QStringLiteral("profile"), QStringLiteral("add"), QStringLiteral("lab"),
                          QStringLiteral("--registrar"), NetworkNodes::Address(0),
                          QStringLiteral("--server-key"), Path(QStringLiteral("n0/allowed/n0.pub")),
                          QStringLiteral("--key"), Path(QStringLiteral("operator/keys/lena.key"))});
  if (made && !WaitAllAlive()) Fail(QStringLiteral("not all nodes are alive"));
}

MachineCluster::~MachineCluster() {
  PrintLogsIfFailed();
  End();
  KillAll(keepers_);
}

bool MachineCluster::ConfigureNodes() {
  for (int node = 0; node < options_.nodes; ++node) {
    QStringList words = {
        QStringLiteral("node"),         QStringLiteral("setup"),
        QStringLiteral("--cluster"),    QStringLiteral("lab"),
        QStringLiteral("--node"),       QString::number(node),
        QStringLiteral("--address"),    NetworkNodes::Address(node),
        QStringLiteral("--gpus"),       QString::number(options_.devices),
        QStringLiteral("--gpu-memory"), options_.memory,
        QStringLiteral("--host"),       QStringLiteral("machine%1").arg(node),
        QStringLiteral("--output"),     ConfigOf(node),
        QStringLiteral("--directory"),  Path(QStringLiteral("n%1/state").arg(node))};
    if (node > 0) {
      words << QStringLiteral("--registrar") << NetworkNodes::Address(0)
            << QStringLiteral("--registrar-key") << Path(QStringLiteral("n0/allowed/n0.pub"));
    }
    if (!SetUp(node, words)) return false;
  }
  return true;
}

bool MachineCluster::ExchangeKeys() {
  bool copied = true;
  for (int to = 0; to < options_.nodes; ++to) {
    const QString allowed = Path(QStringLiteral("n%1/allowed/").arg(to));
    for (int from = 0; from < options_.nodes; ++from) {
      const QString key = QStringLiteral("n%1.pub").arg(from);
      if (from == to) continue;
      copied = copied &&
               QFile::copy(Path(QStringLiteral("n%1/allowed/").arg(from) + key), allowed + key);
    }
    copied = copied && QFile::copy(Path(QStringLiteral("operator/keys/lena.pub")),
                                   allowed + QStringLiteral("lena.pub"));
  }
  if (!copied) Fail(QStringLiteral("a public key cannot be copied"));
  return copied;
}

std::unique_ptr<QProcess> MachineCluster::StartOn(int node, const QStringList& words) const {
  const QStringList command =
      machines_.On(node, QStringList{kBin + QStringLiteral("/tesseractl")} + words);
  auto process = std::make_unique<QProcess>();
  process->setEnvironment(EnvironmentWithHome(
      Path(node < 0 ? QStringLiteral("operator") : QStringLiteral("m%1").arg(node))));
  process->setStandardInputFile(QProcess::nullDevice());
  process->start(command.first(), command.mid(1));
  return process;
}

bool MachineCluster::SetUp(int node, const QStringList& words) {
  up_ = Finish(*StartOn(node, words));
  return up_.code == 0;
}

void MachineCluster::Fail(const QString& why) {
  up_ = Outcome();
  up_.errors = why;
}

std::unique_ptr<QProcess> MachineCluster::Start(const QStringList& words) const {
  return StartOn(kOperatorsMachine, words);
}

Json MachineCluster::Status() const { return Ask({QStringLiteral("status")}, 10); }

app::ProcessId MachineCluster::Keeper(int node) const {
  const auto index = static_cast<std::size_t>(node);
  return index < keepers_.size() ? keepers_[index] : app::ProcessId{};
}

QString MachineCluster::StartNode(int node) {
  std::vector<std::string> command;
  for (const QString& word : machines_.On(node, {kBin + QStringLiteral("/tessera-agent"),
                                                 QStringLiteral("--config"), ConfigOf(node)})) {
    command.push_back(word.toStdString());
  }
  command[0] = QStandardPaths::findExecutable(QString::fromStdString(command[0])).toStdString();
  const std::string folder = Path(QStringLiteral("n%1/state").arg(node)).toStdString();
  const auto keeper = app::startDaemon(command, folder, folder + "/agent.log",
                                       Path(QStringLiteral("m%1").arg(node)).toStdString());
  if (!keeper) return QString::fromStdString(keeper.error().ToString());
  const auto index = static_cast<std::size_t>(node);
  keepers_.resize(std::max(keepers_.size(), index + 1));
  keepers_[index] = *keeper;
  return {};
}

QString MachineCluster::End() {
  for (const app::ProcessId& keeper : keepers_) {
    app::signalProcess(keeper, SIGCONT);
    app::signalProcess(keeper, SIGTERM);
  }
  const bool ended = app::waitGone(keepers_, std::chrono::seconds(10));
  return ended ? QString() : QStringLiteral("an agent does not end");
}

}  // namespace tessera::test
