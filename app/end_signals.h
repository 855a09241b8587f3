// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The signals that ask a program with an event loop to end.

#include <QObject>

class QSocketNotifier;

namespace tessera::app {

/// From its construction on, the first SIGTERM, SIGINT or SIGHUP becomes a Qt signal, as soon as an
/// event loop runs. The second one ends the process at once. At most one at a time.
class EndSignals : public QObject {
  Q_OBJECT

 public:
  explicit EndSignals(QObject* parent = nullptr);
  ~EndSignals() override;
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

 signals:
  /// \param number SIGTERM, …
  void came(int number);

 private:
  void read();

  int m_ends[2] = {-1, -1};  // of a pipe that the handler writes to
  QSocketNotifier* m_notifier = nullptr;
};

}  // namespace tessera::app
