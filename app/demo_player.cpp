// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/demo_player.h"

#include <fmt/format.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFile>
#include <QKeyEvent>
#include <QThread>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands/json.h"
#include "app/commands/units.h"
#include "ui/canvas/mesh_view.h"
#include "ui/models/draft.h"

namespace tessera::app {
namespace {

constexpr int kConnectPatienceMs = 20'000;
constexpr int kOutcomePatienceMs = 120'000;
constexpr int kGoesOnPatienceMs = 60'000;
constexpr int kPictureMs = 120;  // time until a change is drawn
constexpr std::int64_t kStepsToSee = 3;
constexpr std::int32_t kNodeToKill = 1;
constexpr std::size_t kDevicesAfterShrink = 2;

bool isNodeAlive(const engine::NodeStatus* node) {
  return node && node->state == engine::NodeState::kAlive;
}

bool isUnderWay(const engine::TxnStatus* txn) {
  return txn && txn->phase != engine::TxnPhase::kPlanned;
}

}  // namespace

DemoPlayer::DemoPlayer(ui::MainWindow& window, ui::ClusterModel& model, Bridge& bridge,
                       QDir screenshots)
    : m_window(window), m_model(model), m_bridge(bridge), m_folder(std::move(screenshots)) {}

QStringList DemoPlayer::knownSteps() {
  return {QStringLiteral("grow"), QStringLiteral("shrink"), QStringLiteral("lose")};
}

bool DemoPlayer::play(const QStringList& script) {
  std::vector<PlayedStep> steps;
  if (!wait([&] { return m_model.hasSnapshot() && m_model.job() && m_model.job()->step > 0; },
            kConnectPatienceMs)) {
    PlayedStep failed;
    failed.name = QStringLiteral("connect");
    failed.wrong
        << QStringLiteral("no running job was seen within %1 s").arg(kConnectPatienceMs / 1000);
    steps.push_back(failed);
  } else {
    wait([] { return false; }, 1000);  // so that the picture has some samples
    shoot(QStringLiteral("0-start"));
    for (int i = 0; i < script.size(); ++i) {
      steps.push_back(run(script[i], i + 1));
      if (!steps.back().wrong.isEmpty()) break;  // the next steps need the outcome of this one
    }
  }
  writeReport(steps);
  return std::ranges::all_of(steps, [](const PlayedStep& step) { return step.wrong.isEmpty(); });
}

PlayedStep DemoPlayer::run(const QString& name, int number) {
  PlayedStep step;
  step.name = name;
  const QString picture = QString::number(number) + QLatin1Char('-') + name;
  const engine::JobStatus before = *m_model.job();
  const std::int64_t lastTxn =
      m_model.snapshot().transaction ? m_model.snapshot().transaction->id : 0;
  QElapsedTimer clock;
  clock.start();

  const bool shrinks = name == QLatin1String("shrink");
  const bool loses = name == QLatin1String("lose");
  const std::set<ptc::DeviceId> old(before.devices.begin(), before.devices.end());
  std::vector<ptc::DeviceId> toggled = loses ? idleDevices(kNodeToKill) : idleDevices();
  if (shrinks) toggled.assign(std::next(old.begin(), kDevicesAfterShrink), old.end());
  std::set<ptc::DeviceId> wanted = old;
  if (shrinks)
    for (const ptc::DeviceId device : toggled) wanted.erase(device);
  if (!shrinks && !loses) wanted.insert(toggled.begin(), toggled.end());

  if (toggled.empty() || !toggleAll(toggled)) {
    step.wrong << QStringLiteral("the keys did not draft the change");
    shoot(picture + QStringLiteral("-stuck"));
    return step;
  }
  if (wait([&] { return m_window.isCountingDown(); }, 10'000)) {
    wait([] { return false; }, 300);
    shoot(picture + QStringLiteral("-draft"));
  }
  if (!wait([&] { return isUnderWay(m_model.runningTxn()) && m_model.runningTxn()->id > lastTxn; },
            kOutcomePatienceMs)) {
    step.wrong << QStringLiteral("live mode did not apply the draft");
    shoot(picture + QStringLiteral("-stuck"));
    return step;
  }
  const std::int64_t txn = m_model.runningTxn()->id;
  if (loses) {
    m_bridge.killNode(kNodeToKill, [](Result<void>) {});  // the outcome is measured below
    wait([&] { return !m_model.runningTxn() || !isNodeAlive(m_model.findNode(kNodeToKill)); },
         kOutcomePatienceMs);
  } else {
    wait([&] { return !m_model.runningTxn() || m_model.runningTxn()->bytes_done > 0; },
         kOutcomePatienceMs);
  }
  if (m_model.runningTxn()) {
    wait([] { return false; }, kPictureMs);
    shoot(picture + (loses ? QStringLiteral("-lost") : QStringLiteral("-moving")));
  }
  if (!wait([&] { return !m_model.runningTxn(); }, kOutcomePatienceMs)) {
    step.wrong << QStringLiteral("transaction %1 has no outcome after %2 s")
                      .arg(txn)
                      .arg(kOutcomePatienceMs / 1000);
    return step;
  }
  step.seconds = static_cast<double>(clock.elapsed()) / 1e3;
  if (const auto record = recordOf(txn))
    step.record = *record;
  else
    step.wrong << QStringLiteral("transaction %1 is not in the history").arg(txn);

  const std::int64_t stepThen = std::max(m_model.job()->step, step.record.step);
  wait([&] { return m_model.job() && m_model.job()->step >= stepThen + kStepsToSee; },
       kGoesOnPatienceMs);
  step.stepsAfter = m_model.job()->step - stepThen;
  step.devices = m_model.job()->devices.size();
  check(&step, wanted);
  shoot(picture + QStringLiteral("-done"));
  return step;
}

void DemoPlayer::check(PlayedStep* step, const std::set<ptc::DeviceId>& wanted) {
  const engine::HistoryEntry& record = step->record;
  const bool loses = step->name == QLatin1String("lose");
  const std::string result = loses ? "rolled_back" : "committed";
  const auto complain = [&](const std::string& what) {
    step->wrong << QString::fromStdString(what);
  };
  if (record.result != result)
    complain(fmt::format("the outcome is '{}', expected '{}': {}", record.result, result,
                         record.reason));
  if (!loses && record.bytes_moved != record.volume_bound)
    complain(
        fmt::format("{} bytes moved, the bound is {}", record.bytes_moved, record.volume_bound));
  if (!loses && record.digest_before.empty()) complain("no digest was taken");
  if (record.digest_before != record.digest_after && !(loses && record.digest_after.empty()))
    complain(fmt::format("digest {} before, {} after", record.digest_before, record.digest_after));
  const engine::JobStatus& job = *m_model.job();
  if (std::set<ptc::DeviceId>(job.devices.begin(), job.devices.end()) != wanted)
    complain(fmt::format("the job is on {} devices: {}", job.devices.size(),
                         ptc::ToString(job.devices)));
  if (step->stepsAfter < kStepsToSee)
    complain(fmt::format("the job is {} and trained {} steps within {} s",
                         engine::ToString(job.state), step->stepsAfter, kGoesOnPatienceMs / 1000));
}

bool DemoPlayer::wait(const std::function<bool()>& until, int milliseconds) {
  QElapsedTimer clock;
  clock.start();
  while (!until()) {
    if (clock.elapsed() >= milliseconds) return false;
    QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    QThread::msleep(5);
  }
  return true;
}

void DemoPlayer::press(int key, Qt::KeyboardModifiers modifiers) {
  ui::MeshView* view = m_window.meshView();
  view->setFocus();
  QKeyEvent down(QEvent::KeyPress, key, modifiers);
  QKeyEvent up(QEvent::KeyRelease, key, modifiers);
  QCoreApplication::sendEvent(view, &down);
  QCoreApplication::sendEvent(view, &up);
  QCoreApplication::processEvents();
}

bool DemoPlayer::walkTo(ptc::DeviceId device) {
  ui::MeshView* view = m_window.meshView();
  if (!view->current()) press(Qt::Key_Home);
  const std::size_t limit = 4 * view->scene().nodes.size() * 16 + 16;
  for (std::size_t i = 0; i < limit; ++i) {
    if (view->current() == device) return true;
    if (!view->current()) return false;
    const QPoint way = view->cellRect(device).center() - view->cellRect(*view->current()).center();
    const ptc::DeviceId was = *view->current();
    if (std::abs(way.y()) > 2) press(way.y() > 0 ? Qt::Key_Down : Qt::Key_Up);
    if (view->current() == was && way.x() != 0) press(way.x() > 0 ? Qt::Key_Right : Qt::Key_Left);
    if (view->current() == was) break;  // the arrow key did not move the mark
  }
  // Reading order reaches every cell.
  press(Qt::Key_Home);
  for (std::size_t i = 0; i < limit && view->current() != device; ++i) press(Qt::Key_Right);
  return view->current() == device;
}

bool DemoPlayer::toggleAll(const std::vector<ptc::DeviceId>& devices) {
  const ui::Draft* draft = m_window.draft();
  for (const ptc::DeviceId device : devices) {
    const bool wasIn = draft->contains(device);
    if (!walkTo(device)) return false;
    press(Qt::Key_Space);
    if (draft->contains(device) == wasIn) return false;
  }
  return true;
}

std::vector<ptc::DeviceId> DemoPlayer::idleDevices(std::optional<std::int32_t> only) const {
  std::vector<ptc::DeviceId> idle;
  for (const engine::NodeStatus& node : m_model.snapshot().nodes) {
    if (node.state != engine::NodeState::kAlive || (only && node.node != *only)) continue;
    for (const engine::DeviceStatus& device : node.devices)
      if (device.job.empty() && !device.failed) idle.push_back(device.id);
  }
  return idle;
}

std::optional<engine::HistoryEntry> DemoPlayer::recordOf(std::int64_t txn) {
  std::optional<engine::HistoryEntry> found;
  // The snapshot may show the outcome a moment before the record is written.
  for (int attempt = 0; attempt < 20 && !found; ++attempt) {
    auto answer = std::make_shared<std::optional<Result<std::vector<engine::HistoryEntry>>>>();
    m_bridge.history([answer](Result<std::vector<engine::HistoryEntry>> rows) { *answer = rows; });
    if (!wait([&] { return answer->has_value(); }, 15'000) || !**answer) continue;
    for (const engine::HistoryEntry& row : ***answer)
      if (row.id == txn && !row.result.empty()) found = row;
    if (!found) wait([] { return false; }, 250);
  }
  return found;
}

void DemoPlayer::shoot(const QString& name) {
  const QString file = m_folder.filePath(name + QStringLiteral(".png"));
  if (m_window.grabTo(file)) m_pictures << name + QStringLiteral(".png");
}

void DemoPlayer::writeReport(const std::vector<PlayedStep>& steps) const {
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"step", "outcome", "GPUs", "moved", "bound", "pause", "seconds", "digests", "verdict"}};
  std::string details;
  bool right = true;
  for (const PlayedStep& step : steps) {
    const engine::HistoryEntry& record = step.record;
    const bool equal = !record.digest_before.empty() && record.digest_before == record.digest_after;
    right = right && step.wrong.isEmpty();
    Json wrong = Json::array();
    for (const QString& line : step.wrong) {
      wrong.push_back(line.toStdString());
      details += fmt::format("{}: {}\n", step.name.toStdString(), line.toStdString());
    }
    list.push_back({{"step", step.name.toStdString()},
                    {"right", step.wrong.isEmpty()},
                    {"wrong", std::move(wrong)},
                    {"devices", step.devices},
                    {"steps_after", step.stepsAfter},
                    {"seconds", step.seconds},
                    {"digests_equal", equal},
                    {"record", toJson(record)}});
    rows.push_back({step.name.toStdString(), record.result.empty() ? "-" : record.result,
                    std::to_string(step.devices), formatBytes(record.bytes_moved),
                    formatBytes(record.volume_bound), formatSeconds(record.pause),
                    fmt::format("{:.1f}", step.seconds), equal ? "equal" : "-",
                    step.wrong.isEmpty() ? "right" : "WRONG"});
  }
  const std::string text = formatTable(rows, {2, 3, 4, 5, 6}) + details +
                           (right ? "everything was right\n" : "not everything was right\n");
  Json json = {{"right", right}, {"steps", std::move(list)}, {"pictures", Json::array()}};
  for (const QString& picture : m_pictures) json["pictures"].push_back(picture.toStdString());
  const auto save = [&](const char* name, const std::string& content) {
    QFile file(m_folder.filePath(QString::fromLatin1(name)));
    if (file.open(QIODevice::WriteOnly | QIODevice::Truncate))
      file.write(content.data(), static_cast<qint64>(content.size()));
  };
  save("report.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  save("report.txt", text);
  fmt::print("{}", text);
  std::fflush(stdout);
}

}  // namespace tessera::app
