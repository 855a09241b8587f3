// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/device_names.h"

#include <QStringList>
#include <algorithm>

#include "ui/format.h"

namespace tessera::ui {

QString deviceNames(std::vector<ptc::DeviceId> devices) {
  constexpr int kMaxRuns = 3;
  std::sort(devices.begin(), devices.end());
  QStringList runs;
  for (std::size_t first = 0; first < devices.size();) {
    std::size_t last = first;
    while (last + 1 < devices.size() && devices[last + 1].node == devices[first].node &&
           devices[last + 1].index == devices[last].index + 1) {
      ++last;
    }
    QString run = format::device(devices[first]);
    if (last > first) run += QChar(0x2013) + format::device(devices[last]);
    runs << run;
    first = last + 1;
  }
  if (runs.size() > kMaxRuns) {
    return format::gpus(static_cast<std::int64_t>(devices.size()));
  }
  return runs.join(QStringLiteral(", "));
}

QString deviceArgument(const std::vector<ptc::DeviceId>& devices) {
  return QString::fromStdString(ptc::ToString(devices));
}

std::int64_t coordinate(const ptc::MeshShape& shape, int rank, ptc::Axis axis) {
  std::int64_t rest = rank;
  for (auto it = ptc::kAxes.rbegin(); it != ptc::kAxes.rend(); ++it) {
    if (*it == axis) return rest % shape[*it];
    rest /= shape[*it];
  }
  return 0;
}

}  // namespace tessera::ui
