// SPDX-License-Identifier: Apache-2.0
#include "tests/support/x_server.h"

#include <QProcess>
#include <QStandardPaths>
#include <QThread>
#include <nlohmann/json.hpp>

namespace tessera::test {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr int kDragSteps = 10;
constexpr int kStepMs = 40;

void End(QProcess& process) {
  if (process.state() == QProcess::NotRunning) return;
  process.terminate();
  if (!process.waitForFinished(3000)) {
    process.kill();
    process.waitForFinished(3000);
  }
}

}  // namespace

XServer::XServer() {
  for (const char* program : {"Xvfb", "openbox", "xdotool"})
    if (QStandardPaths::findExecutable(QString::fromLatin1(program)).isEmpty()) {
      missing_ = QStringLiteral("%1 is not installed").arg(QString::fromLatin1(program));
      return;
    }
  server_.setStandardErrorFile(QProcess::nullDevice());
  // The server chooses a free display and writes its number to descriptor 1.
  server_.start(QStringLiteral("Xvfb"),
                {QStringLiteral("-displayfd"), QStringLiteral("1"), QStringLiteral("-screen"),
                 QStringLiteral("0"), QStringLiteral("1600x1000x24"), QStringLiteral("-nolisten"),
                 QStringLiteral("tcp")});
  QByteArray number;
  while (!number.endsWith('\n') && server_.waitForReadyRead(kPatienceMs))
    number += server_.readAll();
  if (!number.endsWith('\n')) {
    missing_ = QStringLiteral("Xvfb did not start");
    return;
  }
  display_ = QLatin1Char(':') + QString::fromLatin1(number.trimmed());
  manager_.setEnvironment(Environment(QProcess::systemEnvironment()));
  manager_.setProcessChannelMode(QProcess::MergedChannels);
  manager_.setStandardOutputFile(QProcess::nullDevice());
  manager_.start(QStringLiteral("openbox"), {QStringLiteral("--sm-disable")});
  if (!manager_.waitForStarted(kPatienceMs)) missing_ = QStringLiteral("openbox did not start");
}

XServer::~XServer() {
  End(manager_);
  End(server_);
}

QStringList XServer::Environment(QStringList environment) const {
  environment.removeIf([](const QString& entry) {
    return entry.startsWith(u"DISPLAY=") || entry.startsWith(u"WAYLAND_DISPLAY=") ||
           entry.startsWith(u"QT_QPA_PLATFORM=");
  });
  environment << QStringLiteral("DISPLAY=") + display_ << QStringLiteral("QT_QPA_PLATFORM=xcb");
  return environment;
}

bool XServer::Tool(const QStringList& words) const {
  QProcess process;
  process.setEnvironment(Environment(QProcess::systemEnvironment()));
  process.start(QStringLiteral("xdotool"), words);
  return process.waitForFinished(kPatienceMs) && process.exitCode() == 0;
}

QPoint XServer::Between(QPoint from, QPoint to, double part) {
  return from + QPoint(qRound((to.x() - from.x()) * part), qRound((to.y() - from.y()) * part));
}

QPoint XServer::MiddleOf(const nlohmann::json& rect) {
  return {rect[0].get<int>() + rect[2].get<int>() / 2, rect[1].get<int>() + rect[3].get<int>() / 2};
}

bool XServer::Drag(QPoint from, QPoint to) const {
  const auto move = [this](QPoint at) {
    return Tool({QStringLiteral("mousemove"), QString::number(at.x()), QString::number(at.y())});
  };
  bool good = move(from) && Tool({QStringLiteral("mousedown"), QStringLiteral("1")});
  for (int step = 1; good && step <= kDragSteps; ++step) {
    good = move(Between(from, to, static_cast<double>(step) / kDragSteps));
    QThread::msleep(kStepMs);
  }
  return Tool({QStringLiteral("mouseup"), QStringLiteral("1")}) && good;
}

bool XServer::Click(QPoint at) const {
  return Tool({QStringLiteral("mousemove"), QString::number(at.x()), QString::number(at.y()),
               QStringLiteral("click"), QStringLiteral("1")});
}

bool XServer::Key(const QString& keys) const { return Tool({QStringLiteral("key"), keys}); }

bool XServer::Type(const QString& text) const { return Tool({QStringLiteral("type"), text}); }

}  // namespace tessera::test
