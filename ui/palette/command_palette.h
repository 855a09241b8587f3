// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Ctrl+K: a search over actions, GPUs, nodes, jobs, changes and events.

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
  /// Opens over the upper middle of its window, with an empty field.
  void ask(std::vector<PaletteItem> items);

  QLineEdit* edit() const { return m_edit; }
  QListView* list() const { return m_list; }
  /// The rows of the list, best first.
  const std::vector<PaletteHit>& hits() const { return m_hits; }
  /// Runs the selected row. A blocked row shows its reason instead.
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
