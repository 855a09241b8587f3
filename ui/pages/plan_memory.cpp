// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan_memory.h"

#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/models/job_place.h"
#include "ui/pages/memory_use.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {

/// The GPU that comes nearest to its capacity, or exceeds it most; null: the plan names none.
const engine::PlanSummary::Peak* fullestOf(const engine::PlanSummary& plan) {
  const auto fullest = std::ranges::max_element(plan.peak_memory, [](const auto& a, const auto& b) {
    const auto share = [](const engine::PlanSummary::Peak& peak) {
      return static_cast<double>(peak.bytes) /
             static_cast<double>(std::max<std::int64_t>(1, peak.capacity));
    };
    return share(a) < share(b);
  });
  return fullest == plan.peak_memory.end() ? nullptr : &*fullest;
}

std::optional<engine::Holding> holdingOn(const ptc::Layout& layout, ptc::DeviceId device) {
  const auto rank = layout.mesh().RankOf(device);
  if (!rank) return engine::Holding{};
  return engine::HoldingOf(layout, *rank);
}

}  // namespace

PlanMemory::PlanMemory(const ClusterModel& model, const DraftPlan& plan, JobStates* states,
                       QWidget* parent)
    : QWidget(parent), m_model(model), m_plan(plan), m_states(states), m_title(new QLabel(this)) {
  setRole(m_title, QStringLiteral("heading"));
  m_title->setWordWrap(true);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  column->addWidget(m_title);
  const QString names[kMoments] = {tr("now"), tr("during the move"), tr("after it")};
  for (int i = 0; i < kMoments; ++i) {
    Row& row = m_rows[static_cast<std::size_t>(i)];
    row.name = new QLabel(names[i], this);
    setRole(row.name, QStringLiteral("caption"));
    row.bar = new StackedBar(this);
    column->addWidget(row.name);
    column->addWidget(row.bar);
  }
  connect(&m_plan, &DraftPlan::changed, this, &PlanMemory::refresh);
  connect(m_states, &JobStates::changed, this, &PlanMemory::refresh);
  refresh();
}

PlanMemory::~PlanMemory() {
  if (m_states) m_states->setActive(this, false);
}

QString PlanMemory::title() const { return m_title->text(); }

std::optional<engine::Holding> PlanMemory::heldNow(ptc::DeviceId device) const {
  const engine::PlanSummary& plan = *m_plan.summary();
  const auto found = m_states->jobs().find(plan.job);
  if (found == m_states->jobs().end() || found->second->info.epoch != plan.epoch)
    return std::nullopt;
  return holdingOn(found->second->info.layout, device);
}

std::optional<engine::Holding> PlanMemory::heldAfter(ptc::DeviceId device) const {
  const engine::PlanSummary& plan = *m_plan.summary();
  const auto found = m_states->jobs().find(plan.job);
  if (found == m_states->jobs().end() || found->second->info.epoch != plan.epoch)
    return std::nullopt;
  const auto mesh = ptc::DeviceMesh::Make(plan.to_mesh, plan.to_devices);
  if (!mesh) return std::nullopt;
  const auto layout = layoutAt(found->second->info, plan.from_options, {*mesh, plan.to_options});
  if (!layout) return std::nullopt;
  return holdingOn(*layout, device);
}

void PlanMemory::setRow(Moment moment, std::optional<std::vector<StackedBar::Segment>> segments) {
  const Row& row = m_rows[moment];
  row.name->setVisible(segments.has_value());
  row.bar->setVisible(segments.has_value());
  if (!segments) return;
  row.bar->setSegments(std::move(*segments));
  row.bar->setAccessibleName(row.name->text() + QStringLiteral(": ") + row.bar->accessibleName());
}

void PlanMemory::refresh() {
  if (!m_states) return;
  const auto& plan = m_plan.summary();
  m_states->setActive(this, plan != nullptr);
  const engine::PlanSummary::Peak* peak = plan ? fullestOf(*plan) : nullptr;
  setVisible(peak != nullptr);
  if (peak == nullptr) return;
  m_title->setText(
      tr("Memory of %1, the fullest during the move").arg(format::device(peak->device)));
  const engine::DeviceStatus* device = m_model.findDevice(peak->device);
  if (device == nullptr) {
    setRow(Now, std::nullopt);
  } else {
    const auto held = heldNow(peak->device);
    setRow(Now, memorySegments(memoryOf(*device, held ? &*held : nullptr, nullptr)));
  }
  // The plan has the sum only: what stays, what arrives, and what is freed meanwhile.
  const std::int64_t missing = std::max<std::int64_t>(0, peak->bytes - peak->capacity);
  std::vector<StackedBar::Segment> during{
      {tr("in use"), peak->bytes - missing, StackedBar::Tone::Network}};
  if (missing > 0) {
    during.push_back({tr("missing"), missing, StackedBar::Tone::Storage});
  } else {
    during.push_back({tr("free"), peak->capacity - peak->bytes, StackedBar::Tone::Free});
  }
  setRow(During, std::move(during));
  const auto after = heldAfter(peak->device);
  setRow(After,
         after ? std::optional(memorySegments(memoryOf(*after, peak->capacity))) : std::nullopt);
}

}  // namespace tessera::ui
