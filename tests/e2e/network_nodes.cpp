// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/network_nodes.h"

#include <unistd.h>

#include <QStandardPaths>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tessera::test {
namespace {

constexpr int kOperator = -1;
const QString kOperatorAddress = QStringLiteral("10.77.0.100");

/// "net:[4026531840]"; empty where the process is gone.
std::string NamespaceOf(const std::string& process) {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/" + process + "/ns/net", ignored).string();
}

bool Succeeds(const QStringList& command) {
  QProcess process;
  process.start(command.first(), command.mid(1));
  return process.waitForFinished(10'000) && process.exitStatus() == QProcess::NormalExit &&
         process.exitCode() == 0;
}

}  // namespace

NetworkNodes::NetworkNodes(int count) {
  if (::geteuid() != 0) {
    problem_ = QStringLiteral("network namespaces need root");
    return;
  }
  for (const char* program : {"ip", "nsenter", "setpriv", "unshare"}) {
    if (QStandardPaths::findExecutable(QLatin1String(program)).isEmpty()) {
      problem_ = QStringLiteral("there is no command %1").arg(QLatin1String(program));
      return;
    }
  }
  // The bridge is in the operator's namespace, so nothing appears in the namespace of the tests.
  bool made = Hold() && Ip(kOperator, QStringLiteral("link add br0 type bridge")) &&
              Ip(kOperator, QStringLiteral("addr add %1/24 dev br0").arg(kOperatorAddress)) &&
              Ip(kOperator, QStringLiteral("link set br0 up")) &&
              Ip(kOperator, QStringLiteral("link set lo up"));
  for (int node = 0; made && node < count; ++node) {
    made = Hold() &&
           Ip(kOperator, QStringLiteral("link add port%1 type veth peer name eth0 netns %2")
                             .arg(node)
                             .arg(Pid(node))) &&
           Ip(kOperator, QStringLiteral("link set port%1 master br0").arg(node)) &&
           Ip(kOperator, QStringLiteral("link set port%1 up").arg(node)) &&
           Ip(node, QStringLiteral("addr add %1/24 dev eth0").arg(Address(node))) &&
           Ip(node, QStringLiteral("link set eth0 up")) &&
           Ip(node, QStringLiteral("link set lo up"));
  }
  if (!made) problem_ = QStringLiteral("this system makes no network namespaces with bridges");
}

NetworkNodes::~NetworkNodes() {
  for (const auto& holder : holders_) {
    holder->kill();
    holder->waitForFinished(2000);
  }
}

QStringList NetworkNodes::On(int node, const QStringList& command) const {
  return QStringList{QStringLiteral("nsenter"), QStringLiteral("--net"), QStringLiteral("--target"),
                     QString::number(Pid(node))} +
         command;
}

bool NetworkNodes::SetLink(int node, bool up) const {
  return Ip(kOperator, QStringLiteral("link set port%1 %2")
                           .arg(node)
                           .arg(up ? QStringLiteral("up") : QStringLiteral("down")));
}

std::optional<NetworkNodes::Carried> NetworkNodes::CarriedBy(int node) const {
  // Of a packet with timestamps. The kernel counts a large packet that it has not cut yet as one.
  constexpr std::int64_t kHeaders = 14 + 20 + 32;
  std::ifstream table("/proc/" + std::to_string(Pid(node)) + "/net/dev");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string name;
    if (!(fields >> name) || name != "eth0:") continue;
    std::int64_t values[10] = {};  // bytes, packets and six more, received; bytes and packets, sent
    for (std::int64_t& value : values) fields >> value;
    if (!fields) return std::nullopt;
    return Carried{values[0] - kHeaders * values[1], values[8] - kHeaders * values[9]};
  }
  return std::nullopt;
}

bool NetworkNodes::Hold() {
  auto holder = std::make_unique<QProcess>();
  holder->start(QStringLiteral("setpriv"),
                QStringLiteral("--pdeathsig KILL unshare --net sleep infinity").split(u' '));
  if (!holder->waitForStarted()) return false;
  const std::string own = NamespaceOf("self");
  const std::string pid = std::to_string(holder->processId());
  holders_.push_back(std::move(holder));
  // Until then commands for it would reach the namespace of the tests.
  return QTest::qWaitFor([&] {
    const std::string its = NamespaceOf(pid);
    return !its.empty() && its != own;
  });
}

bool NetworkNodes::Ip(int node, const QString& words) const {
  return Succeeds(On(node, QStringList{QStringLiteral("ip")} + words.split(u' ')));
}

}  // namespace tessera::test
