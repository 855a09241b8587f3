// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cluster_test.h"

#include <cmath>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/clock_skew.h"
#include "app/commands/session.h"
#include "app/commands/when.h"
#include "app/version.h"
#include "ui/format.h"
#include "ui/sentences.h"

namespace tessera::app {
namespace {

// lupdate takes a return type with a namespace for a class.
using ui::AgentTest;
using Verdict = AgentTest::Verdict;

/// "0.1.0" from "0.1.0 (fc510e6)" or "tessera-agent 0.1.0".
QString number(const QString& version) {
  for (const QString& word : version.split(QLatin1Char(' ')))
    if (!word.isEmpty() && word[0].isDigit()) return word;
  return {};
}

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

AgentTest refusal(const agents::Profile& profile, agents::LinkState state,
                  const std::string& detail) {
  AgentTest row;
  row.agent = ClusterTest::tr("registrar");
  row.verdict = Verdict::Unreachable;
  row.found = QString::fromStdString(detail);
  const QString endpoint = QString::fromStdString(profile.registrar_endpoint);
  if (state == agents::LinkState::kRefused) {
    if (row.found.contains(QLatin1String("key"))) {
      row.verdict = Verdict::KeyRefused;
      row.fix =
          ClusterTest::tr("Ask the operator to allow your public key, or choose another key file.");
    } else {
      row.verdict = Verdict::VersionMismatch;
      row.fix = ClusterTest::tr(
          "Install the same version of Tessera on this machine and on the cluster.");
    }
  } else if (row.found.contains(QLatin1String("handshake"))) {
    row.verdict = Verdict::KeyRefused;
    row.fix = ClusterTest::tr(
        "The server key of this profile does not match the cluster. Add its profile again.");
  } else if (!profile.directory.empty()) {
    row.fix = ClusterTest::tr("Start it: tesseractl up --cluster %1")
                  .arg(QString::fromStdString(profile.name));
  } else {
    row.fix = ClusterTest::tr(
                  "Check that the registrar is running, that %1 is the right address, and that no "
                  "firewall blocks it.")
                  .arg(endpoint);
  }
  row.found = ui::localized(row.found);
  return row;
}

AgentTest findingsOf(const engine::NodeStatus& node, const std::vector<engine::Check>& checks,
                     double now, double latency) {
  const QString name = ui::format::node(node.node);
  if (node.state == engine::NodeState::kDead)
    return {name, Verdict::Unreachable,
            ClusterTest::tr("last seen %1").arg(ui::format::age(node.last_seen)),
            ClusterTest::tr("Look at its log: tesseractl logs %1").arg(name)};
  const QString mine = number(QString::fromLatin1(kVersion));
  QString version = number(QString::fromStdString(node.version));
  std::optional<ClockSkew> skew;
  const engine::Check* worst = nullptr;
  for (const engine::Check& check : checks) {
    if (check.node != node.node) continue;
    if (check.name == "version" && version.isEmpty())
      version = number(QString::fromStdString(check.value));
    if (const auto read = clockSkewOf(check, now, latency)) skew = read;
    if (check.verdict != engine::Check::Verdict::kFailed &&
        check.verdict != engine::Check::Verdict::kWarning)
      continue;
    if (worst == nullptr || (check.verdict == engine::Check::Verdict::kFailed &&
                             worst->verdict == engine::Check::Verdict::kWarning))
      worst = &check;
  }
  QStringList found{ui::format::gpus(static_cast<std::int64_t>(node.devices.size()))};
  if (!version.isEmpty()) found.prepend(ClusterTest::tr("version %1").arg(version));
  if (!version.isEmpty() && version != mine)
    return {name, Verdict::VersionMismatch,
            ClusterTest::tr("%1, this panel has %2").arg(found.first(), mine),
            ClusterTest::tr("Install the same version of Tessera on %1 and here.").arg(name)};
  if (skew && !skew->isTolerable)
    return {
        name, Verdict::ClockSkew,
        skew->seconds > 0
            ? ClusterTest::tr("its clock is %1 ahead").arg(ui::format::seconds(skew->seconds))
            : ClusterTest::tr("its clock is %1 behind").arg(ui::format::seconds(-skew->seconds)),
        ClusterTest::tr("Synchronise the clocks: systemctl enable --now systemd-timesyncd")};
  if (worst != nullptr && worst->verdict == engine::Check::Verdict::kFailed &&
      worst->name.find("key") != std::string::npos)
    return {name, Verdict::KeyRefused, ui::localized(worst->value), ui::localized(worst->remedy)};
  if (worst != nullptr)
    return {name, Verdict::Warning,
            QString(ui::localizedCheck(worst->name) + QLatin1String(": ") +
                    ui::localized(worst->value)),
            ui::localized(worst->remedy)};
  if (skew)
    found << ClusterTest::tr("clock within %1")
                 .arg(ui::format::seconds(std::max(std::abs(skew->seconds), 1e-3)));
  return {name, Verdict::Reached, found.join(QStringLiteral(", "))};
}

ClusterTest::ClusterTest(agents::Profile profile, std::function<void(ui::AgentTest)> row,
                         std::function<void(Result<void>)> done, QObject* parent)
    : QObject(parent),
      m_profile(std::move(profile)),
      m_row(std::move(row)),
      m_done(std::move(done)) {
  m_patience.setSingleShot(true);
  connect(&m_patience, &QTimer::timeout, this, [this] {
    if (!m_connected) {
      m_row({tr("registrar"), Verdict::Unreachable,
             tr("no answer within %1").arg(ui::format::seconds(kPatienceMs / 1000.0)),
             tr("Check that %1 is the right address and that no firewall blocks it.")
                 .arg(QString::fromStdString(m_profile.registrar_endpoint))});
      end(OkStatus());
    } else {
      report();
    }
  });
}

// The client's thread ends before the objects that its callbacks use.
ClusterTest::~ClusterTest() { m_client.reset(); }

void ClusterTest::start() {
  m_begin = std::chrono::steady_clock::now();
  agents::ClusterClient::Handlers handlers;
  handlers.link = [this](agents::LinkState state, std::string detail) {
    QMetaObject::invokeMethod(
        this, [this, state, detail = std::move(detail)] { onLink(state, detail); },
        Qt::QueuedConnection);
  };
  auto client = agents::ClusterClient::Open(m_profile, std::move(handlers));
  if (!client) {
    m_row({tr("registrar"), Verdict::KeyRefused, ui::localized(client.error().ToString()),
           tr("Choose the key file that was created for this cluster.")});
    QMetaObject::invokeMethod(
        this, [this] { end(OkStatus()); }, Qt::QueuedConnection);
    return;
  }
  m_client = std::move(*client);
  m_patience.start(kPatienceMs);
}

void ClusterTest::cancel() { end(Cancelled("the test was cancelled")); }

void ClusterTest::onLink(agents::LinkState state, const std::string& detail) {
  if (!m_done || m_connected) return;
  switch (state) {
    case agents::LinkState::kConnecting:
      return;
    case agents::LinkState::kRefused:
    case agents::LinkState::kLost:
    case agents::LinkState::kStopped:
      m_row(refusal(m_profile, state, detail));
      return end(OkStatus());
    case agents::LinkState::kConnected:
      m_connected = true;
      m_row({tr("registrar"), Verdict::Reached,
             tr("%1 in %2")
                 .arg(QString::fromStdString(m_profile.registrar_endpoint),
                      ui::format::seconds(secondsSince(m_begin)))});
      return askNodes();
  }
}

void ClusterTest::askNodes() {
  m_asked = std::chrono::steady_clock::now();
  const auto later = [this](auto call) {
    return [this, call](Result<wire::Reply> reply) {
      QMetaObject::invokeMethod(
          this,
          [this, call, reply = std::move(reply)]() mutable {
            if (m_done) call(std::move(reply));
          },
          Qt::QueuedConnection);
    };
  };
  wire::Request status;
  status.mutable_status();
  m_client->Call(std::move(status), kAnswerTimeout, later([this](Result<wire::Reply> reply) {
                   if (!reply) return end(reply.error());
                   auto snapshot = agents::Decode(reply->status());
                   if (!snapshot) return end(snapshot.error());
                   m_snapshot = std::move(*snapshot);
                   if (m_checks) report();
                 }));
  wire::Request doctor;
  doctor.mutable_doctor();
  m_client->Call(std::move(doctor), kAnswerTimeout, later([this](Result<wire::Reply> reply) {
                   m_answeredAt = wallClock();
                   m_latency = secondsSince(m_asked);
                   m_checks.emplace();
                   if (reply && reply->has_doctor())
                     for (const auto& message : reply->doctor().checks())
                       if (auto check = agents::Decode(message)) m_checks->push_back(*check);
                   if (m_snapshot) report();
                 }));
}

void ClusterTest::report() {
  if (!m_snapshot) return end(Timeout("the registrar does not report its nodes"));
  for (const engine::NodeStatus& node : m_snapshot->nodes)
    m_row(
        findingsOf(node, m_checks.value_or(std::vector<engine::Check>()), m_answeredAt, m_latency));
  end(OkStatus());
}

void ClusterTest::end(Result<void> result) {
  if (!m_done) return;
  m_patience.stop();
  // The callbacks of the client need this object, so that it is deleted after the client.
  m_closing = std::jthread([this, client = std::move(m_client)]() mutable {
    client.reset();
    QMetaObject::invokeMethod(this, &QObject::deleteLater, Qt::QueuedConnection);
  });
  std::exchange(m_done, nullptr)(std::move(result));
}

}  // namespace tessera::app
