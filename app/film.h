// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The frames of a moving picture: a window, drawn into files at a fixed rate.

#include <QDir>
#include <QImage>
#include <QObject>
#include <QTimer>
#include <vector>

class QWidget;

namespace tessera::app {

/// Grabs a window every `milliseconds` while it lives, and writes the frames when `write` is
/// called: encoding them at once would slow down what they show. It ends after 300 frames. GUI
/// thread only. The window outlives it.
class Film : public QObject {
  Q_OBJECT

 public:
  Film(QWidget& window, int milliseconds);

  /// Writes `0000.png`, `0001.png`, … to a folder, which must exist, and ends the film.
  /// \return whether all were written
  bool write(const QDir& folder);

 private:
  void grab();

  QWidget& m_window;
  QTimer m_timer;
  std::vector<QImage> m_frames;
};

}  // namespace tessera::app
