// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A table of texts, for answers of the cluster that are only shown and copied.

#include <QString>
#include <QStringList>
#include <vector>

#include "ui/models/column_table.h"

namespace tessera::ui {

struct TextTable {
  struct Title {
    QString text;
    bool isNumber = false;  // aligned right
    bool isWide = false;    // takes the room that is left
  };
  std::vector<Title> titles = {};
  std::vector<QStringList> rows = {};  // as many cells as titles
  int marked = -1;                     // a row that stands out; -1: none
};

class TextTableModel : public ColumnTable<std::vector<QStringList>> {
  Q_OBJECT

 public:
  explicit TextTableModel(QObject* parent = nullptr) : ColumnTable(parent) {}
  void setTable(TextTable table);
  int marked() const { return m_marked; }
  /// The rows as tab-separated lines below a header line.
  QString asText() const;

  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

 private:
  int m_marked = -1;
};

}  // namespace tessera::ui
