// SPDX-License-Identifier: Apache-2.0
#include "tests/support/etcd_servers.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QElapsedTimer>
#include <QFile>
#include <QStandardPaths>
#include <QThread>

#include "agents/decision/etcd_client.h"
#include "tests/support/temporary_folder.h"

namespace tessera::test {
namespace {

constexpr int kStartPatience = 30'000;

/// Free ports of the loopback, all different.
std::vector<int> FreePorts(int count) {
  std::vector<int> ports, sockets;
  for (int i = 0; i < count; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd, generic, size) == 0) ::getsockname(fd, generic, &size);
    ports.push_back(ntohs(address.sin_port));
    sockets.push_back(fd);
  }
  for (const int fd : sockets) ::close(fd);
  return ports;
}

std::string UrlOf(const char* scheme, int port) {
  return fmt::format("{}://127.0.0.1:{}", scheme, port);
}

}  // namespace

QString EtcdServers::WhyNot() {
  for (const char* program : {"etcd", "openssl"}) {
    if (QStandardPaths::findExecutable(QString::fromLatin1(program)).isEmpty()) {
      return QStringLiteral("%1 is not installed").arg(QString::fromLatin1(program));
    }
  }
  return {};
}

EtcdServers::EtcdServers(int members, const EtcdServers* other) : folder_(TemporaryFolder()) {
  if (!(other ? TakeCertificates(*other) : MakeCertificates())) return;
  const std::vector<int> ports = FreePorts(2 * members);
  for (int i = 0; i < members; ++i) {
    const auto at = static_cast<std::size_t>(2 * i);
    members_.push_back({ports[at], ports[at + 1], {}});
  }
  for (int i = 0; i < members; ++i) Start(i);
  if (!WaitUntilItAnswers()) problem_ = QStringLiteral("etcd does not answer");
}

EtcdServers::~EtcdServers() {
  for (int i = 0; i < static_cast<int>(members_.size()); ++i) Kill(i);
}

bool EtcdServers::MakeCertificates() {
  const QString script = QStringLiteral(
      "cd \"$1\"; new='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'; "
      "openssl req -x509 $new -days 2 -subj /CN=authority -keyout ca.key -out ca.pem && "
      "openssl req $new -subj /CN=etcd -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out "
      "request.pem && openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial "
      "-days 2 -copy_extensions copy -out certificate.pem");
  QProcess process;
  process.start(QStringLiteral("sh"),
                {QStringLiteral("-c"), script, QStringLiteral("sh"), folder_->path()});
  if (process.waitForFinished() && process.exitCode() == 0) return true;
  problem_ = QStringLiteral("openssl: ") + QString::fromUtf8(process.readAllStandardError());
  return false;
}

bool EtcdServers::TakeCertificates(const EtcdServers& other) {
  for (const char* name : {"ca.pem", "certificate.pem", "key.pem"}) {
    const QString file = QString::fromLatin1(name);
    if (QFile::copy(other.File(file), File(file))) continue;
    problem_ = QStringLiteral("cannot copy %1").arg(file);
    return false;
  }
  return true;
}

agents::EtcdPlace EtcdServers::place(const std::string& prefix) const {
  agents::EtcdPlace place;
  for (const Member& member : members_) {
    place.endpoints.push_back(UrlOf("https", member.client_port));
  }
  place.prefix = prefix;
  place.authorities = File(QStringLiteral("ca.pem")).toStdString();
  place.certificate = File(QStringLiteral("certificate.pem")).toStdString();
  place.key = File(QStringLiteral("key.pem")).toStdString();
  return place;
}

QStringList EtcdServers::words() const {
  const agents::EtcdPlace here = place();
  QStringList words;
  for (const std::string& url : here.endpoints) {
    words << QStringLiteral("--etcd") << QString::fromStdString(url);
  }
  return words << QStringLiteral("--etcd-ca") << QString::fromStdString(here.authorities)
               << QStringLiteral("--etcd-cert") << QString::fromStdString(here.certificate)
               << QStringLiteral("--etcd-key") << QString::fromStdString(here.key);
}

void EtcdServers::Start(int member) {
  Member& m = members_[static_cast<std::size_t>(member)];
  std::string cluster;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    cluster += fmt::format("{}m{}={}", i == 0 ? "" : ",", i, UrlOf("http", members_[i].peer_port));
  }
  const QString name = QStringLiteral("m%1").arg(member);
  const QString client = QString::fromStdString(UrlOf("https", m.client_port));
  const QString peer = QString::fromStdString(UrlOf("http", m.peer_port));
  m.process = std::make_unique<QProcess>();
  m.process->setStandardOutputFile(File(name + QStringLiteral(".log")), QIODevice::Append);
  m.process->setStandardErrorFile(File(name + QStringLiteral(".log")), QIODevice::Append);
  m.process->setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGKILL); });
  m.process->start(QStringLiteral("etcd"), {QStringLiteral("--name"),
                                            name,
                                            QStringLiteral("--data-dir"),
                                            File(name),
                                            QStringLiteral("--listen-client-urls"),
                                            client,
                                            QStringLiteral("--advertise-client-urls"),
                                            client,
                                            QStringLiteral("--listen-peer-urls"),
                                            peer,
                                            QStringLiteral("--initial-advertise-peer-urls"),
                                            peer,
                                            QStringLiteral("--initial-cluster"),
                                            QString::fromStdString(cluster),
                                            QStringLiteral("--initial-cluster-token"),
                                            QString::number(members_[0].peer_port),
                                            QStringLiteral("--cert-file"),
                                            File(QStringLiteral("certificate.pem")),
                                            QStringLiteral("--key-file"),
                                            File(QStringLiteral("key.pem")),
                                            QStringLiteral("--trusted-ca-file"),
                                            File(QStringLiteral("ca.pem")),
                                            QStringLiteral("--client-cert-auth"),
                                            QStringLiteral("--heartbeat-interval"),
                                            QStringLiteral("50"),
                                            QStringLiteral("--election-timeout"),
                                            QStringLiteral("500"),
                                            QStringLiteral("--logger"),
                                            QStringLiteral("zap")});
  m.process->waitForStarted();
}

void EtcdServers::Kill(int member) {
  const auto& process = members_[static_cast<std::size_t>(member)].process;
  if (!process) return;
  process->kill();
  process->waitForFinished();
}

void EtcdServers::Halt(int member) {
  ::kill(static_cast<pid_t>(members_[static_cast<std::size_t>(member)].process->processId()),
         SIGSTOP);
}

void EtcdServers::Continue(int member) {
  ::kill(static_cast<pid_t>(members_[static_cast<std::size_t>(member)].process->processId()),
         SIGCONT);
}

bool EtcdServers::WaitUntilItAnswers() const {
  agents::EtcdClient client(place());
  QElapsedTimer elapsed;
  elapsed.start();
  while (elapsed.elapsed() < kStartPatience) {
    if (client.Get("/")) return true;
    QThread::msleep(100);
  }
  return false;
}

}  // namespace tessera::test
