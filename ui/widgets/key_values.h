// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Rows with a name on the left and a value on the right.

#include <QString>
#include <QWidget>
#include <vector>

class QGridLayout;
class QLabel;

namespace tessera::ui {

class KeyValues : public QWidget {
  Q_OBJECT

 public:
  struct Row {
    QString key;
    QString value;
    QString role = {};  // of the value label: "", "ok", "warn", "bad", "accent"
    QString toolTip = {};
    friend bool operator==(const Row&, const Row&) = default;
  };

  explicit KeyValues(QWidget* parent = nullptr);
  /// Changes only the labels that differ.
  void setRows(const std::vector<Row>& rows);
  const std::vector<Row>& rows() const { return m_rows; }
  /// Returns the value of a key, or an empty text.
  QString value(const QString& key) const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Labels {
    QLabel* key;
    QLabel* value;
  };
  QGridLayout* m_grid;
  std::vector<Row> m_rows;
  std::vector<Labels> m_labels;
};

/// Sets the dynamic property `role` of a widget and reapplies the style sheet if it differs.
void setRole(QWidget* widget, const QString& role);
/// Keeps `dialog` as high as its wrapped texts need. Qt gives a dialog two thirds
/// of the screen at most, and would squeeze them on a small one.
void keepWholeHeight(QWidget& dialog);
/// Returns a word-wrapping plain-text label with this role.
QLabel* wrappingLabel(const QString& role, QWidget* parent);

}  // namespace tessera::ui
