// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/memory_use.h"

#include <QCoreApplication>
#include <algorithm>

namespace tessera::ui {
namespace {

struct MemoryWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MemoryUse)
};

/// What has arrived at the device. After the commit point it is state, and no longer beside it.
std::int64_t stagedOn(ptc::DeviceId device, const engine::TxnStatus* txn) {
  if (txn == nullptr || txn->phase >= engine::TxnPhase::kCommitting) return 0;
  std::int64_t bytes = 0;
  for (const engine::FlowStatus& flow : txn->flows)
    if (flow.destination == device) bytes += flow.bytes_done;
  return bytes;
}

}  // namespace

MemoryUse& MemoryUse::operator+=(const MemoryUse& more) {
  parameters += more.parameters;
  optimizer += more.optimizer;
  gradients += more.gradients;
  others += more.others;
  staging += more.staging;
  free += more.free;
  knowsGradients = knowsGradients && more.knowsGradients;
  return *this;
}

MemoryUse memoryOf(const engine::DeviceStatus& device, const engine::Holding* held,
                   const engine::TxnStatus* txn) {
  MemoryUse use;
  use.parameters = device.parameter_bytes;
  use.optimizer = device.optimizer_bytes;
  if (held != nullptr) {
    use.parameters = held->parameter_bytes;
    use.optimizer = held->optimizer_bytes;
    use.gradients = held->gradient_bytes;
  }
  use.knowsGradients = held != nullptr || device.used_bytes == 0;
  const std::int64_t named = use.parameters + use.optimizer + use.gradients;
  use.others = std::max<std::int64_t>(0, device.used_bytes - named);
  use.staging = stagedOn(device.id, txn);
  use.free = std::max<std::int64_t>(0, device.total_bytes - named - use.others - use.staging);
  return use;
}

MemoryUse memoryOf(const engine::Holding& held, std::int64_t capacity) {
  MemoryUse use{.parameters = held.parameter_bytes,
                .optimizer = held.optimizer_bytes,
                .gradients = held.gradient_bytes,
                .others = held.other_bytes,
                .knowsGradients = true};
  use.free = std::max<std::int64_t>(0, capacity - held.bytes());
  return use;
}

std::vector<StackedBar::Segment> memorySegments(const MemoryUse& use) {
  using Tone = StackedBar::Tone;
  std::vector<StackedBar::Segment> segments;
  const auto add = [&](const QString& name, std::int64_t bytes, Tone tone) {
    if (bytes > 0) segments.push_back({name, bytes, tone});
  };
  add(MemoryWords::tr("parameters"), use.parameters, Tone::Parameters);
  add(MemoryWords::tr("gradients"), use.gradients, Tone::Gradients);
  add(MemoryWords::tr("optimizer"), use.optimizer, Tone::Optimizer);
  add(use.knowsGradients ? MemoryWords::tr("other state")
                         : MemoryWords::tr("gradients and others"),
      use.others, use.knowsGradients ? Tone::Inside : Tone::Gradients);
  add(MemoryWords::tr("staging"), use.staging, Tone::Network);
  segments.push_back({MemoryWords::tr("free"), use.free, Tone::Free});
  return segments;
}

}  // namespace tessera::ui
