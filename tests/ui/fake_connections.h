// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Profiles in memory and tests that the caller drives, for the dialogs.

#include <QTimer>
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "ui/connections.h"

namespace tessera::test {

class FakeConnections : public ui::Connections {
 public:
  QList<ui::ProfileInfo> known;
  QString now;
  std::optional<QString> mounted;
  std::set<std::int32_t> here;  // nodes
  QStringList connected;
  QStringList stopped;  // local clusters
  QList<ui::KeyInfo> ownKeys;
  QString opened;
  int started = 0;
  // Of the test that runs.
  std::function<void(ui::AgentTest)> row;
  Done<void> testDone;
  // Of the start that runs.
  std::function<void(QString)> progress;
  Done<QString> startDone;

  static ui::ProfileInfo remote(const QString& name) {
    return {name, QStringLiteral("tcp://10.0.0.5:40001"), QStringLiteral("tcp://10.0.0.5:40002"),
            QStringLiteral("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"),
            QStringLiteral("/dev/null")};
  }

  QList<ui::ProfileInfo> profiles() override { return known; }
  QString current() const override { return now; }
  Result<ui::ProfileInfo> parse(const QString& text) override {
    if (!text.startsWith(QLatin1Char('{'))) return InvalidArgument("the text:1: not JSON");
    return remote(QStringLiteral("pasted"));
  }
  Status add(const ui::ProfileInfo& profile) override {
    known << profile;
    return OkStatus();
  }
  Status forget(const QString& name) override {
    for (qsizetype i = 0; i < known.size(); ++i) {
      if (known[i].name == name) {
        m_forgotten = known.takeAt(i);
        return OkStatus();
      }
    }
    return NotFound("no profile " + name.toStdString());
  }
  Status restore() override {
    if (!m_forgotten) return NotFound("nothing was forgotten");
    known << *std::exchange(m_forgotten, std::nullopt);
    return OkStatus();
  }
  void test(const QString&, std::function<void(ui::AgentTest)> each, Done<void> done) override {
    row = std::move(each);
    testDone = std::move(done);
  }
  void cancelTest() override {
    if (testDone) std::exchange(testDone, nullptr)(Cancelled("cancelled"));
  }
  std::optional<QString> mountPoint() override { return mounted; }
  void mount(const QString& folder, bool readOnly, Done<void> done) override {
    mounts.append({folder, readOnly});
    if (mountAnswer) mounted = folder;
    done(mountAnswer);
  }
  void unmount(const QString& folder, Done<void> done) override {
    if (mounted == folder) mounted.reset();
    done(OkStatus());
  }
  QList<std::pair<QString, bool>> mounts;  // folder, read only
  Status mountAnswer = OkStatus();
  bool isHere(const engine::NodeStatus& node) override { return here.contains(node.node); }
  Status connectTo(const QString& name) override {
    connected << name;
    now = name;
    return OkStatus();
  }
  void closeConnection() override {
    ++disconnects;
    now.clear();
  }
  int disconnects = 0;
  QList<std::pair<QString, QString>> simulatedHardware() override {
    return {{QStringLiteral("demo"), QStringLiteral("small machines")},
            {QStringLiteral("h100"), QStringLiteral("H100 SXM")}};
  }
  void startSimulated(const ui::SimulationChoice& choice, std::function<void(QString)> each,
                      Done<QString> done) override {
    simulated = choice;
    start(std::move(each), std::move(done));
  }
  std::optional<ui::SimulationChoice> simulated;
  void startLocal(const ui::LocalChoice& choice, std::function<void(QString)> each,
                  Done<QString> done) override {
    local = choice;
    start(std::move(each), std::move(done));
  }
  std::optional<ui::LocalChoice> local;
  void stopLocal(const QString& name, Done<void> done) override {
    stopped << name;
    done(OkStatus());
  }
  ui::StoppedCluster stoppedCluster(const QString& name) override {
    askedStopped << name;
    return afterStop;
  }
  void startAgain(const QString& name, std::function<void(QString)> each,
                  Done<QString> done) override {
    startedAgain << name;
    progress = std::move(each);
    startDone = std::move(done);
  }
  ui::StoppedCluster afterStop;
  QStringList askedStopped, startedAgain;
  QString keyFolder() override { return QStringLiteral("/home/lena/keys"); }
  Result<QList<ui::KeyInfo>> keys() override { return ownKeys; }
  Result<ui::KeyInfo> makeKey(const QString& name, const QString& role) override {
    ui::KeyInfo key{keyFolder() + QLatin1Char('/') + name + QStringLiteral(".pub"), false, role,
                    QStringLiteral("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7")};
    for (const ui::KeyInfo& each : ownKeys) {
      if (each.file == key.file) return AlreadyExists(key.file.toStdString() + " exists");
    }
    ownKeys << key;
    return key;
  }
  Result<QStringList> revokeKey(const QString& name, const QString& folder) override {
    return QStringList{folder + QLatin1Char('/') + name + QStringLiteral(".pub")};
  }
  void openHistory(const QString& file, Done<void> done) override {
    opened = file;
    done(historyAnswer);
  }
  Status historyAnswer = OkStatus();
  void closeHistory() override { opened.clear(); }

 private:
  void start(std::function<void(QString)> each, Done<QString> done) {
    ++started;
    progress = std::move(each);
    startDone = std::move(done);
  }

  std::optional<ui::ProfileInfo> m_forgotten;
};

}  // namespace tessera::test
