// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/draft.h"

#include <QUndoCommand>
#include <algorithm>
#include <utility>

#include "ui/models/device_names.h"

namespace tessera::ui {

/// Replaces one set of edits by another. Edits are small values, so it stores both.
class Draft::Command : public QUndoCommand {
 public:
  Command(Draft& draft, Edits before, Edits after, const QString& name, int mergeId)
      : QUndoCommand(name),
        m_draft(draft),
        m_before(std::move(before)),
        m_after(std::move(after)),
        m_mergeId(mergeId) {}

  void undo() override { m_draft.apply(m_before); }
  void redo() override { m_draft.apply(m_after); }
  int id() const override { return m_mergeId; }
  bool mergeWith(const QUndoCommand* next) override {
    m_after = static_cast<const Command*>(next)->m_after;
    setText(next->text());
    setObsolete(m_after == m_before);
    return true;
  }

 private:
  Draft& m_draft;
  Edits m_before, m_after;
  int m_mergeId;
};

bool Draft::Pins::none() const {
  return std::none_of(sizes.begin(), sizes.end(),
                      [](const auto& size) { return size.has_value(); });
}

Draft::Draft(ClusterModel& model, QObject* parent) : QObject(parent), m_model(model) {
  connect(&m_model, &ClusterModel::changed, this, &Draft::followLive);
  followLive();
}

QString Draft::job() const { return m_job; }

std::vector<ptc::DeviceId> Draft::devices() const {
  if (!m_edits.order.empty()) return m_edits.order;
  std::vector<ptc::DeviceId> devices;
  for (const ptc::DeviceId device : m_live) {
    if (!m_edits.out.contains(device)) devices.push_back(device);
  }
  devices.insert(devices.end(), m_edits.in.begin(), m_edits.in.end());
  return devices;
}

std::set<ptc::DeviceId> Draft::deviceSet() const {
  const std::vector<ptc::DeviceId> list = devices();
  return {list.begin(), list.end()};
}

bool Draft::contains(ptc::DeviceId device) const {
  if (m_edits.in.contains(device)) return true;
  return !m_edits.out.contains(device) &&
         std::find(m_live.begin(), m_live.end(), device) != m_live.end();
}

std::optional<ptc::MeshShape> Draft::mesh() const {
  const engine::JobStatus* job = m_model.job();
  if (!m_edits.order.empty()) return m_edits.orderMesh;
  if (job == nullptr || m_edits.pins.none()) return std::nullopt;
  ptc::MeshShape shape = job->mesh;
  std::int64_t others = 1;
  for (const ptc::Axis axis : ptc::kAxes) {
    if (const auto& size = m_edits.pins[axis]) shape[axis] = *size;
    if (axis != ptc::Axis::kDp) others *= shape[axis];
  }
  if (!m_edits.pins[ptc::Axis::kDp]) {
    const auto total = static_cast<std::int64_t>(devices().size());
    shape[ptc::Axis::kDp] = std::max<std::int64_t>(1, total / others);
  }
  return shape;
}

engine::StepOptions Draft::options() const { return m_edits.options.value_or(m_liveOptions); }

PlanRequest Draft::request() const {
  return {m_job, devices(), mesh(), m_edits.options, !m_edits.order.empty()};
}

std::optional<engine::StepOptions> Draft::unlessLive(const engine::StepOptions& options) const {
  return options == m_liveOptions ? std::nullopt : std::optional(options);
}

std::vector<ptc::DeviceId> Draft::usable(const std::vector<ptc::DeviceId>& devices) const {
  std::vector<ptc::DeviceId> result;
  const std::string job = m_job.toStdString();
  for (const ptc::DeviceId device : devices) {
    const engine::DeviceStatus* status = m_model.findDevice(device);
    if (status != nullptr && (status->job.empty() || status->job == job)) result.push_back(device);
  }
  return result;
}

void Draft::add(const std::vector<ptc::DeviceId>& devices) {
  Edits next = withoutOrder();
  std::vector<ptc::DeviceId> news;
  for (const ptc::DeviceId device : usable(devices)) {
    if (contains(device)) continue;
    if (next.out.erase(device) == 0) next.in.insert(device);
    news.push_back(device);
  }
  push(std::move(next), tr("add %1").arg(deviceNames(news)));
}

void Draft::remove(const std::vector<ptc::DeviceId>& devices) {
  Edits next = withoutOrder();
  std::vector<ptc::DeviceId> gone;
  for (const ptc::DeviceId device : devices) {
    if (!contains(device)) continue;
    if (next.in.erase(device) == 0) next.out.insert(device);
    gone.push_back(device);
  }
  push(std::move(next), tr("remove %1").arg(deviceNames(gone)));
}

void Draft::toggle(const std::vector<ptc::DeviceId>& devices) {
  std::vector<ptc::DeviceId> in, out;
  for (const ptc::DeviceId device : usable(devices)) {
    (contains(device) ? out : in).push_back(device);
  }
  if (out.empty()) return add(in);
  if (in.empty()) return remove(out);
  Edits next = withoutOrder();
  for (const ptc::DeviceId device : in) {
    if (next.out.erase(device) == 0) next.in.insert(device);
  }
  for (const ptc::DeviceId device : out) {
    if (next.in.erase(device) == 0) next.out.insert(device);
  }
  push(std::move(next), tr("swap %1 for %2").arg(deviceNames(out), deviceNames(in)));
}

Draft::Edits Draft::withoutOrder() const {
  Edits edits = m_edits;
  edits.order.clear();
  edits.orderMesh.reset();
  return edits;
}

Status Draft::swap(const std::vector<ptc::DeviceId>& some, const std::vector<ptc::DeviceId>& others,
                   const engine::PlanSummary* plan) {
  const engine::JobStatus* job = m_model.job();
  if (job == nullptr) return OkStatus();
  Edits next = m_edits;
  if (next.order.empty()) {
    const bool live = next.in.empty() && next.out.empty() && next.pins.none();
    const std::vector<ptc::DeviceId> wanted = devices();
    const bool planned = plan != nullptr && plan->job == job->name &&
                         std::is_permutation(wanted.begin(), wanted.end(), plan->to_devices.begin(),
                                             plan->to_devices.end());
    if (!live && !planned) {
      return FailedPrecondition(
          tr("The places of a changed draft can be swapped once it is planned with all its GPUs.")
              .toStdString());
    }
    next.order = live ? m_live : plan->to_devices;
    next.orderMesh = live ? job->mesh : plan->to_mesh;
  }
  std::vector<ptc::DeviceId> first, second;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (usable({some[i], others[i]}).size() != 2) continue;
    const auto one = std::find(next.order.begin(), next.order.end(), some[i]);
    const auto other = std::find(next.order.begin(), next.order.end(), others[i]);
    if (one == next.order.end() && other == next.order.end()) continue;
    if (one != next.order.end() && other != next.order.end()) {
      std::iter_swap(one, other);
    } else {
      const bool leaves = one != next.order.end();
      const ptc::DeviceId out = leaves ? some[i] : others[i], in = leaves ? others[i] : some[i];
      *(leaves ? one : other) = in;
      if (next.in.erase(out) == 0) next.out.insert(out);
      if (next.out.erase(in) == 0) next.in.insert(in);
    }
    first.push_back(some[i]);
    second.push_back(others[i]);
  }
  if (first.empty()) return OkStatus();
  next.pins = {};
  if (next.order == m_live && next.orderMesh == job->mesh) {
    next.order.clear();
    next.orderMesh.reset();
  }
  push(std::move(next), tr("swap %1 and %2").arg(deviceNames(first), deviceNames(second)));
  return OkStatus();
}

void Draft::replace(const std::vector<ptc::DeviceId>& devices,
                    const std::optional<ptc::MeshShape>& mesh, const QString& name,
                    const std::optional<engine::StepOptions>& options, int mergeId) {
  Edits next;
  if (options) next.options = unlessLive(*options);
  const std::vector<ptc::DeviceId> wanted = usable(devices);
  for (const ptc::DeviceId device : wanted) {
    if (std::find(m_live.begin(), m_live.end(), device) == m_live.end()) next.in.insert(device);
  }
  for (const ptc::DeviceId device : m_live) {
    if (std::find(wanted.begin(), wanted.end(), device) == wanted.end()) next.out.insert(device);
  }
  if (mesh) {
    const engine::JobStatus* job = m_model.job();
    for (const ptc::Axis axis : ptc::kAxesInText) {
      // A rare axis that divides nothing needs no pin. Its field is hidden, so a pin would stay.
      const bool divides = (*mesh)[axis] > 1 || (job != nullptr && job->mesh[axis] > 1);
      if (ptc::IsCommon(axis) || divides) next.pins[axis] = (*mesh)[axis];
    }
    if (job != nullptr && next.in.empty() && next.out.empty() && *mesh == job->mesh) next.pins = {};
  }
  push(std::move(next), name, mergeId);
}

void Draft::pin(ptc::Axis axis, std::optional<std::int64_t> size) {
  Edits next = withoutOrder();
  next.pins[axis] = size;
  const QString name = QString::fromUtf8(ptc::ToString(axis).data(),
                                         static_cast<qsizetype>(ptc::ToString(axis).size()));
  push(std::move(next), size ? tr("fix %1 = %2").arg(name).arg(*size) : tr("unfix %1").arg(name),
       static_cast<int>(axis));
}

void Draft::setOptions(const engine::StepOptions& options) {
  constexpr int kMergeId = 100;
  Edits next = m_edits;
  next.options = unlessLive(options);
  push(std::move(next), tr("change the options"), kMergeId);
}

void Draft::discard() { push(Edits{}, tr("discard the draft")); }

void Draft::clear() {
  m_stack.clear();
  apply(Edits{});
}

void Draft::push(Edits next, const QString& name, int mergeId) {
  if (m_job.isEmpty() || next == m_edits) return;
  m_stack.push(new Command(*this, m_edits, std::move(next), name, mergeId));
}

void Draft::apply(const Edits& edits) {
  if (edits == m_edits) return;
  m_edits = edits;
  emit changed();
}

void Draft::followLive() {
  const engine::JobStatus* job = m_model.job();
  const QString name = job == nullptr ? QString() : QString::fromStdString(job->name);
  const std::int64_t epoch = job == nullptr ? -1 : job->epoch;
  const std::int64_t origin = job == nullptr ? 0 : job->origin;
  const std::vector<ptc::DeviceId> live =
      job == nullptr ? std::vector<ptc::DeviceId>() : job->devices;
  const engine::StepOptions options = job == nullptr ? engine::StepOptions() : job->options;
  const bool sameJob = name == m_job && origin == m_origin;
  if (sameJob && epoch == m_epoch && live == m_live && options == m_liveOptions) return;

  const std::vector<ptc::DeviceId> wanted = devices();
  const std::optional<engine::StepOptions> wantedOptions = m_edits.options;
  m_liveOptions = options;
  m_job = name;
  m_epoch = epoch;
  m_origin = origin;
  m_live = live;
  m_stack.clear();
  Edits next;
  if (sameJob && !isEmpty()) {
    for (const ptc::DeviceId device : usable(wanted)) {
      if (std::find(live.begin(), live.end(), device) == live.end()) next.in.insert(device);
    }
    for (const ptc::DeviceId device : live) {
      if (std::find(wanted.begin(), wanted.end(), device) == wanted.end()) next.out.insert(device);
    }
    next.pins = m_edits.pins;
    if (usable(wanted).size() == wanted.size()) {
      next.order = m_edits.order;
      next.orderMesh = m_edits.orderMesh;
    }
    if (wantedOptions) next.options = unlessLive(*wantedOptions);
  }
  m_edits = next;
  // The cluster reached the drafted layout.
  if (m_edits.in.empty() && m_edits.out.empty() && !m_edits.options && job != nullptr &&
      mesh() == job->mesh && (m_edits.order.empty() || m_edits.order == live)) {
    m_edits = {};
  }
  emit changed();
}

}  // namespace tessera::ui
