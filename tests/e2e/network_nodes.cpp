// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/network_nodes.h"

#include <unistd.h>

#include <QProcess>
#include <QStandardPaths>

namespace tessera::test {
namespace {

const QString kOperatorAddress = QStringLiteral("10.77.0.100/24");

}  // namespace

NetworkNodes::NetworkNodes(int count)
    : count_(count), prefix_(QStringLiteral("tsr%1-").arg(::getpid())) {
  if (::geteuid() != 0) {
    problem_ = QStringLiteral("network namespaces need root");
    return;
  }
  if (QStandardPaths::findExecutable(QStringLiteral("ip")).isEmpty()) {
    problem_ = QStringLiteral("there is no ip command (package iproute2)");
    return;
  }
  // The bridge stands in the operator's namespace: nothing appears in that of the tests.
  const QString hub = Name(-1);
  bool made =
      Ip({QStringLiteral("netns"), QStringLiteral("add"), hub}) &&
      Ip(QStringLiteral("-n %1 link add br0 type bridge").arg(hub).split(u' ')) &&
      Ip(QStringLiteral("-n %1 addr add %2 dev br0").arg(hub, kOperatorAddress).split(u' ')) &&
      Ip(QStringLiteral("-n %1 link set br0 up").arg(hub).split(u' ')) &&
      Ip(QStringLiteral("-n %1 link set lo up").arg(hub).split(u' '));
  for (int node = 0; made && node < count; ++node) {
    const QString name = Name(node);
    for (const QString& words :
         {QStringLiteral("netns add %1").arg(name),
          QStringLiteral("-n %1 link add port%2 type veth peer name eth0 netns %3")
              .arg(hub)
              .arg(node)
              .arg(name),
          QStringLiteral("-n %1 link set port%2 master br0").arg(hub).arg(node),
          QStringLiteral("-n %1 link set port%2 up").arg(hub).arg(node),
          QStringLiteral("-n %1 addr add %2/24 dev eth0").arg(name, Address(node)),
          QStringLiteral("-n %1 link set eth0 up").arg(name),
          QStringLiteral("-n %1 link set lo up").arg(name)}) {
      made = made && Ip(words.split(u' '));
    }
  }
  if (!made) problem_ = QStringLiteral("this system makes no network namespaces with bridges");
}

NetworkNodes::~NetworkNodes() {
  for (int node = -1; node < count_; ++node) {
    Ip({QStringLiteral("netns"), QStringLiteral("del"), Name(node)});
  }
}

QStringList NetworkNodes::On(int node, const QStringList& command) const {
  return QStringList{QStringLiteral("ip"), QStringLiteral("netns"), QStringLiteral("exec"),
                     Name(node)} +
         command;
}

bool NetworkNodes::SetLink(int node, bool up) const {
  return Ip(QStringLiteral("-n %1 link set port%2 %3")
                .arg(Name(-1))
                .arg(node)
                .arg(up ? QStringLiteral("up") : QStringLiteral("down"))
                .split(u' '));
}

QString NetworkNodes::Name(int node) const {
  return prefix_ + (node < 0 ? QStringLiteral("hub") : QString::number(node));
}

bool NetworkNodes::Ip(const QStringList& words) const {
  QProcess process;
  process.start(QStringLiteral("ip"), words);
  return process.waitForFinished(10'000) && process.exitStatus() == QProcess::NormalExit &&
         process.exitCode() == 0;
}

}  // namespace tessera::test
