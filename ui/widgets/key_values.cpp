// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/key_values.h"

#include <QGridLayout>
#include <QLabel>
#include <QStyle>

#include "ui/theme.h"

namespace tessera::ui {

void setRole(QWidget* widget, const QString& role) {
  if (widget->property("role").toString() == role) return;
  widget->setProperty("role", role);
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

QLabel* wrappingLabel(const QString& role, QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  setRole(label, role);
  return label;
}

KeyValues::KeyValues(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(10);
  m_grid->setVerticalSpacing(6);
  m_grid->setColumnStretch(1, 1);
}

void KeyValues::setRows(const std::vector<Row>& rows) {
  if (rows == m_rows) return;
  m_rows = rows;
  while (m_labels.size() < rows.size()) {
    const int row = static_cast<int>(m_labels.size());
    auto* key = new QLabel(this);
    key->setProperty("role", QStringLiteral("hint"));
    key->setContentsMargins(0, 1, 0, 0);
    key->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    auto* value = new QLabel(this);
    value->setAlignment(Qt::AlignRight | Qt::AlignTop);
    value->setWordWrap(true);
    value->setFont(uiFont(12));
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_grid->addWidget(key, row, 0);
    m_grid->addWidget(value, row, 1);
    m_labels.push_back({key, value});
  }
  for (std::size_t i = 0; i < m_labels.size(); ++i) {
    const bool shown = i < rows.size();
    m_labels[i].key->setVisible(shown);
    m_labels[i].value->setVisible(shown);
    if (!shown) continue;
    m_labels[i].key->setText(rows[i].key);
    m_labels[i].value->setText(rows[i].value);
    m_labels[i].value->setToolTip(rows[i].toolTip);
    m_labels[i].value->setAccessibleName(rows[i].key + QLatin1Char(' ') + rows[i].value);
    setRole(m_labels[i].value, rows[i].role.isEmpty() ? QStringLiteral("value") : rows[i].role);
  }
}

QString KeyValues::value(const QString& key) const {
  for (const Row& row : m_rows) {
    if (row.key == key) return row.value;
  }
  return {};
}

}  // namespace tessera::ui
