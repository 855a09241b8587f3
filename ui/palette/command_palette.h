// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Ctrl+K: type a few letters of an action, a GPU, a node, a job, a change or an event, and Enter.

#include <QAbstractListModel>
#include <QFrame>
#include <vector>

#include "ui/palette/palette_items.h"

class QLabel;
class QLineEdit;
class QListView;

namespace tessera::ui {

class CommandPalette : public QFrame {
  Q_OBJECT

 public:
  static constexpr std::size_t kMaxHits = 60;

  explicit CommandPalette(QWidget* window);
  ~CommandPalette() override;
  /// Opens over the upper middle of its window, with nothing typed.
  void ask(std::vector<PaletteItem> items);

  QLineEdit* edit() const { return m_edit; }
  QListView* list() const { return m_list; }
  /// What stands in the list, best first.
  const std::vector<PaletteHit>& hits() const { return m_hits; }
  /// Runs the chosen row; one that is blocked says why instead.
  void runCurrent();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  class Model;
  class Delegate;
  void search(const QString& typed);

  std::vector<PaletteItem> m_items;
  std::vector<PaletteHit> m_hits;
  Model* m_model;
  QLineEdit* m_edit;
  QListView* m_list;
  QLabel* m_note;
};

}  // namespace tessera::ui
