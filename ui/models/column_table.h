// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The base of the panel's tables: a list of rows, and columns that make the text of a row's cells.

#include <QAbstractTableModel>
#include <QString>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::ui {

/// `Rows` has size() and operator[].
template <typename Rows>
class ColumnTable : public QAbstractTableModel {
 public:
  using Row = std::remove_cvref_t<decltype(std::declval<const Rows&>()[0])>;

  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
  }
  int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
  }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    if (role == Qt::DisplayRole) return text(row(index.row()), index.column());
    return role == Qt::TextAlignmentRole ? alignment(index.column()) : QVariant();
  }
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const Column& column = m_columns[static_cast<std::size_t>(section)];
    switch (role) {
      case Qt::DisplayRole:
        return column.title;
      case Qt::ToolTipRole:
        return column.tip.isEmpty() ? QVariant() : column.tip;
      case Qt::TextAlignmentRole:
        return alignment(section);
      default:
        return {};
    }
  }

 protected:
  struct Column {
    QString title;
    std::function<QString(const Row&)> text;
    Qt::AlignmentFlag alignment = Qt::AlignLeft;
    QString tip = {};  // of the header
  };

  explicit ColumnTable(QObject* parent) : QAbstractTableModel(parent) {}
  /// Sets the columns, in the order of the enum of the derived class. For its constructor.
  void setColumns(std::vector<Column> columns) { m_columns = std::move(columns); }

  const Row& row(int row) const { return m_rows[static_cast<std::size_t>(row)]; }
  QString text(const Row& row, int column) const {
    return m_columns[static_cast<std::size_t>(column)].text(row);
  }
  void resetRows(Rows rows) {
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
  }

  Rows m_rows;

 private:
  QVariant alignment(int column) const {
    return QVariant::fromValue(Qt::AlignVCenter |
                               m_columns[static_cast<std::size_t>(column)].alignment);
  }

  std::vector<Column> m_columns;
};

}  // namespace tessera::ui
