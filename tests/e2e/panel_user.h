// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A user of the panel who does anything, by keyboard and mouse.

#include <QString>
#include <QTimer>
#include <functional>
#include <random>
#include <vector>

#include "ui/main_window.h"

class QAction;
class QWidget;

namespace tessera::test {

/// A seed determines what is tried, not what it meets: the cluster has a time of its own.
class PanelUser {
 public:
  /// Both outlive it.
  PanelUser(ui::MainWindow& window, std::mt19937_64& random);

  /// Does one thing and closes what that has opened.
  /// \return its name
  QString act();
  /// Esc, until nothing waits for an answer; then the other windows are closed.
  void closeAll();

 private:
  struct Act {
    int weight;
    QString name;
    std::function<void()> run;
  };
  void add(int weight, const char* name, std::function<void()> run);
  void addMeshActs();
  void addPlanActs();
  void addViewActs();
  void addActionActs();

  int below(int limit);
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& anyOf(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  void trigger(const char* action);
  void key(QWidget* widget, int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
  void click(QWidget* button);
  QPoint anyPoint(const QWidget& widget);
  void drop(const QStringList& devices, QPoint to, bool leaves = false);
  void dropDevices();
  /// Drops the GPUs of a node into the mesh or out of it, and applies that.
  void moveNode();
  /// Presses keys that choose nothing in the dialog that is open.
  void lookAround();
  void answerSheet();

  ui::MainWindow& m_window;
  std::mt19937_64& m_random;
  std::vector<Act> m_acts;
  int m_weights = 0;
  QString m_detail;  // of the act that runs
  QTimer m_noFiles;  // cancels dialogs that ask for a file: they wait in a loop of their own
};

}  // namespace tessera::test
