// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/ssh_hosts.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <random>
#include <vector>

#include "tests/support/cluster.h"
#include "tests/support/program.h"

namespace tessera::test {
namespace {

constexpr int kPatience = 20'000;  // ms

/// The first of `count` neighbouring ports of the loopback that are free, below those that the
/// kernel gives to connections; 0: none.
int FreePortBlock(int count) {
  for (int tries = 0; tries < 50; ++tries) {
    const int first = 20000 + static_cast<int>(std::random_device{}() % 10000);
    std::vector<int> sockets;
    bool is_free = true;
    for (int port = first; port < first + count && is_free; ++port) {
      sockets.push_back(ListenOn(port));
      is_free = sockets.back() >= 0;
    }
    for (const int fd : sockets) ::close(fd);
    if (is_free) return first;
  }
  return 0;
}

// What ssh gets for a host says what its programs are: %1 is the folder.
const QString kSsh = QStringLiteral(R"(#!/bin/sh
case " $* " in
*" late sh "*) [ -e %1/late ] && exec ssh -F %1/ssh_config gone true ;;
*" bare sh "*) sed 's|^programs=.*|programs=/nowhere PATH=/usr/bin:/bin|' | exec ssh -F %1/ssh_config "$@" ;;
*" old sh "*) sed 's|^programs=.*|programs=%1/old|' | exec ssh -F %1/ssh_config "$@" ;;
esac
exec ssh -F %1/ssh_config "$@"
)");

const QString kClient = QStringLiteral(R"(Host gone
  Port 1
Host *
  HostName 127.0.0.1
  Port %2
  IdentityFile %1/user_key
  IdentitiesOnly yes
  UserKnownHostsFile %1/known
  StrictHostKeyChecking accept-new
)");

const QString kServer = QStringLiteral(R"(Port %2
ListenAddress 127.0.0.1
HostKey %1/host_key
AuthorizedKeysFile %1/user_key.pub
PidFile none
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
MaxStartups 100
SetEnv TESSERA_HOME=%1/home
)");

}  // namespace

int ListenOn(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(fd, 1) == 0)
    return fd;
  ::close(fd);
  return -1;
}

SshHosts::SshHosts() {
  const QString sshd = QStandardPaths::findExecutable(
      QStringLiteral("sshd"), {QStringLiteral("/usr/sbin"), QStringLiteral("/usr/local/sbin")});
  if (sshd.isEmpty()) problem_ = QStringLiteral("sshd is not installed");
  for (const char* program : {"ssh", "ssh-keygen"})
    if (problem_.isEmpty() && QStandardPaths::findExecutable(QLatin1String(program)).isEmpty())
      problem_ = QStringLiteral("%1 is not installed").arg(QLatin1String(program));
  if (!problem_.isEmpty()) return;
  port_ = FreePortBlock(1 + kNumPorts);
  // The service of the package makes it; root's sshd needs it.
  if (::geteuid() == 0) QDir().mkpath(QStringLiteral("/run/sshd"));
  QDir().mkpath(home());
  QDir().mkpath(folder() + QStringLiteral("/old"));
  const QString old = QStringLiteral("#!/bin/sh\necho tesseractl 0.0.9\n");
  const QString port = QString::number(port_);
  if (port_ == 0 || !MakeKey(QStringLiteral("host_key")) || !MakeKey(QStringLiteral("user_key")) ||
      !Write(QStringLiteral("old/tesseractl"), old, true) ||
      !Write(QStringLiteral("ssh"), kSsh.arg(folder()), true) ||
      !Write(QStringLiteral("ssh_config"), kClient.arg(folder(), port)) ||
      !Write(QStringLiteral("sshd_config"), kServer.arg(folder(), port))) {
    problem_ = QStringLiteral("no sshd can be set up in ") + folder();
    return;
  }
  sshd_.setEnvironment(EnvironmentWithHome(home()));  // HomeGuard ends it by that
  sshd_.setStandardErrorFile(folder() + QStringLiteral("/sshd.log"));
  sshd_.start(sshd, {QStringLiteral("-D"), QStringLiteral("-e"), QStringLiteral("-f"),
                     folder() + QStringLiteral("/sshd_config")});
  const bool answers = Cluster::WaitFor(
      [this] {
        return QProcess::execute(command(), {QStringLiteral("-o"), QStringLiteral("BatchMode=yes"),
                                             QStringLiteral("a"), QStringLiteral("true")}) == 0;
      },
      10);
  if (answers) return;
  QFile log(folder() + QStringLiteral("/sshd.log"));
  const QByteArray text = log.open(QIODevice::ReadOnly) ? log.readAll() : QByteArray();
  problem_ = QStringLiteral("sshd lets nobody in: ") + QString::fromUtf8(text.simplified());
}

SshHosts::~SshHosts() {
  sshd_.terminate();
  if (!sshd_.waitForFinished(kPatience)) sshd_.kill();
  sshd_.waitForFinished(kPatience);
}

bool SshHosts::Write(const QString& name, const QString& text, bool is_program) const {
  QFile file(folder() + u'/' + name);
  auto mode = QFile::ReadOwner | QFile::WriteOwner;
  if (is_program) mode |= QFile::ExeOwner;
  return file.open(QIODevice::WriteOnly) && file.write(text.toUtf8()) > 0 &&
         file.setPermissions(mode);
}

bool SshHosts::MakeKey(const QString& name) const {
  return QProcess::execute(
             QStringLiteral("ssh-keygen"),
             {QStringLiteral("-q"), QStringLiteral("-t"), QStringLiteral("ed25519"),
              QStringLiteral("-N"), QString(), QStringLiteral("-f"), folder() + u'/' + name}) == 0;
}

}  // namespace tessera::test
