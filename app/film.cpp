// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/film.h"

#include <QPixmap>
#include <QWidget>

namespace tessera::app {
namespace {

constexpr std::size_t kMostFrames = 300;  // 1.5 GB of a window of 1440x900

}  // namespace

Film::Film(QWidget& window, int milliseconds) : m_window(window) {
  connect(&m_timer, &QTimer::timeout, this, &Film::grab);
  m_timer.start(milliseconds);
}

void Film::grab() {
  m_frames.push_back(m_window.grab().toImage());
  if (m_frames.size() == kMostFrames) m_timer.stop();
}

bool Film::write(const QDir& folder) {
  m_timer.stop();
  for (std::size_t i = 0; i < m_frames.size(); ++i)
    if (!m_frames[i].save(
            folder.filePath(QStringLiteral("%1.png").arg(i, 4, 10, QLatin1Char('0')))))
      return false;
  return true;
}

}  // namespace tessera::app
