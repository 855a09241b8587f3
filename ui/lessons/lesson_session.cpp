// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_session.h"

#include <QFileInfo>
#include <QLocale>
#include <QRegularExpression>
#include <algorithm>
#include <utility>

#include "engine/lesson/lesson_names.h"
#include "ui/format.h"
#include "ui/lessons/lesson_files.h"
#include "ui/lessons/lesson_records.h"
#include "ui/sentences.h"

namespace tessera::ui {
namespace {

constexpr int kFrameMs = 33;
constexpr int kReloadDelayMs = 150;  // an editor may replace the file in several steps

Result<engine::LessonStage> readStage(const QString& nameOrFile) {
  TESSERA_TRY(const LessonSource text, lessonSource(nameOrFile));
  const auto placed = [&](Error error) {
    return engine::WithLessonColumn(std::move(error), text.lesson);
  };
  TESSERA_TRY(auto lesson, readLesson(text));
  auto stage = engine::LessonStage::Make(std::move(lesson));
  if (!stage) return placed(stage.error());
  if (const Status good = engine::RehearseLesson(*stage); !good) return placed(good.error());
  return stage;
}

/// The transfer of a plan, of which a fraction is done.
engine::TxnStatus transferOf(const engine::PlanSummary& plan, double fraction) {
  engine::TxnStatus txn;
  txn.id = 1;
  txn.job = plan.job;
  txn.phase = engine::TxnPhase::kTransferring;
  txn.from_mesh = plan.from_mesh;
  txn.to_mesh = plan.to_mesh;
  txn.from_devices = plan.from_devices;
  txn.to_devices = plan.to_devices;
  txn.from_options = plan.from_options;
  txn.to_options = plan.to_options;
  for (engine::FlowStatus flow : plan.flows) {
    flow.bytes_done = static_cast<std::int64_t>(fraction * static_cast<double>(flow.bytes_total));
    flow.bytes_per_second = static_cast<double>(flow.bytes_total) * 1000 / LessonSession::kMoveMs;
    flow.state = engine::FlowState::kMoving;
    txn.bytes_done += flow.bytes_done;
    txn.bytes_total += flow.bytes_total;
    txn.flows.push_back(flow);
  }
  return txn;
}

}  // namespace

LessonSession::LessonSession(LessonRecords& records, QObject* parent)
    : QObject(parent), m_records(records), m_draft(m_model) {
  m_moving.setInterval(kFrameMs);
  connect(&m_moving, &QTimer::timeout, this, [this] {
    if (m_since.elapsed() >= kMoveMs) m_moving.stop();
    publish();
    emit changed();
  });
  m_reloading.setSingleShot(true);
  m_reloading.setInterval(kReloadDelayMs);
  connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_reloading, qOverload<>(&QTimer::start));
  connect(&m_reloading, &QTimer::timeout, this, &LessonSession::reload);
  connect(&m_draft, &Draft::changed, this, &LessonSession::replan);
}

Status LessonSession::open(const QString& nameOrFile, int step) {
  TESSERA_TRY(engine::LessonStage stage, readStage(nameOrFile));
  m_source = nameOrFile;
  watch();
  m_given.clear();
  adopt(std::move(stage), step);
  return OkStatus();
}

void LessonSession::adopt(engine::LessonStage stage, int step) {
  m_stage = std::move(stage);
  m_fileProblem.clear();
  m_step = -1;  // so that nothing is taken for the step before
  showStep(std::clamp(step, 0, numSteps() - 1));
}

void LessonSession::watch() {
  if (!m_watcher.files().isEmpty()) m_watcher.removePaths(m_watcher.files());
  if (const QStringList files = lessonFiles(m_source); !files.isEmpty()) m_watcher.addPaths(files);
}

void LessonSession::reload() {
  if (!isOpen()) return;
  watch();  // a file that was replaced is another file
  auto stage = readStage(m_source);
  if (stage) return adopt(*std::move(stage), m_step);
  m_fileProblem = localized(stage.error().ToString());
  emit changed();
}

void LessonSession::showStep(int step) {
  if (!isOpen() || step < 0 || step >= numSteps()) return;
  const bool forward = step == m_step + 1 && m_step >= 0;
  const std::int64_t before = forward ? state().epoch : 0;
  m_step = step;
  m_moving.stop();
  const engine::LessonState& now = state();
  if (m_animated && forward && now.is_moved && now.epoch != before) {
    m_since.start();
    m_moving.start();
  }
  publish();
  m_draft.clear();
  m_plan.reset();
  m_draftProblem.clear();
  m_records.reach(name(), m_step, numSteps());
  noteFinish();
  emit stepShown();
  emit changed();
}

void LessonSession::noteFinish() {
  if (m_step + 1 < numSteps()) return;
  const LessonRecord record = m_records.of(name());
  const bool isAnswered =
      !script().predict || record.right.contains(m_step) || record.wrong.contains(m_step);
  if (isAnswered && (!script().task || record.done.contains(m_step))) m_records.finish(name());
}

QString LessonSession::nextBlockedReason() const {
  if (m_step + 1 >= numSteps()) return tr("This is the last step.");
  if (script().predict && !given()) return tr("Answer the question first.");
  return {};
}

void LessonSession::next() {
  if (nextBlockedReason().isEmpty()) showStep(m_step + 1);
}

void LessonSession::startOver() {
  m_given.erase(m_step);
  const int step = m_step;
  m_step = step - 1;  // so that a transfer is shown again
  if (step == 0) m_step = -1;
  showStep(step);
}

void LessonSession::publish() {
  const engine::LessonState& now = state();
  engine::LessonState shown = now;
  if (isMoving()) {
    shown.layout = now.plan->from;
    shown.options = now.plan->summary.from_options;
    --shown.epoch;
  }
  engine::ClusterSnapshot snapshot = engine::LessonSnapshot(shown);
  if (isMoving()) {
    const double fraction = static_cast<double>(m_since.elapsed()) / kMoveMs;
    snapshot.transaction = transferOf(now.plan->summary, std::clamp(fraction, 0.0, 1.0));
    snapshot.jobs.front().state = engine::JobState::kReconfiguring;
  }
  const engine::JobStatus& job = snapshot.jobs.front();
  engine::vfs::JobInfo info{job.name, job.epoch,    job.timeline,
                            job.step, shown.layout, engine::ToJson(shown.world->settings)};
  m_facts = engine::vfs::MakeFacts(std::move(info), m_facts);
  m_model.setSnapshot(std::move(snapshot));
  m_model.flush();
}

std::optional<std::set<ptc::DeviceId>> LessonSession::draftDevices() const {
  if (isMoving()) return {};
  if (!m_draft.isEmpty()) return m_draft.deviceSet();
  if (const engine::LessonPlanned* plan = state().draft()) {
    const auto& devices = plan->summary.to_devices;
    return std::set<ptc::DeviceId>(devices.begin(), devices.end());
  }
  return {};
}

std::shared_ptr<const engine::PlanSummary> LessonSession::planSummary() const {
  if (!isOpen() || isMoving()) return nullptr;
  const auto plan = !m_draft.isEmpty() ? m_plan : state().draft() ? state().plan : nullptr;
  return plan ? std::shared_ptr<const engine::PlanSummary>(plan, &plan->summary) : nullptr;
}

void LessonSession::edit(const std::vector<ptc::DeviceId>& devices, std::optional<bool> intoMesh) {
  if (!canEdit()) return;
  if (!intoMesh) {
    m_draft.toggle(devices);
  } else if (*intoMesh) {
    m_draft.add(devices);
  } else {
    m_draft.remove(devices);
  }
}

Status LessonSession::swap(const std::vector<ptc::DeviceId>& some,
                           const std::vector<ptc::DeviceId>& others) {
  if (!canEdit()) return OkStatus();
  return m_draft.swap(some, others, m_plan ? &m_plan->summary : nullptr);
}

QString LessonSession::editBlockedReason() const {
  if (canEdit()) return {};
  return isMoving() ? tr("The bytes of the lesson are still moving.")
                    : tr("Answer the question first.");
}

engine::LessonChange LessonSession::drafted() const {
  const engine::LessonState& now = state();
  engine::LessonChange change;
  std::vector<ptc::DeviceId> devices = m_draft.devices();
  std::erase_if(devices,
                [&](ptc::DeviceId device) { return std::ranges::binary_search(now.lost, device); });
  const Draft::Edits& edits = m_draft.edits();
  if (!edits.order.empty()) {
    devices = edits.order;
    change.mesh = edits.orderMesh;
    change.pin = true;
  } else if (!edits.pins.none()) {
    ptc::MeshShape mesh = now.layout.mesh().shape();
    std::int64_t others = 1;
    for (const ptc::Axis axis : ptc::kAxes) {
      if (const auto& size = edits.pins[axis]) mesh[axis] = *size;
      if (axis != ptc::Axis::kDp) others *= mesh[axis];
    }
    if (!edits.pins[ptc::Axis::kDp]) {
      mesh[ptc::Axis::kDp] =
          std::max<std::int64_t>(1, static_cast<std::int64_t>(devices.size()) / others);
    }
    change.mesh = mesh;
  } else if (edits.in.empty() && edits.out.empty()) {
    change.mesh = now.layout.mesh().shape();  // only the options differ
  }
  change.devices = std::move(devices);
  if (edits.options) {
    change.zero = edits.options->zero;
    change.micro_batch = edits.options->micro_batch;
  }
  return change;
}

void LessonSession::replan() {
  if (!isOpen()) return;
  m_plan.reset();
  m_draftProblem.clear();
  if (!m_draft.isEmpty()) {
    auto plan = engine::PlanLessonChange(state(), drafted());
    if (plan) {
      m_plan = *std::move(plan);
    } else {
      m_draftProblem = localized(plan.error().ToString());
    }
  }
  if (script().task && isTaskDone()) {
    m_records.finishTask(name(), m_step);
    noteFinish();
  }
  emit changed();
}

ptc::MeshShape LessonSession::drawnMesh() const {
  if (!m_draft.isEmpty() && !m_plan) {
    if (const auto mesh = drafted().mesh) return *mesh;
  }
  const auto plan = planSummary();
  return plan ? plan->to_mesh : state().layout.mesh().shape();
}

engine::StepOptions LessonSession::drawnOptions() const {
  if (!m_draft.isEmpty()) return m_draft.options();
  const auto plan = planSummary();
  return plan ? plan->to_options : state().options;
}

std::vector<engine::LessonCheck> LessonSession::checks() const {
  return engine::CheckTask(*script().task, state(), m_draft.isEmpty() ? nullptr : m_plan);
}

bool LessonSession::isTaskDone() const {
  const auto all = checks();
  return std::ranges::all_of(all, &engine::LessonCheck::holds);
}

std::optional<LessonSession::Given> LessonSession::given() const {
  const auto found = m_given.find(m_step);
  return found == m_given.end() ? std::nullopt : std::optional(found->second);
}

engine::LessonAnswer LessonSession::answer() const {
  // The rehearsal has computed it before.
  return engine::AnswerOf(*script().predict, m_stage->AnswerState(index())).value();
}

void LessonSession::choose(int choice) {
  const engine::LessonAnswer truth = answer();
  if (choice < 0 || static_cast<std::size_t>(choice) >= truth.choices.size()) return;
  remember({choice, 0, truth.right == static_cast<std::size_t>(choice)});
}

void LessonSession::enter(double number) {
  remember({{}, number, engine::IsRight(*script().predict, answer().value, number)});
}

void LessonSession::remember(Given given) {
  if (m_given.contains(m_step)) return;
  m_given[m_step] = given;
  m_records.answer(name(), m_step, given.right);
  noteFinish();
  emit changed();
}

QString LessonSession::print(const engine::LessonValue& value) {
  switch (value.unit) {
    case engine::LessonUnit::kBytes:
      return format::bytes(static_cast<std::int64_t>(value.number));
    case engine::LessonUnit::kSeconds:
      return format::seconds(value.number);
    case engine::LessonUnit::kFraction:
      return tr("%1 %").arg(QLocale().toString(value.number * 100, 'g', 3));
    case engine::LessonUnit::kCount:
      return QLocale().toString(value.number, 'g', 6);
    case engine::LessonUnit::kText:
      return format::port(value.text);
  }
  return {};
}

QString LessonSession::filled(const std::string& text, bool ofAnswer) const {
  const engine::LessonState& values = ofAnswer ? m_stage->AnswerState(index()) : state();
  const auto print = [](const engine::LessonValue& value) {
    return LessonSession::print(value).toStdString();
  };
  // The rehearsal has filled it before.
  QString out = QString::fromStdString(
      engine::FillLessonText(text, engine::NamesOnStage(values), print).value_or(text));
  static const QRegularExpression gpu(QStringLiteral("\\b(n\\d+g\\d+)\\b"));
  static const QRegularExpression node(QStringLiteral("(?<![\\[:])\\b(n\\d+)\\b(?!\\])"));
  out.replace(gpu, QStringLiteral("[\\1](gpu:\\1)"));
  out.replace(node, QStringLiteral("[\\1](node:\\1)"));
  return out;
}

}  // namespace tessera::ui
